"""Purses of searches: taken from before a call, by however many workers, never overdrawn, and everything is counted."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from scrapersky.actions.searches.request_search import SearchCost, rehearse, request_search
from scrapersky.core.database import Database
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Estimate, NoMoney
from scrapersky.providers.call_budget import BudgetReached
from scrapersky.store.accounts import tenants
from scrapersky.store.audit.record import Actor
from scrapersky.store.money import quotas, spending
from scrapersky.store.money.call_budget import StoredCallBudgets
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules

PROVIDER = "google_places"
TWO_CENTS = 20_000


async def add_search(admin, tenant, budget: int | None = None, status: str = "Completed", **columns: int):
    return await admin.fetchval(
        "INSERT INTO search (tenant_id, text, provider, budget_cents, spent_cents, spent_micros, place_search_status, "
        "place_search_due_at) VALUES ($1, 'dentists', $2, $3, $4, $4::int * 10000, $5, $6) RETURNING id",
        *(tenant, PROVIDER, budget, columns.get("spent", 0), status),
        datetime.now(UTC) + timedelta(hours=1) if status == "Processing" else None,
    )


async def bill(admin, search) -> tuple[int, ...]:
    row = await admin.fetchrow(
        "SELECT cost_cents, spent_cents, call_count, details_count, details_cents FROM search WHERE id = $1", search
    )
    return tuple(row)


async def spent(admin) -> list[tuple]:
    return [tuple(row) for row in await admin.fetch("SELECT method, calls, cents FROM spending ORDER BY method")]


async def month_of(database, tenant) -> int:
    async with database.session(tenant) as session:
        return (await quotas.usage(session, tenant))[-1].used


async def test_a_call_is_paid_for_by_its_search_and_counted_everywhere(database, admin, tenant):
    search = await add_search(admin, tenant, budget=10)
    purse = StoredCallBudgets(database).of(tenant, search, PROVIDER, "details")
    await purse.charge(TWO_CENTS)
    await purse.charge(12_000)
    assert await bill(admin, search) == (4, 4, 2, 2, 4), "whole cents, rounded up"
    assert await admin.fetchval("SELECT cost_micros FROM search") == 32_000
    assert await spent(admin) == [("details", 2, 4)]
    assert await month_of(database, tenant) == 4
    async with database.engine_session() as session:
        assert await spending.spent_this_month(session) == [(PROVIDER, "details", 2, 3.2)]


async def test_what_was_not_billed_is_given_back_and_the_call_stays_counted(database, admin, tenant):
    search = await add_search(admin, tenant, budget=2)
    purse = StoredCallBudgets(database).of(tenant, search, PROVIDER, "details")
    for _ in range(3):  # would not fit, if it were not given back
        await purse.charge(TWO_CENTS)
        await purse.refund()
    await purse.refund()  # and only once
    assert await bill(admin, search) == (0, 0, 3, 3, 0)
    assert await spent(admin) == [("details", 3, 0)]
    assert await month_of(database, tenant) == 0


async def test_what_is_given_back_after_midnight_belongs_to_the_month_it_was_taken_from(database, admin, tenant):
    search = await add_search(admin, tenant)
    budget = StoredCallBudgets(database).of(tenant, search, PROVIDER, "details")
    await budget.charge(TWO_CENTS)
    for table in ("spending", "unanswered_call"):
        await admin.execute(f"UPDATE {table} SET month = month - interval '1 month'")
    await budget.refund()
    assert await spent(admin) == [("details", 1, 0)]


@pytest.mark.parametrize("method", ["search", "details"])
async def test_a_call_without_an_answer_stays_booked_and_is_marked(database, admin, tenant, method):
    search = await add_search(admin, tenant, budget=100)
    answered, refused, lost = (StoredCallBudgets(database).of(tenant, search, PROVIDER, method) for _ in range(3))
    for budget in (answered, refused, lost):
        await budget.charge(35_000)
    assert await admin.fetchval("SELECT count(*) FROM unanswered_call") == 3, "they are under way"
    await answered.confirm()
    await refused.refund()
    assert await admin.fetchval("SELECT cost_micros FROM search") == 70_000
    row = await admin.fetchrow("SELECT search_id, method, micros FROM unanswered_call")
    assert tuple(row) == (search, method, 35_000)
    async with database.session(tenant) as session:
        assert (await spending.search_cost(session, search))["unanswered_calls"] == 1


async def test_a_call_without_an_answer_is_in_the_bill_of_the_campaign(database, admin, tenant):
    campaign, search, other = [await add_search(admin, tenant, budget=100) for _ in range(3)]
    await admin.execute("INSERT INTO campaign_search VALUES ($1, $2, $3, 0)", campaign, search, tenant)
    for one in (search, other):
        await StoredCallBudgets(database).of(tenant, one, PROVIDER, "search").charge(35_000)
    async with database.session(tenant) as session:
        assert (await spending.search_cost(session, campaign))["unanswered_calls"] == 1


async def test_a_search_never_exceeds_its_budget_by_half_a_cent(database, admin, tenant):
    search = await add_search(admin, tenant, budget=8, status="Processing")
    budget = StoredCallBudgets(database).of(tenant, search, PROVIDER, "search")
    await budget.charge(35_000)
    await budget.charge(35_000)
    with pytest.raises(BudgetReached, match=r"bring the cost to 0\.11, over the budget of 0\.08"):
        await budget.charge(35_000)
    assert await bill(admin, search) == (7, 7, 2, 0, 0)


async def test_the_version_before_may_still_write_cents(admin, tenant):
    search = await add_search(admin, tenant, budget=8)
    await admin.execute("UPDATE search SET cost_cents = cost_cents + 4, spent_cents = 4, call_count = 1")
    await admin.execute("SELECT reserve_details($1, $2, $3, 2)", tenant, search, PROVIDER)
    assert tuple(await admin.fetchrow("SELECT cost_micros, spent_micros FROM search")) == (60_000, 60_000)
    assert await spent(admin) == [("details", 1, 2), ("search", 1, 4)]


async def test_a_free_call_is_counted_and_needs_no_money(database, admin, tenant):
    await admin.execute("UPDATE tenant SET cents_per_month = 0")
    search = await add_search(admin, tenant, budget=0)
    await StoredCallBudgets(database).of(tenant, search, PROVIDER, "details").charge(0)
    await StoredCallBudgets(database).of(tenant, None, PROVIDER, "details").charge(0)
    assert await bill(admin, search) == (0, 0, 1, 1, 0)
    assert await spent(admin) == [("details", 2, 0)]
    assert await admin.fetchval("SELECT count(*) FROM unanswered_call") == 0


@pytest.mark.parametrize("quota", [None, 1_000], ids=["no quota", "a quota"])
async def test_many_workers_at_the_edge_of_a_budget_never_overdraw_it(database, settings, admin, tenant, quota):
    await admin.execute("UPDATE tenant SET cents_per_month = $1", quota)
    search = await add_search(admin, tenant, budget=31, spent=0)
    other_host = Database(settings.database_url.get_secret_value(), settings)
    purses = [
        StoredCallBudgets(host).of(tenant, search, PROVIDER, "details")
        for host in (database, other_host)
        for _ in range(20)
    ]
    outcomes = await asyncio.gather(*(purse.charge(TWO_CENTS) for purse in purses), return_exceptions=True)
    await other_host.close()
    assert [type(one) for one in outcomes if one is not None] == [NoMoney] * 25
    assert await bill(admin, search) == (30, 30, 15, 15, 30)
    assert await month_of(database, tenant) == 30


async def test_many_workers_of_many_searches_never_overdraw_the_month(database, admin, tenant):
    await admin.execute("UPDATE tenant SET cents_per_month = 31")
    wanted = [*[await add_search(admin, tenant) for _ in range(4)], None]
    purses = [
        StoredCallBudgets(database).of(tenant, search, PROVIDER, "details") for search in wanted for _ in range(8)
    ]
    outcomes = await asyncio.gather(*(purse.charge(TWO_CENTS) for purse in purses), return_exceptions=True)
    assert [type(one) for one in outcomes if one is not None] == [NoMoney] * 25
    assert await month_of(database, tenant) == 30


async def test_what_an_open_search_holds_of_the_month_is_not_for_details(database, admin, tenant):
    await admin.execute("UPDATE tenant SET cents_per_month = 31")
    await add_search(admin, tenant, budget=30, status="Queued")
    with pytest.raises(NoMoney, match=r"of 0\.31 a month 0\.30 are spent or reserved by searches.*cents_per_month"):
        await StoredCallBudgets(database).of(tenant, None, PROVIDER, "details").charge(TWO_CENTS)


async def test_a_search_that_is_being_made_gets_its_budget_first(database, admin, tenant):
    search = await add_search(admin, tenant, budget=50, status="Processing")
    with pytest.raises(NoMoney, match="running again") as waits:
        await StoredCallBudgets(database).of(tenant, search, PROVIDER, "details").charge(TWO_CENTS)
    assert waits.value.after <= timedelta(minutes=1)
    without = await add_search(admin, tenant, status="Processing")
    await StoredCallBudgets(database).of(tenant, without, PROVIDER, "details").charge(TWO_CENTS)


async def test_the_reason_says_what_is_used_up_and_how_to_raise_it(database, admin, tenant):
    search = await add_search(admin, tenant, budget=50, spent=49)
    with pytest.raises(NoMoney, match=r"budget of the search is used up \(0\.49 of 0\.50\).*larger budget"):
        await StoredCallBudgets(database).of(tenant, search, PROVIDER, "details").charge(TWO_CENTS)
    assert await bill(admin, search) == (0, 49, 0, 0, 0)


async def test_a_search_that_is_made_again_has_its_budget_again(database, admin, tenant):
    search = await add_search(admin, tenant, budget=50, spent=50)
    await admin.execute("UPDATE search SET place_search_status = 'Queued'")
    await admin.execute("UPDATE search SET place_search_status = 'Completed'")
    await StoredCallBudgets(database).of(tenant, search, PROVIDER, "details").charge(TWO_CENTS)
    assert (await bill(admin, search))[1] == 2


async def test_a_search_of_another_tenant_is_no_purse(database, admin, tenant, other_tenant):
    search = await add_search(admin, other_tenant)
    await StoredCallBudgets(database).of(tenant, search, PROVIDER, "details").charge(TWO_CENTS)
    assert await bill(admin, search) == (0, 0, 0, 0, 0)
    assert await month_of(database, tenant) == 2


async def test_a_tenant_can_neither_fill_a_purse_nor_read_anothers_spending(database, admin, tenant, other_tenant):
    await StoredCallBudgets(database).of(other_tenant, None, PROVIDER, "details").charge(TWO_CENTS)
    async with database.session(tenant) as session:
        assert await session.scalar(text("SELECT count(*) FROM spending")) == 0
    for statement in (
        "UPDATE spending SET cents = 0",
        f"SELECT refund_details('{other_tenant}', NULL, 'x', 2, now()::date)",
        f"SELECT reserve_details('{other_tenant}', NULL, 'x', 2)",
        f"SELECT book_call('{other_tenant}', NULL, 'x', 'details', 2)",
        "SELECT refund_call(gen_random_uuid())",
        "DELETE FROM unanswered_call",
        f"SELECT record_calls('{other_tenant}', 'x', 'details', now()::date, 1, 2)",
    ):
        with pytest.raises(DBAPIError, match="permission denied"):
            async with database.session(tenant) as session:
                await session.execute(text(statement))


# -- what waits for money ----------------------------------------------------------------------------------------------


async def add_waiting_place(admin, tenant, search, waits_for: str | None, name: str = "one"):
    place = await admin.fetchval(
        "INSERT INTO place (tenant_id, search_id, provider, provider_id, name, deep_scan_status, deep_scan_due_at) "
        "VALUES ($1, $2, $3, $4, 'n', 'Queued', now() + interval '1 hour') RETURNING id",
        *(tenant, search, PROVIDER, name),
    )
    await admin.execute("UPDATE place SET deep_scan_waits_for = $2 WHERE id = $1", place, waits_for)
    return place


async def waiting(admin) -> list[str]:
    rows = await admin.fetch("SELECT provider_id FROM place WHERE deep_scan_due_at > now() ORDER BY 1")
    return [row["provider_id"] for row in rows]


async def test_whoever_raises_the_budget_wakes_what_waits_for_it_and_nothing_else(database, admin, tenant):
    search = await add_search(admin, tenant, budget=2)
    other = await add_search(admin, tenant, budget=2)
    await admin.execute("UPDATE search SET text = 'others' WHERE id = $1", other)
    await add_waiting_place(admin, tenant, search, "money", "mine")
    await add_waiting_place(admin, tenant, search, None, "busy")
    await add_waiting_place(admin, tenant, other, "money", "theirs")
    asked = SearchRequest("dentists", Where(), PROVIDER, None, 100, AdvanceRules())
    async with database.session(tenant) as session:
        found, existed, _ = await request_search(session, Actor("ada", tenant, "operator", "test"), asked)
    assert (found.id, existed, found.budget_cents) == (search, True, 100)
    assert await waiting(admin) == ["busy", "theirs"]


async def test_whoever_raises_the_quota_wakes_the_tenants_places(database, admin, tenant, other_tenant):
    for owner in (tenant, other_tenant):
        await add_waiting_place(admin, owner, None, "money", str(owner))
    async with database.engine_session() as session:
        await tenants.change(
            session, Actor("ada", tenant, "admin", "test"), "default", {"cents_per_month": 500, "is_operator": True}
        )
    assert await waiting(admin) == [str(other_tenant)]


async def test_details_that_can_be_foreseen_are_estimated(database, admin, tenant):
    search = await add_search(admin, tenant)
    fresh = (
        "INSERT INTO place (tenant_id, search_id, provider, provider_id, name, deep_scan_status, details, fetched_at) "
    )
    for name, status, age in (("new", "Queued", 1), ("old", "Queued", 30), ("done", "Completed", 30)):
        await admin.execute(
            fresh + "VALUES ($1, $2, $3, $4, 'n', $5, '{}', now() - $6 * interval '1 hour')",
            *(tenant, search, PROVIDER, name, status, age),
        )
    async with database.session(tenant) as session:
        for words, calls, cents, budget in (("dentists", 3, 7, 14), ("others", 2, 5, 10)):
            request = SearchRequest(words, Where(), PROVIDER, None, None, AdvanceRules())
            cost = SearchCost(Estimate(2, 5, "two calls", details_micros=20_000))
            _, total = await rehearse(session, Actor("ada", tenant, "operator", "test"), request, cost)
            assert total.estimate is not None
            assert (total.estimate.calls, total.cents, total.budget_cents) == (calls, cents, budget)
            assert total.is_default_budget
