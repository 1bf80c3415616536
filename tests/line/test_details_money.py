"""Details cost money: two hosts look into the places of one search at Google's fake, within its budget and quotas."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scrapersky.actions.searches.request_search import request_search
from scrapersky.bootstrap import open_application
from scrapersky.core.settings import Environment
from scrapersky.engine.loop import run_job_loop
from scrapersky.providers.areas.where import Where
from scrapersky.providers.google.errors import PACIFIC
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.audit.record import Actor
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules
from tests.conftest import processors_of

PLACES = 12
STATES = "SELECT deep_scan_status AS status, deep_scan_error AS error, deep_scan_due_at AS due_at FROM place"


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=7, businesses=300) as little_internet:
        yield little_internet


@pytest.fixture
async def houses(sandbox, database_url):
    """Two processes' worth of objects on one database, as two hosts have them."""
    variables = {**sandbox.environment(), "DATABASE_URL": database_url, "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0"}
    opened = [await open_application(Environment(variables, None)) for _ in range(2)]
    yield opened
    for application in opened:
        await application.close()


async def ask(application, tenant, budget: int | None = None):
    wish = SearchRequest("dentists", Where.of("Helsinki"), "google_places", PLACES, budget, AdvanceRules())
    async with application.database.session(tenant) as session:
        return (await request_search(session, Actor("ada", tenant, "operator", "test"), wish))[0]


async def run(step: str, *houses, **changes: Any) -> None:
    processors = [
        processors_of(application.pipeline, application.database, application.settings, **changes)[step]
        for application in houses
    ]
    await asyncio.gather(*(run_job_loop(processor) for processor in processors))


async def grow_old(admin, days: int = 2) -> None:
    """As if the places had waited so long for somebody to choose them."""
    await admin.execute("UPDATE place SET fetched_at = fetched_at - $1 * interval '1 day'", days)


async def found_but_old(houses, admin, tenant, budget: int | None = None):
    search = await ask(houses[0], tenant, budget)
    await run("place_search", houses[0])
    await grow_old(admin)
    assert await admin.fetchval("SELECT count(*) FROM place WHERE deep_scan_status = 'Queued'") == PLACES
    return search


async def test_places_whose_search_brought_the_details_cost_nothing_more(houses, admin, tenant, sandbox):
    await ask(houses[0], tenant, 4)
    await run("place_search", houses[0])
    await run("deep_scan", *houses)
    row = await admin.fetchrow("SELECT cost_cents, call_count, details_count FROM search")
    assert (row["cost_cents"], row["call_count"], row["details_count"]) == (4, 1, 0)  # one page of 3.5 cents
    assert sandbox.google.calls["details"] == 0
    assert await admin.fetchval("SELECT count(*) FROM local_business") == PLACES


async def test_two_hosts_spend_the_budget_once_and_the_rest_waits_until_it_is_raised(houses, admin, tenant, sandbox):
    search = await found_but_old(houses, admin, tenant, 4 + 9)
    sandbox.latency_seconds = 0.05  # so that calls overlap
    await run("deep_scan", *houses)

    assert sandbox.google.calls["details"] == 4, "nine cents are four calls of two"
    row = await admin.fetchrow("SELECT cost_cents, spent_cents, details_count, details_cents FROM search")
    assert tuple(row) == (12, 12, 4, 8)
    waiting = [row for row in await admin.fetch(STATES) if row["status"] == "Queued"]
    assert len(waiting) == PLACES - 4
    assert all("budget of the search is used up (0.12 of 0.13)" in row["error"] for row in waiting)
    assert all(row["due_at"] > datetime.now(UTC) + timedelta(minutes=50) for row in waiting)
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 0

    assert (await ask(houses[1], tenant, 100)).id == search.id
    await run("deep_scan", *houses)
    assert sandbox.google.calls["details"] == PLACES
    assert await admin.fetchval("SELECT count(*) FROM local_business") == PLACES
    assert await admin.fetchval("SELECT cost_cents FROM search") == 4 + 2 * PLACES
    month = await admin.fetchval("SELECT sum(cents) FROM spending")
    assert month == 4 + 2 * PLACES, "the tenant's month has all of it"


async def test_a_scan_without_a_search_is_held_by_the_month_alone(houses, admin, tenant, sandbox):
    await found_but_old(houses, admin, tenant)
    await admin.execute("DELETE FROM search")
    await admin.execute("UPDATE tenant SET cents_per_month = 11 WHERE id = $1", tenant)  # four of them are spent
    await run("deep_scan", *houses)
    assert sandbox.google.calls["details"] == 3
    reasons = await admin.fetch("SELECT DISTINCT deep_scan_error FROM place WHERE deep_scan_status = 'Queued'")
    assert len(reasons) == 1
    assert "of 0.11 a month 0.10 are spent" in reasons[0]["deep_scan_error"]


