"""Stopping: what is begun is finished or given back, and a row does not pay for it."""

import signal
from typing import Any

from tests.faults.conftest import LONG_LEASE, Arena


async def test_a_stopping_worker_finishes_what_it_has_and_claims_nothing_more(arena: Arena):
    await arena.put(["gate", *(f"plain {n}" for n in range(50))])
    worker = arena.start(
        faults="gate", PACKING_SCHEDULER_BATCH_SIZE="1", PACKING_SCHEDULER_CONCURRENCY="1", **LONG_LEASE
    )
    await worker.told("working", label="gate")
    worker.signal(signal.SIGTERM)
    arena.gate.touch()
    assert await worker.ended() == 0
    assert worker.events("stopped")
    assert await arena.ask("SELECT packing_status FROM parcel WHERE label = 'gate'") == "Completed"
    statuses = await arena.statuses()
    assert "Processing" not in statuses
    assert statuses["Queued"] > 0
    await arena.check_so_far()


async def test_what_is_not_finished_within_the_grace_is_given_back_and_costs_no_attempt(arena: Arena):
    await arena.put(["gate", "plain 1"])
    worker = arena.start(faults="gate", SCHEDULER_SHUTDOWN_GRACE_SECONDS="0.5", **LONG_LEASE)
    await worker.told("working", label="gate")
    worker.signal(signal.SIGTERM)
    assert await worker.ended() == 0
    row = await arena.admin.fetchrow("SELECT * FROM parcel WHERE label = 'gate'")
    assert (row["packing_status"], row["packing_due_at"]) == ("Queued", None)
    assert row["packing_attempts"] - row["packing_allowance"] == 0
    arena.start()
    await arena.until_done()
    await arena.check()


async def test_a_second_signal_hurries(arena: Arena):
    await arena.put(["gate"])
    worker = arena.start(faults="gate", SCHEDULER_SHUTDOWN_GRACE_SECONDS="600", **LONG_LEASE)
    await worker.told("working", label="gate")
    worker.signal(signal.SIGTERM)
    await arena.until(
        "count(*) = 0 FROM pg_stat_activity WHERE application_name = $1", f"scrapersky {worker.pid} listen"
    )
    assert worker.exit_code is None
    worker.signal(signal.SIGTERM)
    assert await worker.ended() == 0
    assert await arena.statuses() == {"Queued": 1}
    await arena.check_so_far()


async def test_a_rolling_restart_of_four_workers_under_load_costs_nothing(arena: Arena):
    tempo: dict[str, Any] = {
        "FAULT_WORK_SECONDS": "0.05",
        "PACKING_SCHEDULER_CONCURRENCY": "3",
        "PACKING_SCHEDULER_BATCH_SIZE": "5",
        **LONG_LEASE,
    }
    crew = [arena.start(**tempo) for _ in range(4)]
    for worker in crew:
        await worker.told("started")
    for old in crew:
        await arena.put([f"plain {old.pid}-{n}" for n in range(100)])
        await old.told("working")
        new = arena.start(**tempo)
        old.signal(signal.SIGTERM)
        await new.told("started")
        assert await old.ended() == 0
    await arena.until_done()
    rescued = [event for worker in arena.workers for event in worker.events("rescued", workflow="packing")]
    assert not rescued  # nobody had to wait for a lease
    assert await arena.ask("SELECT max(packing_attempts - packing_allowance) FROM parcel") == 1
    await arena.check()
