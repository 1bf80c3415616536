"""One row, one workflow or one host in trouble: its neighbours go on."""

import asyncio
import signal
import time
from typing import Any

import asyncpg
import pytest

from tests.faults.conftest import LONG_LEASE, Arena


async def test_one_bad_row_of_a_batch_fails_alone(arena: Arena):
    labels = [*(f"plain {n}" for n in range(7)), "nul", *(f"plain {n}" for n in range(7, 49))]
    await arena.put(labels)
    together: dict[str, Any] = {"PACKING_SCHEDULER_BATCH_SIZE": "50", "PACKING_SCHEDULER_CONCURRENCY": "50"}
    arena.start(PACKING_SCHEDULER_MAX_ATTEMPTS="2", **together, **LONG_LEASE)
    await arena.until_done()
    assert await arena.statuses() == {"Completed": 49, "Error": 1}
    bad = await arena.admin.fetchrow("SELECT * FROM parcel WHERE label = 'nul'")
    assert bad["packing_attempts"] == 2
    assert "DataError" in bad["packing_error"] or "0x00" in bad["packing_error"]
    assert await arena.ask("SELECT max(packing_attempts) FROM parcel WHERE label <> 'nul'") == 1
    await arena.check(max_attempts=2)


async def test_a_write_that_fails_like_a_lost_connection_is_not_taken_for_one(arena: Arena):
    await arena.put(["plain 1", "no-file", "plain 2"])
    arena.start(PACKING_SCHEDULER_MAX_ATTEMPTS="2", **LONG_LEASE)
    await arena.until_done()
    assert await arena.statuses() == {"Completed": 2, "Error": 1}
    error = await arena.ask("SELECT packing_error FROM parcel WHERE label = 'no-file'")
    assert error == "FileNotFoundError: the drawer for the notes is gone"
    await arena.check(max_attempts=2)


async def test_a_hanging_workflow_does_not_stop_another_one_in_its_process(arena: Arena):
    async def weigh(count: int) -> None:
        await arena.admin.execute(
            "INSERT INTO parcel (tenant_id, label, packing_status, weighing_status) "
            "SELECT $1, 'weigh ' || n, 'Completed', 'Queued' FROM generate_series(1, $2::int) n",
            arena.tenants[0],
            count,
        )
        await arena.until("count(*) = 0 FROM parcel WHERE weighing_status IN ('Queued', 'Processing')")

    worker = arena.start(faults="hang", PACKING_SCHEDULER_TIMEOUT_SECONDS="600", PACKING_SCHEDULER_CONCURRENCY="5")
    await worker.told("started")
    await arena.put([f"hang {n}" for n in range(30)])
    await worker.told("working", count=5)
    await weigh(300)  # all of them, while the hanging rows have 600 s
    assert await arena.ask("SELECT count(*) FROM parcel WHERE packing_status = 'Processing'") >= 5


async def test_work_that_ignores_its_cancellation_is_left_behind_and_the_others_go_on(arena: Arena):
    await arena.put(["deaf", *(f"plain {n}" for n in range(20))])
    worker = arena.start(
        faults="deaf",
        PACKING_SCHEDULER_TIMEOUT_SECONDS="1",
        PACKING_SCHEDULER_CONCURRENCY="1",
        PACKING_SCHEDULER_BATCH_SIZE="5",
        PACKING_SCHEDULER_MAX_ATTEMPTS="1",
    )
    await worker.told("ignored", label="deaf")
    await arena.until("count(*) = 20 FROM parcel WHERE label LIKE 'plain%' AND packing_status = 'Completed'")
    await worker.told("lease_lost", where="timeout ignored")
    await arena.until("packing_status = 'Error' FROM parcel WHERE label = 'deaf'")
    arena.gate.touch()  # now it comes back, to a row that is no longer its own
    await worker.told("worked", label="deaf")
    await arena.until_done()
    await arena.check(max_attempts=1)