async def test_calls_that_fail_are_counted_and_not_paid(houses, admin, tenant, sandbox):
    await found_but_old(houses, admin, tenant, 4 + 2 * PLACES)
    sandbox.google.fail("unavailable", 5)
    await run("deep_scan", houses[0])
    await admin.execute("UPDATE place SET deep_scan_due_at = NULL WHERE deep_scan_status = 'Queued'")
    await run("deep_scan", houses[0])
    assert await admin.fetchval("SELECT count(*) FROM local_business") == PLACES
    row = await admin.fetchrow("SELECT cost_cents, details_count, details_cents FROM search")
    assert tuple(row) == (4 + 2 * PLACES, PLACES + 5, 2 * PLACES)


# -- Google's own quotas -----------------------------------------------------------------------------------------------


async def test_a_day_that_is_used_up_stops_details_on_every_host_until_midnight_in_california(
    houses, admin, tenant, sandbox
):
    await found_but_old(houses, admin, tenant)
    sandbox.google.fail("per_day")
    await run("deep_scan", houses[0], batch_size=1, concurrency=1)  # one call is told, and nobody asks again
    await run("deep_scan", houses[1])
    assert sandbox.google.calls["details"] == 0, "the other host was told by the first"
    rows = await admin.fetch(STATES)
    assert {row["status"] for row in rows} == {"Queued"}
    assert all("quota of the day is used up" in row["error"] for row in rows)
    ends = {(row["due_at"] + timedelta(seconds=30)).astimezone(PACIFIC) for row in rows}
    assert {(end.hour, end.minute) for end in ends} == {(0, 0)}
    assert {end.date() for end in ends} == {datetime.now(PACIFIC).date() + timedelta(days=1)}
    assert await admin.fetchval("SELECT cost_cents FROM search") == 4, "nothing of it is paid"


async def test_a_minute_that_is_used_up_is_at_most_a_minute_for_every_host(houses, admin, tenant, sandbox):
    await found_but_old(houses, admin, tenant)
    sandbox.google.fail("per_minute")
    await run("deep_scan", houses[0], batch_size=1, concurrency=1)
    await run("deep_scan", houses[1])
    assert sandbox.google.calls["details"] == 0
    rows = await admin.fetch("SELECT deep_scan_due_at - now() AS wait FROM place")
    assert all(timedelta(0) < row["wait"] <= timedelta(seconds=60) for row in rows)

    await admin.execute("UPDATE provider_cooldown SET until = now()")
    await admin.execute("UPDATE place SET deep_scan_due_at = NULL")
    await run("deep_scan", *houses)
    assert sandbox.google.calls["details"] == PLACES


async def test_a_search_rests_where_another_host_was_told_and_details_go_on(houses, admin, tenant, sandbox):
    await found_but_old(houses, admin, tenant)
    other = SearchRequest("dentists", Where.of("Tampere"), "google_places", PLACES, None, AdvanceRules())
    third = SearchRequest("dentists", Where.of("Turku"), "google_places", PLACES, None, AdvanceRules())
    sandbox.google.fail("per_day")
    for application, wish in zip(houses, (other, third), strict=True):
        async with application.database.session(tenant) as session:
            await request_search(session, Actor("ada", tenant, "operator", "test"), wish)
        await run("place_search", application)
    assert sandbox.google.calls["searchText"] == 1, "only the first search of all was answered"
    errors = await admin.fetch("SELECT DISTINCT place_search_error FROM search WHERE place_search_status = 'Queued'")
    assert len(errors) == 1
    assert "quota of the day" in errors[0]["place_search_error"]
    await run("deep_scan", *houses)
    assert sandbox.google.calls["details"] == PLACES, "details have a quota of their own"


async def test_a_new_key_does_not_wait_for_the_quota_of_the_old_one(houses, admin, tenant, sandbox, database_url):
    await found_but_old(houses, admin, tenant)
    sandbox.google.fail("per_day")
    await run("deep_scan", houses[0], batch_size=1, concurrency=1)
    sandbox.google.key = "another-key"
    application = await open_application(Environment({**sandbox.environment(), "DATABASE_URL": database_url}, None))
    await admin.execute("UPDATE place SET deep_scan_due_at = NULL")
    await run("deep_scan", application)
    await application.close()
    assert sandbox.google.calls["details"] == PLACES
