"""Quotas of tenants: a calendar that the database keeps, and money that open searches hold."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from tests.conftest import processors_of
from tests.workflows.cases import CASES, real_line

from scrapersky.actions.searches.request_search import SearchCost, request_search
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.queue import Queue
from scrapersky.pipeline import build_pipeline
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Estimate, PlaceDetails
from scrapersky.store.audit.record import Actor
from scrapersky.store.money import quotas
from scrapersky.store.money.call_budget import StoredCallBudgets
from scrapersky.store.money.quotas import QuotaReached
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules

PAGE_CASE = next(case for case in CASES if case.name == "page_curation")
ADD_PAGES = (
    "INSERT INTO page (tenant_id, domain_id, url, page_processing_status) "
    "SELECT $1, $2, 'https://one.fi/' || n, $4 FROM generate_series($5::int, $5 + $3 - 1) n"
)
DAYS = (
    "SELECT coalesce((page_processing_due_at AT TIME ZONE 'UTC')::date - (now() AT TIME ZONE 'UTC')::date, 0) AS day, "
    "count(*) FROM page WHERE tenant_id = $1 AND page_processing_status = 'Queued' GROUP BY 1 ORDER BY 1"
)


def pages_queue() -> Queue:
    return real_line().queues["page_curation"]


async def allow(admin, tenant: UUID, **limits: int | None) -> None:
    for name, limit in limits.items():
        await admin.execute(f"UPDATE tenant SET {name} = $2 WHERE id = $1", tenant, limit)


async def add_pages(admin, tenant, count, status="Queued", start=0) -> None:
    domain = await admin.fetchval(
        "INSERT INTO domain (tenant_id, name) VALUES ($1, 'one.fi') "
        "ON CONFLICT (tenant_id, name) DO UPDATE SET name = excluded.name RETURNING id",
        tenant,
    )
    await admin.execute(ADD_PAGES, tenant, domain, count, status, start)


async def days(admin, tenant) -> dict[int, int]:
    """How many pages wait for which day from today on."""
    return dict(await admin.fetch(DAYS, tenant))


async def booked(admin, tenant, kind="pages") -> list[int]:
    rows = await admin.fetch(
        "SELECT used FROM quota_usage WHERE tenant_id = $1 AND kind = $2 ORDER BY day", tenant, kind
    )
    return [row["used"] for row in rows]


# -- pages -------------------------------------------------------------------------------------------------------------


async def test_ten_pages_a_day_run_today_the_rest_waits_for_the_days_after(admin, tenant):
    await allow(admin, tenant, pages_per_day=10)
    await add_pages(admin, tenant, 25)
    assert await days(admin, tenant) == {0: 10, 1: 10, 2: 5}
    assert len(await pages_queue().claim(admin, 100, 60)) == 10
    assert await booked(admin, tenant) == [10, 10, 5]


async def test_pages_queued_one_by_one_are_counted_alike(admin, tenant):
    await allow(admin, tenant, pages_per_day=10)
    await add_pages(admin, tenant, 25, "New")
    for row in await admin.fetch("SELECT id FROM page"):
        await admin.execute("UPDATE page SET page_processing_status = 'Queued' WHERE id = $1", row["id"])
    assert await days(admin, tenant) == {0: 10, 1: 10, 2: 5}


async def test_the_next_day_begins_with_what_was_booked_for_it(admin, tenant):
    await allow(admin, tenant, pages_per_day=10)
    await add_pages(admin, tenant, 25)
    await admin.execute("UPDATE page SET page_processing_status = 'Completed' WHERE page_processing_due_at IS NULL")
    await admin.execute("UPDATE page SET page_processing_due_at = page_processing_due_at - interval '1 day'")
    await admin.execute("UPDATE quota_usage SET day = day - 1")
    await add_pages(admin, tenant, 10, start=100)
    assert await days(admin, tenant) == {0: 10, 1: 10, 2: 5}


async def test_what_the_engine_tries_again_is_not_counted(database, settings, admin, tenant):
    await allow(admin, tenant, pages_per_day=10)
    await add_pages(admin, tenant, 4)
    pipeline = PAGE_CASE.line()

    async def fails(_task):
        raise RuntimeError("not today")

    pipeline["page_curation"].read, pipeline["page_curation"].work = lambda row: row.id, fails
    processor = processors_of(pipeline, database, settings, backoff_seconds=0.01, max_attempts=9)["page_curation"]
    await run_job_loop(processor)
    assert await admin.fetchval("SELECT count(*) FROM page WHERE page_processing_error IS NOT NULL") == 4
    assert await booked(admin, tenant) == [4]


async def test_a_tenant_without_a_quota_has_no_calendar(admin, tenant, other_tenant):
    await allow(admin, other_tenant, pages_per_day=1)
    await add_pages(admin, tenant, 25)
    assert await days(admin, tenant) == {0: 25}
    assert await booked(admin, tenant) == []


async def test_one_statement_about_two_tenants_counts_each(admin, tenant, other_tenant):
    for owner in (tenant, other_tenant):
        await allow(admin, owner, pages_per_day=3)
        await add_pages(admin, owner, 4, "New")
    await admin.execute("UPDATE page SET page_processing_status = 'Queued'")
    for owner in (tenant, other_tenant):
        assert await days(admin, owner) == {0: 3, 1: 1}
        assert await booked(admin, owner) == [3, 1]


async def test_a_statement_that_fails_books_nothing(database, admin, tenant):
    await allow(admin, tenant, pages_per_day=3)
    await add_pages(admin, tenant, 2)
    with pytest.raises(Exception, match="page_tenant_id"):
        async with admin.transaction():
            await add_pages(admin, tenant, 2)  # the same addresses
    await add_pages(admin, tenant, 2, start=10)
    assert await booked(admin, tenant) == [3, 1]


async def test_many_at_once_never_book_a_day_twice(database, admin, tenant):
    await allow(admin, tenant, pages_per_day=10)
    await add_pages(admin, tenant, 60, "New")
    ids = [row["id"] for row in await admin.fetch("SELECT id FROM page")]

    async def queue(chosen) -> None:
        async with database.engine_connection() as connection:
            await connection.execute(
                "UPDATE page SET page_processing_status = 'Queued' WHERE id = ANY($1::uuid[])", chosen
            )

    await asyncio.gather(*(queue(ids[n : n + 6]) for n in range(0, 60, 6)))
    assert await days(admin, tenant) == dict.fromkeys(range(6), 10)


async def test_ten_thousand_pages_in_one_statement_write_each_day_once(admin, tenant):
    await add_pages(admin, tenant, 10_000, "New")
    await allow(admin, tenant, pages_per_day=4_000)
    await admin.execute("UPDATE page SET page_processing_status = 'Queued'")
    assert await days(admin, tenant) == {0: 4_000, 1: 4_000, 2: 2_000}


# -- a quota that changes ----------------------------------------------------------------------------------------------


async def test_a_higher_quota_frees_what_waits(admin, tenant):
    await allow(admin, tenant, pages_per_day=10)
    await add_pages(admin, tenant, 25)
    await allow(admin, tenant, pages_per_day=20)
    assert await days(admin, tenant) == {0: 20, 1: 5}
    assert await booked(admin, tenant) == [20, 5]


async def test_what_was_begun_today_stays_counted(admin, tenant):
    await allow(admin, tenant, pages_per_day=10)
    await add_pages(admin, tenant, 25)
    await pages_queue().claim(admin, 7, 60)
    await allow(admin, tenant, pages_per_day=8)
    assert await days(admin, tenant) == {0: 1, 1: 8, 2: 8, 3: 1}
    await allow(admin, tenant, pages_per_day=5)
    assert await days(admin, tenant) == {1: 5, 2: 5, 3: 5, 4: 3}
    await allow(admin, tenant, pages_per_day=12)
    assert await days(admin, tenant) == {0: 5, 1: 12, 2: 1}


async def test_a_quota_that_is_lifted_frees_all_and_one_that_is_set_binds_all(admin, tenant):
    await add_pages(admin, tenant, 7)
    await allow(admin, tenant, pages_per_day=3)
    assert await days(admin, tenant) == {0: 3, 1: 3, 2: 1}
    await allow(admin, tenant, pages_per_day=None)
    assert await days(admin, tenant) == {0: 7}


async def test_rows_that_wait_for_another_reason_are_not_hurried(admin, tenant):
    await allow(admin, tenant, pages_per_day=1)
    await add_pages(admin, tenant, 3)
    waits = "UPDATE page SET page_processing_error = 'busy', page_processing_due_at = now() + interval '1 hour' "
    await admin.execute(waits + "WHERE page_processing_due_at IS NULL")
    await allow(admin, tenant, pages_per_day=None)
    assert await admin.fetchval("SELECT count(*) FROM page WHERE page_processing_due_at > now()") == 1


async def test_a_tenant_that_is_out_waits_for_years_and_comes_back_at_once(admin, tenant):
    await add_pages(admin, tenant, 3)
    await admin.execute("UPDATE tenant SET disabled_at = now() WHERE id = $1", tenant)
    await add_pages(admin, tenant, 2, start=10)
    assert list(await days(admin, tenant)) == [3650]
    await admin.execute("UPDATE tenant SET disabled_at = NULL WHERE id = $1", tenant)
    assert await days(admin, tenant) == {0: 5}


# -- searches ----------------------------------------------------------------------------------------------------------


def actor_of(tenant: UUID) -> Actor:
    return Actor("ada", tenant, "operator", "test")


async def ask(database, tenant, words: str, estimate: int | None = 0, **wish):
    asked = SearchRequest(words, Where(), "test", None, wish.get("budget"), AdvanceRules())
    async with database.session(tenant) as session:
        cost = SearchCost(Estimate(1, estimate, "one call") if estimate is not None else None)
        return (await request_search(session, actor_of(tenant), asked, wish.get("refresh", False), cost)).search


async def test_a_search_over_the_quota_is_refused_with_the_moment_it_is_free(database, admin, tenant):
    await allow(admin, tenant, searches_per_day=2)
    for words in ("one", "two"):
        await ask(database, tenant, words)
    with pytest.raises(QuotaReached) as refused:
        await ask(database, tenant, "three")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    assert refused.value.members == {
        "quota": "searches_per_day",
        "limit": 2,
        "used": 2,
        "free_at": tomorrow.isoformat(),
    }
    assert 0 < int(refused.value.headers["Retry-After"]) <= 86_400
    assert "Of 2 searches a day 2 are used. Try again at" in str(refused.value)
    assert await admin.fetchval("SELECT count(*) FROM search") == 2
    assert await admin.fetchval("SELECT count(*) FROM audit") == 2


async def test_asking_for_what_is_there_costs_nothing_but_refreshing_it_does(database, admin, tenant):
    await allow(admin, tenant, searches_per_day=1)
    search = await ask(database, tenant, "one")
    await admin.execute("UPDATE search SET place_search_status = 'Completed'")
    assert (await ask(database, tenant, "one")).id == search.id
    with pytest.raises(QuotaReached):
        await ask(database, tenant, "one", refresh=True)
    with pytest.raises(QuotaReached):
        await ask(database, tenant, "two")


async def test_of_two_searches_at_the_edge_exactly_one_gets_in(database, admin, tenant):
    await allow(admin, tenant, searches_per_day=5, cents_per_month=100)
    for number in range(4):
        await ask(database, tenant, str(number))
    outcomes = await asyncio.gather(
        *(ask(database, tenant, f"edge {number}") for number in range(8)), return_exceptions=True
    )
    assert sum(isinstance(outcome, QuotaReached) for outcome in outcomes) == 7
    assert await booked(admin, tenant, "searches") == [5]


async def test_searches_queued_by_hand_wait_for_their_day(database, admin, tenant):
    await allow(admin, tenant, searches_per_day=2)
    for words in ("one", "two"):
        await ask(database, tenant, words)
    await admin.execute("UPDATE search SET place_search_status = 'Completed'")
    await admin.execute("UPDATE search SET place_search_status = 'Queued'")
    assert await admin.fetchval("SELECT count(*) FROM search WHERE place_search_due_at > now()") == 2


# -- money -------------------------------------------------------------------------------------------------------------


async def spend(admin, search_id: UUID, cents: int) -> None:
    """As the workflow writes it down when the search is through."""
    await admin.execute(
        "UPDATE search SET cost_cents = cost_cents + $2, call_count = call_count + 1, "
        "place_search_status = 'Completed' WHERE id = $1",
        search_id,
        cents,
    )


async def test_what_is_spent_and_held_is_not_spent_again(database, admin, tenant):
    await allow(admin, tenant, cents_per_month=100)
    first = await ask(database, tenant, "one", 30)
    assert first.budget_cents == 60  # twice its estimate
    with pytest.raises(QuotaReached, match=r"60 are reserved by open searches; this search may cost 0\.50"):
        await ask(database, tenant, "two", 50)
    assert (await ask(database, tenant, "two", 30)).budget_cents == 40  # what is left
    await spend(admin, first.id, 25)
    assert (await ask(database, tenant, "three", 10, budget=1_000)).budget_cents == 35
    async with database.session(tenant) as session:
        money = (await quotas.usage(session, tenant))[-1]
    assert (money.used, money.ahead, money.limit) == (25, 75, 100)


async def test_no_search_however_it_is_queued_may_spend_more_than_is_left(database, admin, tenant):
    await allow(admin, tenant, cents_per_month=100)
    search = await ask(database, tenant, "one", 10, budget=90)
    await spend(admin, search.id, 80)
    await admin.execute("UPDATE search SET place_search_status = 'Queued'")
    assert await admin.fetchval("SELECT budget_cents FROM search") == 20
    assert (await ask(database, tenant, "one", 10, budget=5_000)).budget_cents == 20


async def test_a_search_that_costs_nothing_is_made_when_the_money_is_gone(database, admin, tenant):
    await allow(admin, tenant, cents_per_month=100)
    await spend(admin, (await ask(database, tenant, "one", 40)).id, 100)
    free = await ask(database, tenant, "two", 0)
    assert free.budget_cents == 0
    with pytest.raises(QuotaReached, match=r"1\.00 are spent; this search may cost 0\.01"):
        await ask(database, tenant, "three", 1)


async def test_money_comes_back_with_the_month(database, admin, tenant):
    await allow(admin, tenant, cents_per_month=100)
    await spend(admin, (await ask(database, tenant, "one", 40)).id, 100)
    await admin.execute("UPDATE spending SET month = month - 31")
    assert (await ask(database, tenant, "two", 40)).budget_cents == 80


async def test_searches_at_the_edge_of_the_money_share_it(database, admin, tenant):
    await allow(admin, tenant, cents_per_month=100)
    outcomes = await asyncio.gather(
        *(ask(database, tenant, f"edge {number}", 40) for number in range(8)), return_exceptions=True
    )
    budgets = [outcome.budget_cents for outcome in outcomes if not isinstance(outcome, BaseException)]
    assert sum(budgets) <= 100
    assert sum(isinstance(outcome, QuotaReached) for outcome in outcomes) == 8 - len(budgets)


class Dear:
    """A provider whose every page has one place and costs ten cents."""

    name = "test"

    async def search(self, query, meter):
        for number in range(100):
            await meter.pay(100_000)
            yield [PlaceDetails("test", str(number), "A Place")]


async def test_a_running_search_stops_at_what_is_left_of_the_month(database, settings, admin, tenant):
    await allow(admin, tenant, cents_per_month=45)
    search = await ask(database, tenant, "one", 30)
    providers: Any = {"test": Dear()}
    line = build_pipeline(providers, call_budgets=StoredCallBudgets(database))
    await run_job_loop(processors_of(line, database, settings)["place_search"])
    row = await admin.fetchrow("SELECT * FROM search WHERE id = $1", search.id)
    assert (row["place_search_status"], row["cost_cents"], row["result_count"]) == ("Completed", 40, 4)
    assert "over the budget of 0.45" in row["notes"]
    assert await admin.fetchval("SELECT cents FROM spending") == 40
    with pytest.raises(QuotaReached, match=r"Of 0\.45 a month 0\.40 are spent"):
        await ask(database, tenant, "two", 10)


# -- who may see and write the book ------------------------------------------------------------------------------------


async def test_a_tenant_reads_its_own_book_and_cannot_write_it(database, admin, tenant, other_tenant):
    await allow(admin, other_tenant, pages_per_day=3)
    await add_pages(admin, other_tenant, 2)
    async with database.session(tenant) as session:
        assert await session.scalar(text("SELECT count(*) FROM quota_usage")) == 0
    for statement in (
        "UPDATE quota_usage SET used = 0",
        "DELETE FROM quota_usage",
        "UPDATE tenant SET pages_per_day = 999",
        f"SELECT write_quota_usage('pages', ARRAY['{other_tenant}', '3', '2026-11-16', '0'])",
    ):
        with pytest.raises(DBAPIError, match="permission denied"):
            async with database.session(other_tenant) as session:
                await session.execute(text(statement))
