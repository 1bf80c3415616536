"""What a search will cost: told before it is made, with the bound that holds if nobody named one."""

from dataclasses import dataclass, replace
from typing import Any

from scrapersky.bootstrap import Application
from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.base import Estimate, PlaceQuery, UnknownProvider, why_unknown
from scrapersky.store.audit.record import Actor
from scrapersky.store.money.quotas import ROOM
from scrapersky.store.searches import searches
from scrapersky.store.searches.searches import SearchRequest


@dataclass(frozen=True)
class Forecast:
    """The estimate of a provider, and what the search may cost at most."""

    estimate: Estimate | None = None  # it cannot be said now, or nobody is asked
    budget_cents: int | None = None
    is_bound_ours: bool = False  # nobody named it

    @property
    def cents(self) -> int | None:
        """What it will probably cost."""
        return self.estimate.cents if self.estimate else None

    def bounded(self, asked: SearchRequest) -> SearchRequest:
        """The wish with its bound."""
        return replace(asked, budget_cents=self.budget_cents)

    def sentence(self) -> str | None:
        """What a person should know before it begins; nothing if it is free."""
        if self.estimate is None or not self.estimate.cents:
            return None
        whose = " Nobody named a budget: --budget sets another bound." if self.is_bound_ours else ""
        bound = f" It stops before {self.budget_cents / 100:.2f}.{whose}" if self.budget_cents is not None else ""
        told = f"Probably {self.estimate.cents / 100:.2f} at most, in {self.estimate.calls} calls."
        return f"{told}{bound} {self.estimate.explanation}"

    def as_json(self) -> dict[str, Any] | None:
        """The same for scripts."""
        if self.estimate is None:
            return None
        told = {"calls": self.estimate.calls, "cents": self.estimate.cents, "explanation": self.estimate.explanation}
        return {**told, "budget_cents": self.budget_cents, "is_bound_ours": self.is_bound_ours}


async def forecast(application: Application, asked: SearchRequest, actor: Actor) -> Forecast:
    """What the provider says; one that cannot say it now is no reason to refuse."""
    provider = application.providers.get(asked.provider)
    if provider is None:
        raise UnknownProvider(why_unknown(asked.provider, application.providers))
    try:
        said = await provider.estimate(PlaceQuery(asked.text, asked.area, asked.limit))
    except ScraperSkyError:
        return Forecast(budget_cents=asked.budget_cents)
    async with application.database.session(actor.tenant_id) as session:
        former = await searches.same(session, actor.tenant_id, asked)
        said = said.with_details(await searches.foreseen_details(session, actor.tenant_id, asked))
    if asked.budget_cents is not None or not said.cents:
        return Forecast(said, asked.budget_cents)
    # What was allowed before is allowed again: who asks without a number means no smaller one.
    before = former.budget_cents if former and former.budget_cents else 0
    return Forecast(said, max(said.cents * ROOM, before), is_bound_ours=True)
