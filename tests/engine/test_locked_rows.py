"""Somebody holds one row locked, in a console left open over lunch: its mates must not suffer for it."""

import asyncio

import pytest

from scrapersky.core import database as core
from scrapersky.core.database import Database
from scrapersky.engine.loop import run_job_loop
from scrapersky.sandbox.example_workflows import example_pipeline
from tests.conftest import processors_of

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) SELECT $1, 'p', 'Queued' FROM generate_series(1, 20)"
COUNTS = "SELECT packing_status, count(*) FROM parcel GROUP BY 1"


@pytest.fixture
async def hasty(database_url, settings, monkeypatch):
    """A database whose engine waits for no lock longer than a moment."""
    monkeypatch.setitem(core.ENGINE_SETTINGS, "lock_timeout", "100ms")
    database = Database(database_url, settings)
    yield database
    await database.close()


async def until_in_hand(admin) -> None:
    async with asyncio.timeout(90):
        while await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Processing'") < 20:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("outcome", ["Completed", "Queued"])
async def test_a_locked_row_is_left_to_its_lease_and_the_others_are_settled(hasty, settings, admin, tenant, outcome):
    await admin.execute(ADD, tenant)
    line = example_pipeline(seconds=2, tears=0.0 if outcome == "Completed" else 1.0)
    processor = processors_of(line, hasty, settings, lease_seconds=10, concurrency=20, breaker_error_rate=1)["packing"]
    cycle = asyncio.create_task(run_job_loop(processor))
    await until_in_hand(admin)
    async with admin.transaction():
        await admin.execute("SELECT 1 FROM parcel LIMIT 1 FOR UPDATE")
        ended = await cycle
        assert dict(await admin.fetch(COUNTS)) == {outcome: 19, "Processing": 1}
        assert ended.lost == 1


async def test_a_locked_row_does_not_keep_the_others_from_their_heartbeat(hasty, settings, admin, tenant):
    await admin.execute(ADD, tenant)
    processor = processors_of(example_pipeline(seconds=6), hasty, settings, lease_seconds=3, concurrency=20)["packing"]
    cycle = asyncio.create_task(run_job_loop(processor))
    await until_in_hand(admin)
    async with admin.transaction():
        await admin.execute("SELECT 1 FROM parcel LIMIT 1 FOR UPDATE")
        ended = await cycle
        assert dict(await admin.fetch(COUNTS)) == {"Completed": 19, "Processing": 1}
        assert ended.lost == 1
