"""The connections of a process: never more than its budget, given back when they are not needed, enough for all."""

import asyncio

import pytest
from sqlalchemy import text

from scrapersky.core import connection_pool
from scrapersky.core.database import WEB_CONNECTIONS, WORKER_CONNECTIONS, Database
from tests.conftest import make_settings

OPEN = (
    "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'scrapersky %' AND datname = current_database()"
)


@pytest.fixture
async def build(database_url):
    """Databases that are closed when the test is over."""
    built: list[Database] = []

    def make(connections: int = WORKER_CONNECTIONS, **variables: str) -> Database:
        built.append(Database(database_url, make_settings(database_url, **variables), connections))
        return built[-1]

    yield make
    for database in built:
        await database.close()


async def hold(database: Database, tenant, seconds: float = 0.05) -> None:
    async with database.session(tenant) as session:
        await session.execute(text("SELECT pg_sleep(:seconds)"), {"seconds": seconds})
    async with database.engine_connection() as connection:
        await connection.execute(f"SELECT pg_sleep({seconds})")


@pytest.mark.parametrize("budget", [WORKER_CONNECTIONS, WEB_CONNECTIONS])
async def test_requests_and_engine_together_stay_within_the_budget(build, admin, tenant, budget):
    database = build(budget)
    listening = await database.listen("anything", print)
    load = [asyncio.create_task(hold(database, tenant)) for _ in range(60)]
    most = 0
    while not all(task.done() for task in load):
        most = max(most, await admin.fetchval(OPEN))
        await asyncio.sleep(0.01)
    await asyncio.gather(*load)
    await listening.close()
    assert most == budget


async def test_the_setting_is_the_budget_of_any_process(build):
    database = build(WEB_CONNECTIONS, SCRAPERSKY_DATABASE_POOL_SIZE="5")
    assert (database.max_connections, database.engine.pool.size()) == (5, 4)
    assert build(SCRAPERSKY_DATABASE_POOL_SIZE="5", SCHEDULER_POLL_ONLY="true").engine.pool.size() == 5


async def test_connections_that_are_not_needed_are_closed(build, admin, tenant, monkeypatch):
    monkeypatch.setattr(connection_pool, "IDLE_SECONDS", 0.2)
    database = build()
    async with database.engine_connection() as connection:
        oldest = await connection.fetchval("SELECT pg_backend_pid()")
    await asyncio.gather(*(hold(database, tenant) for _ in range(20)))
    assert await admin.fetchval(OPEN) == WORKER_CONNECTIONS - 1
    async with asyncio.timeout(90):
        while await admin.fetchval(OPEN) > 1:
            async with database.engine_connection() as connection:  # as the poll does once a second
                used = await connection.fetchval("SELECT pg_backend_pid()")
            assert used == oldest, "the connection that has prepared most statements"
            await asyncio.sleep(0.02)
    await asyncio.gather(*(hold(database, tenant) for _ in range(20)))
    assert await admin.fetchval(OPEN) == WORKER_CONNECTIONS - 1, "it grows again"


async def test_slow_statements_of_people_leave_connections_to_the_engine(build, tenant):
    database = build()
    slow = [asyncio.create_task(hold(database, tenant, 5)) for _ in range(20)]
    async with asyncio.timeout(90):
        while database.engine.pool.checkedout() < database.max_sessions:
            await asyncio.sleep(0.01)
    async with database.engine_connection() as connection:
        assert await connection.fetchval("SELECT 1") == 1
    assert not any(task.done() for task in slow)
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


async def test_a_transaction_of_a_tenant_has_the_limits_of_a_request_and_the_engine_has_its_own(build, tenant):
    limits = {
        "SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS": "7",
        "SCRAPERSKY_DATABASE_STATEMENT_TIMEOUT_SECONDS": "30",
    }
    database = build(**limits, SCRAPERSKY_DATABASE_POOL_SIZE="3")
    asked = "SELECT current_user || ' ' || current_setting('statement_timeout') || current_setting('plan_cache_mode')"
    for _ in range(3):
        async with database.session(tenant) as session:
            assert await session.scalar(text(asked)) == "scrapersky_app 7sauto"
        async with database.engine_connection() as connection:
            assert await connection.fetchval(asked) == "scrapersky_engine 30sforce_generic_plan"


async def test_a_long_statement_is_prepared_once_per_connection(build):
    database = build(SCRAPERSKY_DATABASE_POOL_SIZE="3")
    long = f"SELECT length('{'x' * 40_000}')"
    async with database.engine_connection() as connection:
        values = [await connection.fetchval(long) for _ in range(3)]
        prepared = await connection.fetchval("SELECT count(*) FROM pg_prepared_statements WHERE statement = $1", long)
    assert (values, prepared) == ([40_000] * 3, 1)