async def test_a_blocked_event_loop_costs_its_own_rows_only_time(arena: Arena):
    await arena.put(["block", *(f"plain {n}" for n in range(20))])
    blocked = arena.start(faults="block")
    await blocked.told("working", label="block")
    healthy = arena.start()
    await healthy.told("worked", label="block")  # the lease of the blocked one had run out
    arena.gate.touch()
    await blocked.told("worked", label="block")
    await arena.until_done()
    await arena.put([f"later {n}" for n in range(10)])
    healthy.signal(signal.SIGTERM)
    assert await healthy.ended() == 0
    await arena.until_done()
    await arena.check()


async def test_a_host_that_froze_while_it_reported_does_not_stop_the_others(arena: Arena):
    worker = arena.start()
    await arena.put(["plain 0"])
    await arena.until_done()
    frozen = await asyncpg.connect(arena.url)
    try:
        await frozen.execute("BEGIN; SELECT * FROM workflow_control FOR UPDATE")
        await arena.put([f"plain {n}" for n in range(1, 21)])
        await arena.until_done()  # although the lock is still held
    finally:
        await frozen.close()
    assert worker.exit_code is None
    await arena.check()


async def test_five_schedulers_do_each_piece_of_work_once(arena: Arena):
    await arena.admin.execute(
        "CREATE TABLE slot (name text, at timestamptz DEFAULT clock_timestamp(), pid int);"
        "CREATE FUNCTION note_slot() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT "
        "AS $$ BEGIN INSERT INTO slot (name) VALUES (NEW.name); RETURN NULL; END $$;"
        "CREATE TRIGGER noted AFTER INSERT OR UPDATE OF ran_at ON maintenance FOR EACH ROW EXECUTE FUNCTION note_slot()"
    )
    crew = [arena.start(FAULT_STATISTICS_SECONDS="1", FAULT_WORK_SECONDS="0.01", **LONG_LEASE) for _ in range(5)]
    for worker in crew:
        await worker.told("started")
    for batch in range(6):
        await arena.put([f"plain {batch}-{n}" for n in range(25)])
        await arena.until("count(*) >= $1 FROM slot WHERE name = 'statistics'", batch + 1)
    await arena.until_done()
    gaps = await arena.ask(
        "SELECT min(extract(epoch FROM at - before)) FROM (SELECT at, lag(at) OVER (ORDER BY at) AS before FROM slot "
        "WHERE name = 'statistics') s"
    )
    assert gaps >= 0.85  # one slot is a second, a little early is on time
    assert await arena.ask("SELECT max(packing_attempts) FROM parcel") == 1
    busy = {event["pid"] for worker in crew for event in worker.events("worked")}
    assert len(busy) > 1
    await arena.check()


@pytest.mark.parametrize("skew", [3600, -3600])
async def test_a_wrong_clock_on_one_host_changes_nothing(arena: Arena, skew: int):
    one_at_a_time: dict[str, Any] = {"PACKING_SCHEDULER_CONCURRENCY": "1", "PACKING_SCHEDULER_BATCH_SIZE": "1"}
    one_at_a_time |= {"PACKING_SCHEDULER_MAX_BATCH_SIZE": "1", "PACKING_SCHEDULER_LEASE_SECONDS": "6"}
    wrong = arena.start(faults="gate", clock_skew=skew, **one_at_a_time)
    right = arena.start(faults="gate", **one_at_a_time)
    for worker, error in ((wrong, skew), (right, 0)):
        started = await worker.told("started")
        assert abs(started[0]["clock"] - time.time() - error) < 120
    await arena.put(["gate 1", "gate 2"])
    for worker in (wrong, right):
        await worker.told("working")
    held_for = time.monotonic() + 2 * 6
    while time.monotonic() < held_for:  # each keeps its row by its heartbeat, and sweeps away nobody else's
        await asyncio.sleep(0.1)
        assert await arena.statuses() == {"Processing": 2}
    arena.gate.touch()
    await arena.put([f"plain {n}" for n in range(30)])
    await arena.until_done()
    assert await arena.ask("SELECT max(packing_attempts) FROM parcel") == 1
    await arena.check()
