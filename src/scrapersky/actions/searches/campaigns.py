"""Request many searches as one campaign, continue it with other money or rules, name it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.searches import request_search
from scrapersky.actions.searches.request_search import DEFAULT_BUDGET_FACTOR, RequestedSearch, SearchCost
from scrapersky.core.errors import BadRequest
from scrapersky.core.vocabularies import CAMPAIGN
from scrapersky.models import Search
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Estimate, Providers
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.line.advance_rules import read_rules
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import CAMPAIGNS, SEARCHES
from scrapersky.store.money import quotas
from scrapersky.store.searches import campaigns, runs
from scrapersky.store.searches import request as searches
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules

MAX_QUERIES = 10_000  # of one campaign


class BadCampaign(BadRequest):
    """The campaign cannot be made."""

    status_code = 422
    fields = ("queries",)


@dataclass(frozen=True)
class CampaignRequest:
    """The searches of a campaign, each once; their budget is that of the campaign."""

    searches: tuple[SearchRequest, ...]
    rules: AdvanceRules
    name: str | None = None
    budget_cents: int | None = None

    @classmethod
    def of(
        cls, given: Sequence[SearchRequest], rules: AdvanceRules, name: str | None, budget_cents: int | None
    ) -> "CampaignRequest":
        """Build the request of these searches; equal ones become one. Raises BadCampaign for none or too many."""
        unique = {campaigns.key_of(one): replace(one, rules=rules, budget_cents=None) for one in given}
        if not unique:
            raise BadCampaign("There is no query: a campaign needs one at least.")
        if len(unique) > MAX_QUERIES:
            raise BadCampaign(
                f"There are {len(unique):,} queries; a campaign has {MAX_QUERIES:,} at most: make several."
            )
        return cls(tuple(unique.values()), rules, name, budget_cents)

    @property
    def as_search(self) -> SearchRequest:
        """The search that stands for the campaign."""
        text = campaigns.identity(self.searches)
        return SearchRequest(text, Where(), CAMPAIGN, None, self.budget_cents, self.rules)


async def estimate(providers: Providers, request: CampaignRequest) -> SearchCost:
    """Add up what the providers estimate. Raises UnknownProvider. Call it without a session."""
    calls, cents, sentences = 0, 0, dict[str, None]()
    for one in request.searches:
        cost = await request_search.estimate(providers, one)
        if cost.estimate is None:
            return cost
        calls, cents = calls + cost.estimate.calls, cents + cost.estimate.cents
        sentences.setdefault(cost.estimate.explanation)
    explanation = next(iter(sentences)) if len(sentences) == 1 else f"The sum of {len(request.searches):,} estimates."
    return SearchCost(Estimate(calls, cents, explanation))


async def request_campaign(
    session: AsyncSession, actor: Actor, request: CampaignRequest, refresh: bool = False, cost: SearchCost | None = None
) -> RequestedSearch:
    """Find or create the campaign and its searches; queue those that are new, failed, cancelled or have money again.

    Raises QuotaReached if the tenant may not search any more; searches beyond its quota of a day wait for their day.
    """
    row = request.as_search
    former: Search | None = await searches.lock_and_find(session, actor.tenant_id, row)
    total = _with_budget(request, cost or SearchCost(), former)
    await quotas.admit(session, actor.tenant_id, total.cents)
    before = {"budget_cents": former.budget_cents} if former else None
    campaign = former or searches.new_search(actor.tenant_id, row, queue=False)
    session.add(campaign)
    campaign.name = request.name or campaign.name
    campaign.requested_by = campaign.requested_by or actor.user_id
    await _spend(session, campaign, total.budget_cents, request.rules, refresh)
    known = await campaigns.add_searches(session, campaign, request.searches)
    if known:
        await campaigns.continue_searches(session, campaign, known, request.rules, refresh=refresh)
    after = {"queries": len(request.searches), "budget_cents": campaign.budget_cents, "name": campaign.name}
    action = "request again" if former else "create"
    await audit.record(session, actor, action, f"campaign {campaign.id}", before, after)
    return RequestedSearch(campaign, former is not None, total)


async def continue_campaign(
    session: AsyncSession,
    actor: Actor,
    campaign_id: UUID,
    budget_cents: int | None = None,
    rules: AdvanceRules | None = None,
) -> Search:
    """Continue a stopped campaign, or give it another budget or other rules."""
    campaign: Search = await lists.get(session, CAMPAIGNS, actor.tenant_id, campaign_id, lock=True)
    await quotas.admit(session, actor.tenant_id, None)
    before = {"budget_cents": campaign.budget_cents, "cancelled_by": campaign.cancelled_by}
    budget = campaign.budget_cents if budget_cents is None else budget_cents
    new_rules = rules or read_rules(campaign.rules)
    await _spend(session, campaign, budget, new_rules)
    own = await campaigns.paid_by(session, campaign_id)
    queued = await campaigns.continue_searches(session, campaign, own, new_rules)
    after = {"budget_cents": campaign.budget_cents, "queued": queued}
    await audit.record(session, actor, "continue", f"campaign {campaign_id}", before, after)
    return campaign


async def repeat_campaign(session: AsyncSession, actor: Actor, campaign_id: UUID) -> Search:
    """Make all searches of a campaign again, with its budget from the beginning. Raises QuotaReached."""
    campaign: Search = await lists.get(session, CAMPAIGNS, actor.tenant_id, campaign_id, lock=True)
    await quotas.admit(session, actor.tenant_id, None)
    rules = read_rules(campaign.rules)
    await _spend(session, campaign, campaign.budget_cents, rules, refresh=True)
    members = await campaigns.members(session, campaign_id)
    queued = await campaigns.continue_searches(session, campaign, members, rules, refresh=True)
    await audit.record(session, actor, "request again", f"campaign {campaign_id}", None, {"queued": queued})
    return campaign


async def rename(session: AsyncSession, actor: Actor, search_id: UUID, name: str | None) -> Search:
    """Give a search or a campaign a name for people; an empty one removes it."""
    search: Search = await lists.get(session, SEARCHES, actor.tenant_id, search_id, lock=True)
    before, search.name = search.name, name
    await session.flush()
    await audit.record(session, actor, "rename", f"search {search_id}", {"name": before}, {"name": name})
    await session.refresh(search)
    return search


async def _spend(
    session: AsyncSession, campaign: Search, budget: int | None, rules: AdvanceRules, refresh: bool = False
) -> None:
    """Give the campaign its budget, within the tenant's month, and its rules; a refreshed one spends from nothing."""
    campaign.budget_cents, campaign.rules, campaign.cancelled_by = budget, rules.model_dump(mode="json"), None
    if refresh:
        campaign.spent_micros = 0
        await runs.begin(session, campaign)
    await campaigns.limit_budget(session, campaign)


def _with_budget(request: CampaignRequest, cost: SearchCost, former: Search | None) -> SearchCost:
    if request.budget_cents is not None or not cost.cents:
        return replace(cost, budget_cents=request.budget_cents)
    before = former.budget_cents if former and former.budget_cents else 0  # a default never lowers an earlier budget
    return replace(cost, budget_cents=max(cost.cents * DEFAULT_BUDGET_FACTOR, before), is_default_budget=True)
