"""`scrapersky worker` in a process of its own: how it stops, how it ends by itself, and what it leaves behind."""

import asyncio
import json
import os
import signal
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

SLOW_LINE = "tests.cli.slow_line"


@pytest.fixture
async def parcel(admin: asyncpg.Connection, tenant: UUID) -> UUID:
    """A parcel in the queue of the packers."""
    found: UUID = await admin.fetchval(
        "INSERT INTO parcel (tenant_id, label, packing_status) VALUES ($1, 'parcel 7', 'Queued') RETURNING id", tenant
    )
    return found


async def until_in_hand(admin: asyncpg.Connection, parcel: UUID) -> None:
    async with asyncio.timeout(90):
        while await admin.fetchval("SELECT packing_status FROM parcel WHERE id = $1", parcel) != "Processing":
            await asyncio.sleep(0.02)


async def test_sigterm_lets_work_finish_and_leaves_with_zero(process, database_url, admin, parcel) -> None:
    worker = process("worker", module=SLOW_LINE, DATABASE_URL=database_url, PACKING="0.5")
    await until_in_hand(admin, parcel)
    worker.tell(signal.SIGTERM)
    said = await worker.leave()
    assert said.code == 0, said.err
    row = await admin.fetchrow("SELECT packing_status, weighing_status FROM parcel WHERE id = $1", parcel)
    assert tuple(row) == ("Completed", "Queued")  # finished and handed over, and nothing more was begun
    assert await admin.fetchval("SELECT count(*) FROM worker") == 0


async def test_a_second_sigterm_hands_work_back_at_once_and_uncounted(process, database_url, admin, parcel) -> None:
    worker = process("worker", module=SLOW_LINE, DATABASE_URL=database_url, PACKING="600")
    await until_in_hand(admin, parcel)
    async with asyncio.timeout(120):  # the row itself would take 600 seconds
        while "immediate_shutdown_requested" not in worker.err:
            worker.tell(signal.SIGTERM)  # two that arrive at the same moment may count as one
            await asyncio.sleep(0.1)
        said = await worker.leave(240)
    assert said.code == 0, said.err
    row = await admin.fetchrow(
        "SELECT packing_status, packing_attempts - packing_allowance AS tries FROM parcel WHERE id = $1", parcel
    )
    assert tuple(row) == ("Queued", 0)


async def test_a_closed_terminal_which_sends_several_signals_lets_work_finish(
    process, database_url, admin, parcel
) -> None:
    worker = process("worker", module=SLOW_LINE, DATABASE_URL=database_url, PACKING="1")
    await until_in_hand(admin, parcel)
    for _ in range(3):
        worker.tell(signal.SIGHUP)
        await asyncio.sleep(0.1)
    said = await worker.leave()
    assert said.code == 0, said.err
    assert await admin.fetchval("SELECT packing_status FROM parcel WHERE id = $1", parcel) == "Completed"


async def test_a_run_that_is_interrupted_hands_its_row_back(process, database_url, admin, parcel) -> None:
    run = process("run", "packing", module=SLOW_LINE, DATABASE_URL=database_url, PACKING="600")
    await until_in_hand(admin, parcel)
    run.tell(signal.SIGTERM)
    said = await run.leave()
    assert (said.code, said.out) == (130, "")
    assert "Traceback" not in said.err
    assert await admin.fetchval("SELECT packing_status FROM parcel WHERE id = $1", parcel) == "Queued"


async def test_until_idle_empties_the_line_and_ends_by_itself(process, database_url, admin, parcel) -> None:
    said = await process("worker", "--until-idle", module=SLOW_LINE, DATABASE_URL=database_url, PACKING="0").leave()
    assert said.code == 0, said.err
    assert await admin.fetchval("SELECT shipping_status FROM shipment WHERE parcel_id = $1", parcel) == "Completed"


async def test_until_idle_does_not_wait_for_a_paused_queue(process, database_url, admin, parcel) -> None:
    await admin.execute("INSERT INTO workflow_control (workflow, paused_at) VALUES ('weighing', now())")
    said = await process("worker", "--until-idle", module=SLOW_LINE, DATABASE_URL=database_url, PACKING="0").leave()
    assert said.code == 0, said.err
    row = await admin.fetchrow("SELECT packing_status, weighing_status FROM parcel WHERE id = $1", parcel)
    assert tuple(row) == ("Completed", "Queued")


async def test_a_second_process_joins_the_embedded_server_and_says_so(process, home: Path) -> None:
    worker = process("worker", SCRAPERSKY_DATA_DIR=str(home))
    await worker.until_said("scheduler_started")
    assert "embedded_postgres_started" in worker.err
    assert "Warning" not in worker.err
    loud = {"SCRAPERSKY_DATA_DIR": str(home), "SCRAPERSKY_LOG_LEVEL": "info"}
    status = await process("status", "--json", **loud).leave()
    assert "embedded_postgres_reused" in status.err
    assert status.code == 0, status.err
    assert json.loads(status.out)["degraded"] == []
    worker.tell(signal.SIGINT)
    said = await worker.leave()
    assert said.code == 0, said.err
    assert not (home / "postgres" / "postmaster.pid").exists()  # the last one to leave has stopped it


async def test_an_embedded_server_that_dies_is_started_again_by_the_worker(process, home: Path) -> None:
    worker = process("worker", SCRAPERSKY_DATA_DIR=str(home))
    await worker.until_said("scheduler_started")
    running = home / "postgres" / "postmaster.pid"
    os.kill(int(running.read_text().splitlines()[0]), signal.SIGKILL)
    await worker.until_said("embedded_postgres_restarted", 240)
    status = await process("status", "--json", SCRAPERSKY_DATA_DIR=str(home)).leave()
    assert status.code == 0, status.err
    worker.tell(signal.SIGTERM)
    said = await worker.leave()
    assert said.code == 0, said.err
    assert not running.exists()
