"""WF1: a search becomes places."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.engine.outcomes import GiveUp, Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.models import Search
from scrapersky.providers.areas.area import Area, read_areas
from scrapersky.providers.areas.where import read_where
from scrapersky.providers.base import Meter, PlaceDetails, PlaceQuery, Providers, UnknownArea
from scrapersky.providers.call_budget import BudgetReached, CallBudgets, InMemoryCallBudgets
from scrapersky.providers.registry import unknown_provider
from scrapersky.providers.search_journal import InMemoryJournals, Journals
from scrapersky.store.line import places
from scrapersky.store.line.advance_rules import advance, read_rules
from scrapersky.store.money import spending
from scrapersky.store.searches import journal as search_journal
from scrapersky.store.searches import runs
from scrapersky.store.steps import step_after


@dataclass(frozen=True)
class SearchTask:
    """The query and its provider; the budget is that of the search."""

    provider: str
    query: PlaceQuery
    tenant_id: UUID
    search_id: UUID


@dataclass(frozen=True)
class SearchResult:
    """The places found, and whether the result is complete."""

    places: list[PlaceDetails]
    notes: str | None
    areas: tuple[Area, ...] = ()
    stopped_by_budget: bool = False
    is_whole: bool = True
    is_partial: bool = False  # the provider said so; otherwise see is_whole


class PlaceSearch(Workflow[Search, SearchTask, SearchResult]):
    """A search becomes places: all pages of the provider's results, within the budget; no result is a success."""

    number = 1
    name = "place_search"
    model = Search
    reads = ("text", "area", "area_request", "area_found", "provider", "result_limit")
    feeds = step_after(name).workflow
    tuning = Tuning(interval_minutes=1, batch_size=10, max_instances=1, timeout_seconds=900)

    def __init__(
        self, providers: Providers, journals: Journals | None = None, call_budgets: CallBudgets | None = None
    ) -> None:
        self._providers = providers
        self._journals = journals or InMemoryJournals()
        self._call_budgets = call_budgets or InMemoryCallBudgets()

    def read(self, row: Claimed) -> SearchTask:
        """Read the query."""
        where = read_where(row.area, row.area_request)
        query = PlaceQuery(row.text, where, row.result_limit, read_areas(row.area_found, where))
        return SearchTask(row.provider, query, row.tenant_id, row.id)

    async def work(self, task: SearchTask) -> SearchResult:
        """Read all pages. Places found before the budget ran out are kept; paid pages are not paid again on a retry."""
        provider = self._providers.get(task.provider)
        if provider is None:
            raise GiveUp(f"No such provider is configured: {unknown_provider(task.provider, self._providers)}")
        journal = self._journals.of(task.tenant_id, task.search_id)
        budget = self._call_budgets.of(task.tenant_id, task.search_id, task.provider, "search")
        meter = Meter(journal=journal, budget=budget)
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
        places = found[: task.query.limit]
        return SearchResult(places, notes, meter.areas, bool(reached_budget), is_whole, meter.is_partial)

    async def write(self, session: AsyncSession, row: Search, result: SearchResult) -> Iterable[UUID]:
        """Store the places with their search; those that are not rejected advance."""
        row.result_count = len(result.places)
        row.area_found = [area.to_json() for area in result.areas] or row.area_found
        row.notes, row.stopped_by_budget = result.notes, result.stopped_by_budget
        row.is_partial = result.is_partial or not result.is_whole
        wanted = await places.upsert(session, row, result.places)
        if result.is_whole:
            await search_journal.close(session, row.id)
        else:  # a larger budget or limit continues from here
            await search_journal.mark_charged(session, row.id)
        await runs.note_searched(session, row.id)
        await spending.wake_searches(session, [row.id])
        return await advance(session, self.name, dict.fromkeys(wanted, read_rules(row.rules)))
