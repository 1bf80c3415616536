"""A search is requested by one action: one lock, one query for the former search, one rule for the default budget."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from scrapersky.actions.searches.request_search import (
    SearchCost,
    estimate,
    rehearse,
    request_completed,
    request_search,
)
from scrapersky.core.database import Database
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Estimate, ProviderBusy
from scrapersky.providers.registry import UnknownProvider
from scrapersky.store.audit.record import Actor
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules

COST = SearchCost(Estimate(3, 12, "three calls"))


class FakeProvider:
    """Estimates every search alike; a busy one cannot."""

    name = "fake"

    async def estimate(self, query: object) -> Estimate:
        """Return the estimate."""
        if getattr(query, "text", "") == "busy":
            raise ProviderBusy("The quota of this minute is used up.", timedelta(minutes=1))
        return Estimate(3, 12, "three calls")


def request_of(text: str = "dentists", budget_cents: int | None = None) -> SearchRequest:
    return SearchRequest(text, Where.of("Helsinki"), "fake", 60, budget_cents, AdvanceRules())


def actor_of(tenant: UUID) -> Actor:
    return Actor("ada", tenant, "operator", "test")


@pytest.fixture
def lookups() -> Iterator[list[str]]:
    """The statements that look for a former search, and those that lock the request."""
    seen: list[str] = []

    def listen(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "hashtextextended" in statement or "lower(search.text)" in statement:
            seen.append(statement.split(maxsplit=1)[0])

    event.listen(Engine, "before_cursor_execute", listen)
    yield seen
    event.remove(Engine, "before_cursor_execute", listen)


async def test_a_request_locks_and_looks_for_the_former_search_once(
    database: Database, tenant: UUID, lookups: list[str]
) -> None:
    for existed in (False, True):
        lookups.clear()
        async with database.session(tenant) as session:
            requested = await request_search(session, actor_of(tenant), request_of(), cost=COST)
        assert (requested.existed, len(lookups)) == (existed, 2)


async def test_without_a_budget_a_search_may_cost_twice_its_estimate_and_never_less_than_before(
    database: Database, tenant: UUID
) -> None:
    async def budget(named: int | None = None, cost: SearchCost | None = COST) -> tuple[int | None, bool]:
        async with database.session(tenant) as session:
            requested = await request_search(session, actor_of(tenant), request_of(budget_cents=named), cost=cost)
        return requested.search.budget_cents, requested.cost.is_default_budget

    assert await budget() == (24, True)
    assert await budget(100) == (100, False)
    assert await budget() == (100, True), "the former budget was larger"
    assert await budget(cost=SearchCost(Estimate(1, 0, "free"))) == (None, False)


async def test_the_cost_alone_creates_no_search(database: Database, tenant: UUID) -> None:
    async with database.session(tenant) as session:
        _, total = await rehearse(session, actor_of(tenant), request_of(), COST)
        assert (total.cents, total.budget_cents, total.is_default_budget) == (12, 24, True)
        assert not (await request_search(session, actor_of(tenant), request_of(), cost=total)).existed


async def test_a_provider_that_cannot_estimate_is_no_reason_to_refuse_and_an_unknown_one_is(
    database: Database, tenant: UUID
) -> None:
    providers = {"fake": FakeProvider()}
    assert (await estimate(providers, request_of())).cents == 12  # type: ignore[arg-type]
    unknown = await estimate(providers, request_of("busy"))  # type: ignore[arg-type]
    assert (unknown.cents, unknown.why_unknown) == (None, "The quota of this minute is used up.")
    async with database.session(tenant) as session:
        assert (await request_search(session, actor_of(tenant), request_of("busy"), cost=unknown)).search.id
    with pytest.raises(UnknownProvider):
        await estimate({}, request_of())


async def test_a_search_for_rows_from_another_source_is_completed_at_once(database: Database, tenant: UUID) -> None:
    async with database.session(tenant) as session:
        requested = await request_completed(session, actor_of(tenant), request_of())
        assert (requested.search.place_search_status, requested.existed) == ("Completed", False)
