"""Queries that create a search, or give an existing one new rules and a new budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import cast, func, null, select, text, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import Status
from scrapersky.extract.company_domain import CompanyDomain
from scrapersky.models import Domain, Search
from scrapersky.providers.areas.area import Area
from scrapersky.providers.areas.where import Where
from scrapersky.store.line.advance_rules import read_rules
from scrapersky.store.money import spending
from scrapersky.store.searches import journal, resume, snapshot
from scrapersky.store.steps import STOPPED, AdvanceRules, steps_of

OPEN = (Status.QUEUED, Status.PROCESSING)
DOMAINS_PER_STATEMENT = 5_000


@dataclass(frozen=True)
class SearchRequest:
    """What to search for, where, at which provider, and for how much money."""

    text: str
    where: Where
    provider: str
    limit: int | None
    budget_cents: int | None
    rules: AdvanceRules
    areas: tuple[Area, ...] = ()  # on the map, if they are known already; no part of what makes requests equal

    @property
    def area(self) -> str | None:
        """The area in words."""
        return self.where.words


async def lock_and_find(session: AsyncSession, tenant_id: UUID, request: SearchRequest) -> Search | None:
    """Return the latest search for the same request, ignoring case; None if there is none.

    Locks the request until the end of the transaction: two equal requests at the same time make one search.
    """
    words = (tenant_id, request.text.lower(), request.area and request.area.lower(), request.provider)
    key = "\n".join(map(str, words))
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(key, 0))))
    same = (
        select(Search)
        .where(
            Search.tenant_id == tenant_id,
            func.lower(func.left(Search.text, 200)) == func.lower(func.left(request.text, 200)),
            func.lower(Search.text) == func.lower(request.text),
            func.lower(Search.area).is_not_distinct_from(func.lower(request.area)),
            Search.area_request.is_not_distinct_from(cast(request.where.to_json() or null(), JSONB())),
            Search.provider == request.provider,
            Search.result_limit.is_not_distinct_from(request.limit),
        )
        .order_by(Search.created_at.desc())
        .limit(1)
    )
    return (await session.scalars(same)).first()


async def save(
    session: AsyncSession,
    tenant_id: UUID,
    request: SearchRequest,
    former: Search | None,
    *,
    queue: bool = False,
    refresh: bool = False,
) -> Search:
    """Create the search, or update the former one; without `queue` a new one is Completed and no provider is called."""
    if former is not None:
        await _update(session, former, request, queue, refresh)
        return former
    search = new_search(tenant_id, request, queue=queue)
    session.add(search)
    await session.flush()
    await journal.copy_charged_pages(session, search)
    return search


def new_search(tenant_id: UUID, request: SearchRequest, *, queue: bool) -> Search:
    """Build the row of a search; without `queue` it is Completed."""
    return Search(
        tenant_id=tenant_id,
        text=request.text,
        area=request.area,
        area_request=request.where.to_json(),
        area_found=[area.to_json() for area in request.areas] or None,
        provider=request.provider,
        result_limit=request.limit,
        budget_cents=request.budget_cents,
        rules=request.rules.model_dump(mode="json"),
        place_search_status=Status.QUEUED if queue else Status.COMPLETED,
    )


def is_due(search: Search, request: SearchRequest, refresh: bool) -> bool:
    """Return whether the provider has to be called again.

    That is so if the search failed, was skipped (its area was unknown, or its dead letter was dropped), was cancelled,
    is to be refreshed, or stopped at its budget and now has more.
    """
    if search.place_search_status in OPEN:
        return False
    has_more = request.budget_cents is None or request.budget_cents > (search.budget_cents or 0)
    has_failed = search.place_search_status in (Status.NEW, Status.ERROR, Status.SKIPPED)
    return refresh or has_failed or (search.stopped_by_budget and has_more)


async def _update(session: AsyncSession, search: Search, request: SearchRequest, queue: bool, refresh: bool) -> None:
    """Give the search the rules and the budget of the request, and continue with the rows it has found by them."""
    before = read_rules(search.rules)
    spent, starts_over = search.spent_micros, refresh and search.place_search_status == Status.COMPLETED
    search.area_found = [area.to_json() for area in request.areas] or search.area_found
    search.rules, search.budget_cents = request.rules.model_dump(mode="json"), request.budget_cents
    search.campaign_id = None  # the latest request pays for it
    if queue:
        search.place_search_status = Status.QUEUED
    if before == STOPPED:
        search.cancelled_by = None
    await resume.take_over_rows(session, [search.id])
    await snapshot.forget(session, [search.id])
    await session.flush()  # the budget first
    if queue and starts_over:
        await journal.close(session, search.id)
        await resume.queue_read_pages(session, [search.id])
    elif queue:  # a trigger resets spent_micros of a search that is queued; this one continues and has spent a part
        await session.execute(update(Search).where(Search.id == search.id).values(spent_micros=spent))
    await spending.wake_searches(session, [search.id])
    if request.rules != before:
        await resume.queue_more_pages(session, search.id, request.rules)
        await resume.queue_analyses(session, [search.id], request.rules)
    if before == STOPPED:
        await resume.queue_withdrawn_rows(session, [search.id], request.rules)


async def add_domains(session: AsyncSession, search: Search, domains: Sequence[CompanyDomain]) -> None:
    """Start the search with known web sites: create each domain once, or take it over, and queue its first step."""
    search.place_search_status, search.result_count = Status.COMPLETED, len(domains)
    unique = {domain.name: domain for domain in domains}
    names = sorted(unique)  # one lock order for all transactions prevents deadlocks
    for start in range(0, len(names), DOMAINS_PER_STATEMENT):
        chunk = [unique[name] for name in names[start : start + DOMAINS_PER_STATEMENT]]
        columns = {
            "ids": [new_id() for _ in chunk],
            "names": [domain.name for domain in chunk],
            "unicode_names": [domain.unicode_name for domain in chunk],
            "urls": [domain.start_url for domain in chunk],
        }
        await session.execute(_ADD_DOMAINS, {"tenant": search.tenant_id, "search": search.id, **columns})


_FIRST = f"{steps_of(Domain)[0].queue}_status"
_ADD_DOMAINS = text(f"""
INSERT INTO domain (id, tenant_id, search_id, name, unicode_name, start_url, {_FIRST})
SELECT new.id, :tenant, :search, new.name, new.unicode_name, new.url, 'Queued'
FROM unnest(cast(:ids AS uuid[]), cast(:names AS text[]), cast(:unicode_names AS text[]), cast(:urls AS text[]))
    AS new(id, name, unicode_name, url)
ON CONFLICT (tenant_id, name) DO UPDATE SET search_id = excluded.search_id,
    start_url = coalesce(excluded.start_url, domain.start_url),
    {_FIRST} = coalesce(nullif(domain.{_FIRST}, 'New'), 'Queued')""")  # noqa: S608 - our own names
