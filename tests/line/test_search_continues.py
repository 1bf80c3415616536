"""A search that stopped early continues with a larger budget or limit where it stopped, and pays for no page twice."""

import pytest

from scrapersky.actions.searches.request_search import request_search
from scrapersky.engine.loop import run_job_loop
from scrapersky.providers.areas.where import Where
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.audit.record import Actor
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules
from tests.conftest import processors_of

ROW = "SELECT result_count, cost_cents, spent_cents, call_count, place_search_status, notes FROM search"


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=7, businesses=400) as little_internet:
        yield little_internet


@pytest.fixture
def search(application, tenant):
    """Ask for dentists within this budget and limit, and let the provider be asked."""

    async def ask(budget: int | None, limit: int | None = 60, refresh: bool = False):
        where, rules = Where.of("Helsinki"), AdvanceRules(deep_scan="off")
        wish = SearchRequest("dentists", where, "google_places", limit, budget, rules)
        async with application.database.session(tenant) as session:
            found, *_ = await request_search(session, Actor("ada", tenant, "operator", "test"), wish, refresh)
        await run_job_loop(
            processors_of(application.pipeline, application.database, application.settings)["place_search"]
        )
        return found.id

    return ask


async def test_a_search_stopped_by_its_budget_continues_with_a_larger_one(search, admin, sandbox):
    first = await search(5)
    row = await admin.fetchrow(ROW)
    assert (row["result_count"], row["cost_cents"]) == (20, 4)
    assert "over the budget of 0.05" in row["notes"]
    assert await search(5) == first
    assert len(sandbox.google.asked) == 1, "the same budget is still used up"

    assert await search(100) == first
    row = await admin.fetchrow(ROW)
    assert (row["result_count"], row["notes"]) == (60, None)
    assert len(sandbox.google.asked) == row["call_count"] == 3, "the first page was there"
    assert (row["cost_cents"], row["spent_cents"]) == (11, 11), "4 for the first page, 7 for two more"
    assert await admin.fetchval("SELECT cents FROM spending") == 11


async def test_a_new_budget_includes_what_was_spent_of_the_former_one(search, admin, sandbox):
    await search(5)
    await search(8)
    row = await admin.fetchrow(ROW)
    assert (row["result_count"], row["spent_cents"]) == (40, 7)
    assert row["notes"] == "The next call would bring the cost to 0.11, over the budget of 0.08."
    await search(None)
    assert await admin.fetchval("SELECT result_count FROM search") == 60
    assert len(sandbox.google.asked) == 3


async def test_a_larger_limit_pays_only_for_pages_beyond_the_former_limit(search, admin, sandbox):
    few = await search(None, limit=20)
    more = await search(None, limit=40)
    assert few != more, "each limit is a list of its own"
    counts = dict(await admin.fetch("SELECT result_limit, result_count FROM search"))
    assert counts == {20: 20, 40: 40}
    assert len(sandbox.google.asked) == 2
    assert await admin.fetchval("SELECT sum(cost_cents) FROM search") == 8


async def test_a_refreshed_search_starts_with_the_first_page(search, admin, sandbox):
    await search(5)
    await search(100, refresh=True)
    assert len(sandbox.google.asked) == 4
    row = await admin.fetchrow(ROW)
    assert (row["result_count"], row["spent_cents"], row["cost_cents"]) == (60, 11, 14)


async def test_a_complete_search_has_no_journal(search, admin):
    await search(None, limit=None)
    assert await admin.fetchval("SELECT count(*) FROM search_journal") == 0
