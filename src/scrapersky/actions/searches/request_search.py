"""Request a search: estimate its cost, limit it by budget and quotas, find or create it, record it in the audit."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import ScraperSkyError
from scrapersky.models import Search
from scrapersky.providers.areas.area import read_areas
from scrapersky.providers.areas.where import read_where
from scrapersky.providers.base import Estimate, PlaceQuery, Providers
from scrapersky.providers.registry import unknown_provider
from scrapersky.store.audit import history
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.line.advance_rules import read_rules
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import SEARCHES
from scrapersky.store.money import quotas, spending
from scrapersky.store.searches import request as searches
from scrapersky.store.searches import resume, runs
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import STOPPED

DEFAULT_BUDGET_FACTOR = 2  # a search without a named budget may cost this many times its estimate
AUDITED = ("text", "area", "provider", "result_limit", "budget_cents", "rules", "place_search_status")


@dataclass(frozen=True)
class SearchCost:
    """The estimated cost of a search, and the budget that limits it."""

    estimate: Estimate | None = None  # None: the provider could not estimate it now, or is not called
    budget_cents: int | None = None
    is_default_budget: bool = False  # the request names no budget
    why_unknown: str | None = None  # why there is no estimate

    @property
    def cents(self) -> int | None:
        """The estimate in cents, if there is one."""
        return self.estimate.cents if self.estimate else None


class RequestedSearch(NamedTuple):
    """The search of a request, whether it existed before, and its cost."""

    search: Search
    existed: bool
    cost: SearchCost


async def estimate(providers: Providers, request: SearchRequest) -> SearchCost:
    """Ask the provider what the search will cost; a failed estimate is no reason to refuse the search.

    Raises UnknownProvider. Call it without a session: it may call the provider over the network.
    """
    provider = providers.get(request.provider)
    if provider is None:
        raise unknown_provider(request.provider, providers)
    try:
        query = PlaceQuery(request.text, request.where, request.limit, request.areas)
        return SearchCost(await provider.estimate(query))
    except ScraperSkyError as error:
        return SearchCost(why_unknown=str(error))


async def rehearse(
    session: AsyncSession, actor: Actor, request: SearchRequest, cost: SearchCost
) -> tuple[Search | None, SearchCost]:
    """Return the same search if it exists, and the cost with what that search has left to look up, and the budget."""
    former = await searches.lock_and_find(session, actor.tenant_id, request)
    return former, await _total(session, request, cost, former)


async def same_request(session: AsyncSession, actor: Actor, search_id: UUID) -> SearchRequest:
    """Return the request of a search with its budget and its rules; of a cancelled one those from before."""
    search: Search = await lists.get(session, SEARCHES, actor.tenant_id, search_id)
    rules = read_rules(search.rules)
    if rules == STOPPED:
        changes = await history.of_row(session, actor.tenant_id, search_id, f"search {search_id}", ())
        cancelled = (change.before for change in changes if change.action == "cancel" and change.before)
        rules = read_rules(next(cancelled, {}).get("rules"))
    budget = search.budget_cents
    where = read_where(search.area, search.area_request)
    areas = read_areas(search.area_found, where)
    return SearchRequest(search.text, where, search.provider, search.result_limit, budget, rules, areas)


async def request_search(
    session: AsyncSession, actor: Actor, request: SearchRequest, refresh: bool = False, cost: SearchCost | None = None
) -> RequestedSearch:
    """Find or create the search; queue it if it is new, failed, cancelled, refreshed or has more money than before.

    Raises QuotaReached if a search that would be queued exceeds a quota of the tenant.
    """
    former = await searches.lock_and_find(session, actor.tenant_id, request)
    total = await _total(session, request, cost or SearchCost(), former)
    is_due = former is None or searches.is_due(former, replace(request, budget_cents=total.budget_cents), refresh)
    budget = total.budget_cents
    if is_due and await quotas.admit(session, actor.tenant_id, total.cents) and budget is None:
        budget = total.cents  # of a free search: without a budget it would hold all that is left of the month
    limited = replace(request, budget_cents=budget)
    return await _save(session, actor, limited, former, total, queue=is_due, refresh=refresh)


async def request_completed(session: AsyncSession, actor: Actor, request: SearchRequest) -> RequestedSearch:
    """Find or create a search for rows from another source: no provider is called and no quota is used."""
    former = await searches.lock_and_find(session, actor.tenant_id, request)
    return await _save(session, actor, request, former, SearchCost(), queue=False)


async def search_sites_again(session: AsyncSession, actor: Actor, search: Search) -> None:
    """Begin a run of a list of web sites: all of them are read again, unless a person rejected them."""
    await runs.begin(session, search)
    await resume.queue_sites(session, search.id)
    await audit.record(session, actor, "request again", f"search {search.id}")


async def _total(session: AsyncSession, request: SearchRequest, cost: SearchCost, former: Search | None) -> SearchCost:
    if cost.estimate is None:
        return replace(cost, budget_cents=request.budget_cents)
    places = await spending.stale_places(session, former.id) if former else 0
    total = cost.estimate.with_details(places)
    if request.budget_cents is not None or not total.cents:
        return SearchCost(total, request.budget_cents)
    before = former.budget_cents if former and former.budget_cents else 0  # a default never lowers an earlier budget
    return SearchCost(total, max(total.cents * DEFAULT_BUDGET_FACTOR, before), is_default_budget=True)


async def _save(
    session: AsyncSession,
    actor: Actor,
    request: SearchRequest,
    former: Search | None,
    cost: SearchCost,
    *,
    queue: bool,
    refresh: bool = False,
) -> RequestedSearch:
    before = _audited(former) if former else None
    search = await searches.save(session, actor.tenant_id, request, former, queue=queue, refresh=refresh)
    search.requested_by = search.requested_by or actor.user_id
    await session.flush()
    await session.refresh(search)  # a trigger may have lowered the budget
    action = "request again" if former else "create"
    await audit.record(session, actor, action, f"search {search.id}", before, _audited(search))
    return RequestedSearch(search, former is not None, cost)


def _audited(search: Search) -> dict[str, Any]:
    return {column: getattr(search, column) for column in AUDITED}
