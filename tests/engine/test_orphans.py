"""Rows of a worker that was killed: free at once where nobody else is at work, and left alone where somebody is."""

import asyncio

import asyncpg
import pytest

from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.orphans import is_only_process, release_orphans
from scrapersky.sandbox.example_workflows import example_pipeline
from tests.conftest import processors_of


@pytest.fixture
async def held(admin, tenant):
    """Twenty parcels in the hands of somebody, for another minute."""
    await admin.execute(
        "INSERT INTO parcel (tenant_id, label, packing_status) SELECT $1, 'x', 'Queued' FROM generate_series(1, 20)",
        tenant,
    )
    await admin.execute(
        "UPDATE parcel SET packing_status = 'Processing', packing_attempts = 1, "
        "packing_due_at = now() + interval '1 minute'"
    )


async def test_what_nobody_holds_any_more_is_worked_on_at_once(database, settings, admin, held):
    async with database.engine_connection() as connection:
        assert await is_only_process(connection)
        assert await release_orphans(connection, example_pipeline()) == 20
        assert await release_orphans(connection, example_pipeline()) == 0
    await run_job_loop(processors_of(example_pipeline(), database, settings)["packing"])
    rows = await admin.fetch("SELECT packing_status, packing_attempts FROM parcel")
    assert {tuple(row) for row in rows} == {("Completed", 2)}, "the lost attempt counts, and fences late writes"


@pytest.mark.parametrize("name", ["scrapersky 1", "scrapersky 1 listen"])
async def test_nobody_is_alone_while_another_worker_lives(database, database_url, name):
    listening = await database.listen("parcels", lambda payload: None)  # our own
    other = await asyncpg.connect(database_url, server_settings={"application_name": name})
    async with database.engine_connection() as connection:
        assert not await is_only_process(connection)
        await other.close()
        async with asyncio.timeout(90):
            while not await is_only_process(connection):  # the server needs a moment to see it leave
                await asyncio.sleep(0.01)
    await listening.close()
