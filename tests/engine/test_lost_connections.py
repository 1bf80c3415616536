"""A lost connection inside the work of a row costs the row nothing, in any statement of the work."""

import asyncio
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import text

from scrapersky.core.database import Database, is_connection_error
from scrapersky.core.errors import ConnectionLost
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.pipeline import Pipeline
from scrapersky.sandbox.example_workflows import Packing, Shipping, Weighing
from tests.conftest import processors_of

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) VALUES ($1, 'p', 'Queued')"


class LosingPacking(Packing):
    """Uses the database in its work, as host limits, journals and budgets do; its connection breaks."""

    def __init__(self, lose) -> None:
        super().__init__()
        self._lose = lose

    async def work(self, label: str) -> None:
        await self._lose()


async def run_losing(database: Database, settings, lose) -> None:
    pipeline = Pipeline([LosingPacking(lose), Weighing(), Shipping()])
    await run_job_loop(processors_of(pipeline, database, settings, breaker_min_rows=1)["packing"])


async def assert_row_unharmed(admin) -> None:
    row = await admin.fetchrow("SELECT * FROM parcel")
    assert row["packing_status"] == "Queued"
    assert row["packing_attempts"] == row["packing_allowance"] == 1
    control = await admin.fetchrow("SELECT * FROM workflow_control WHERE workflow = 'packing'")
    assert (control["breaker"], control["window_failures"]) == ("closed", 0)


async def test_a_session_of_a_tenant_that_breaks_costs_no_attempt(database, settings, admin, tenant):
    await admin.execute(ADD, tenant)

    async def lose() -> None:
        async with database.session(tenant) as session:
            pid = await session.scalar(text("SELECT pg_backend_pid()"))
            await admin.execute("SELECT pg_terminate_backend($1)", pid)
            await session.execute(text("SELECT pg_sleep(30)"))

    await run_losing(database, settings, lose)
    await assert_row_unharmed(admin)


async def test_a_connection_of_the_engine_that_breaks_costs_no_attempt(database, settings, admin, tenant):
    await admin.execute(ADD, tenant)

    async def lose() -> None:
        async with database.engine_connection() as connection:
            await connection.execute("SELECT 1")
            pid = connection.get_server_pid()
            await admin.execute("SELECT pg_terminate_backend($1)", pid)
            await connection.execute("SELECT pg_sleep(30)")

    await run_losing(database, settings, lose)
    await assert_row_unharmed(admin)


async def test_a_server_that_became_a_standby_costs_no_attempt_and_is_left(database, settings, admin, tenant):
    await admin.execute(ADD, tenant)
    pids: list[int] = []

    async def lose() -> None:
        async with database.session(tenant) as session:
            pids.append(await session.scalar(text("SELECT pg_backend_pid()")))
            await session.execute(text("SET TRANSACTION READ ONLY"))
            await session.execute(text("UPDATE contact SET name = name"))

    await run_losing(database, settings, lose)
    await assert_row_unharmed(admin)
    async with database.session(tenant) as session:
        assert await session.scalar(text("SELECT pg_backend_pid()")) not in pids


async def test_a_refused_connection_costs_no_attempt(database, settings, admin, tenant):
    await admin.execute(ADD, tenant)
    nowhere = Database("postgresql://127.0.0.1:1/nowhere", settings)

    async def lose() -> None:
        async with nowhere.session(tenant) as session:
            await session.execute(text("SELECT 1"))

    await run_losing(database, settings, lose)
    await assert_row_unharmed(admin)


async def test_a_file_that_is_missing_is_no_lost_connection(database, tenant):
    async def use() -> None:
        async with database.session(tenant) as session:
            await session.execute(text("SELECT 1"))
            Path("/nowhere/at/all").read_bytes()

    with pytest.raises(FileNotFoundError):
        await use()


async def test_a_slow_part_beside_the_database_is_no_lost_connection(database, tenant):
    with pytest.raises(TimeoutError):
        async with database.session(tenant), asyncio.timeout(0):
            await asyncio.Event().wait()


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.InternalClientError("cannot switch to state 12"),
        asyncpg.ReadOnlySQLTransactionError("cannot execute UPDATE in a read-only transaction"),
        asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation"),
        ConnectionLost("…"),
    ],
)
def test_the_drivers_words_for_a_lost_connection(error):
    assert is_connection_error(error)
