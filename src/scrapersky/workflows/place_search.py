"""WF1: a search becomes places."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.engine.outcomes import GiveUp, Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.models import Search
from scrapersky.providers.base import BudgetReached, Meter, PlaceDetails, PlaceQuery, Providers, UnknownArea
from scrapersky.providers.registry import unknown_provider
from scrapersky.providers.search_journal import InMemoryJournals, Journals
from scrapersky.store.line import places
from scrapersky.store.line.advance_rules import advance, read_rules
from scrapersky.store.money import spending
from scrapersky.store.searches import journal as search_journal
from scrapersky.store.steps import step_after


@dataclass(frozen=True)
class SearchTask:
    """The query, its provider and its budget."""

    provider: str
    query: PlaceQuery
    budget_cents: int | None
    spent_cents: int
    tenant_id: UUID
    search_id: UUID


@dataclass(frozen=True)
class SearchResult:
    """The places found, their cost, the number of calls, and whether the result is complete."""

    places: list[PlaceDetails]
    cents: float
    notes: str | None
    calls: int = 0
    stopped_by_budget: bool = False
    is_whole: bool = True


class PlaceSearch(Workflow[Search, SearchTask, SearchResult]):
    """A search becomes places: all pages of the provider's results, within the budget; no result is a success."""

    number = 1
    name = "place_search"
    model = Search
    reads = ("text", "area", "provider", "result_limit", "budget_cents", "spent_cents")
    feeds = step_after(name).workflow
    tuning = Tuning(interval_minutes=1, batch_size=10, max_instances=1, timeout_seconds=900)

    def __init__(self, providers: Providers, journals: Journals | None = None) -> None:
        self._providers = providers
        self._journals = journals or InMemoryJournals()

    def read(self, row: Claimed) -> SearchTask:
        """Read the query and its budget."""
        query = PlaceQuery(row.text, row.area, row.result_limit)
        return SearchTask(row.provider, query, row.budget_cents, row.spent_cents, row.tenant_id, row.id)

    async def work(self, task: SearchTask) -> SearchResult:
        """Read all pages. Places found before the budget ran out are kept; paid pages are not paid again on a retry."""
        provider = self._providers.get(task.provider)
        if provider is None:
            raise GiveUp(f"No such provider is configured: {unknown_provider(task.provider, self._providers)}")
        journal = self._journals.of(task.tenant_id, task.search_id)
        meter = Meter(task.budget_cents, journal, task.spent_cents)
        found, reached_budget = list[PlaceDetails](), list[str]()
        try:
            async for page in provider.search(task.query, meter):
                found += page
        except UnknownArea as unknown:  # a mistake of the person, not a failure: no dead letter
            raise Skip(str(unknown)) from None
        except BudgetReached as reached:
            reached_budget.append(str(reached))
        notes = " ".join([*reached_budget, *meter.notes]) or None
        is_whole = not reached_budget and (task.query.limit is None or len(found) < task.query.limit)
        return SearchResult(
            found[: task.query.limit], meter.cents, notes, meter.calls, bool(reached_budget), is_whole=is_whole
        )

    async def write(self, session: AsyncSession, row: Search, result: SearchResult) -> Iterable[UUID]:
        """Store the places with their search; those that are not rejected advance."""
        row.cost_cents += round(result.cents)
        row.spent_cents += ceil(result.cents)  # the rest of the budget is for details
        row.call_count += result.calls
        row.result_count = len(result.places)
        row.notes, row.stopped_by_budget = result.notes, result.stopped_by_budget
        wanted = await places.upsert(session, row, result.places)
        if result.is_whole:
            await search_journal.close(session, row.id)
        else:  # a larger budget or limit continues from here
            await search_journal.mark_charged(session, row.id)
        await spending.wake_search(session, row.id)
        return await advance(session, self.name, dict.fromkeys(wanted, read_rules(row.rules)))
