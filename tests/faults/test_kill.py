"""Workers that die or freeze: nothing is lost, nothing is done twice."""

import asyncio
import random
import signal

import pytest

from tests.faults.conftest import LONG_LEASE, Arena


@pytest.mark.parametrize(
    ("where", "label"), [("claimed", "kill-claimed"), ("working", "kill-working"), ("written", "kill-written")]
)
async def test_a_worker_killed_at_any_moment_loses_nothing_and_doubles_nothing(arena: Arena, where, label):
    await arena.put([*(f"plain {n}" for n in range(10)), label, *(f"plain {n}" for n in range(10, 20))])
    doomed = arena.start(faults=label)
    assert await doomed.ended() == -signal.SIGKILL
    assert doomed.events("dying", where=where, label=label)
    effects_of_the_dead = await arena.ask(
        "SELECT count(*) FROM effect e JOIN parcel p ON p.id = e.parcel_id WHERE p.label = $1", label
    )
    heir = arena.start(**LONG_LEASE)
    await arena.until_done()
    assert effects_of_the_dead == 0
    assert await arena.attempts(label) == 2
    assert heir.events("rescued", workflow="packing")
    await arena.check()


async def test_a_row_of_a_killed_worker_is_completed_by_another_one(arena: Arena):
    await arena.put(["gate"])
    doomed = arena.start(faults="gate")
    await doomed.told("working", label="gate")
    arena.start()
    doomed.signal(signal.SIGKILL)
    await arena.until_done()  # how soon is measured by benchmarks/engine_faults.py
    await arena.check()


async def test_a_frozen_worker_that_thaws_after_its_lease_writes_nothing(arena: Arena):
    await arena.put(["gate", "plain 1", "plain 2"])
    frozen = arena.start(faults="gate")
    await frozen.told("working", label="gate")
    await arena.until("count(*) = 2 FROM shipment WHERE shipping_status = 'Completed'")
    frozen.signal(signal.SIGSTOP)
    heir = arena.start(**LONG_LEASE)
    await heir.told("worked", label="gate", attempts=2)
    await arena.until_done()
    arena.gate.touch()
    frozen.signal(signal.SIGCONT)
    await frozen.told("lease_lost", workflow="packing")
    frozen.signal(signal.SIGTERM)
    assert await frozen.ended() == 0
    by = await arena.ask("SELECT pid FROM effect e JOIN parcel p ON p.id = e.parcel_id WHERE p.label = 'gate'")
    assert by == heir.pid
    assert await arena.attempts("gate") == 2
    await arena.check()


async def test_a_worker_that_freezes_within_its_transaction_holds_nobody_up_for_long(arena: Arena):
    await arena.put(["freeze-written", "plain 1", "plain 2"])
    frozen = arena.start(faults="freeze-written")
    await frozen.told("freezing")
    heir = arena.start()
    await arena.until_done()
    frozen.signal(signal.SIGCONT)
    await frozen.told("lease_lost", workflow="packing")  # told by the settlement or by the heartbeat
    assert await arena.ask("SELECT array_agg(DISTINCT pid) FROM effect") == [heir.pid]
    await arena.check()


async def test_a_poison_row_dies_after_its_attempts_and_harms_no_mate(arena: Arena):
    await arena.put(["plain 1", "plain 2", "abort", "plain 3", "plain 4"])
    crashes = 0
    while crashes < 4:
        worker = arena.start(
            faults="abort",
            PACKING_SCHEDULER_MAX_ATTEMPTS="4",
            PACKING_SCHEDULER_LEASE_SECONDS="1",
            FAULT_WORK_SECONDS="0.01",
        )
        assert await worker.ended() == -signal.SIGABRT
        crashes += 1
    arena.start(PACKING_SCHEDULER_MAX_ATTEMPTS="4")
    await arena.until_done()
    letter = await arena.admin.fetchrow("SELECT * FROM dead_letter")
    assert (letter["queue"], letter["attempts"], letter["error_type"]) == ("parcel.packing", 4, "LeaseExpired")
    assert "lease expired" in letter["message"]
    assert await arena.ask("SELECT max(packing_attempts) > 1 FROM parcel WHERE label LIKE 'plain%'")
    assert await arena.statuses() == {"Completed": 4, "Error": 1}
    await arena.check(max_attempts=4)


async def test_random_kills_of_four_workers_under_load(arena: Arena):
    chance = random.Random(20261115)
    await arena.put([f"plain {n}" for n in range(200)])
    crew = [
        arena.start(FAULT_WORK_SECONDS="0.05", PACKING_SCHEDULER_CONCURRENCY="3", PACKING_SCHEDULER_BATCH_SIZE="5")
        for _ in range(4)
    ]
    for _ in range(5):
        victim = chance.randrange(4)
        done, wanted = await arena.ask("SELECT count(*) FROM effect"), chance.randrange(1, 8)
        while len(crew[victim].events("working")) < wanted:  # the others may be done before it has started
            if await arena.ask("SELECT count(*) FROM parcel WHERE packing_status = 'Queued'") < 20:
                await arena.put([f"plain {n}" for n in range(20)])
            await asyncio.sleep(0.05)
        crew[victim].signal(signal.SIGKILL)
        crew[victim] = arena.start(
            FAULT_WORK_SECONDS="0.05", PACKING_SCHEDULER_CONCURRENCY="3", PACKING_SCHEDULER_BATCH_SIZE="5"
        )
        await arena.until("count(*) >= $1 FROM effect", min(200, done + 15))
    await arena.until_done()
    assert sum(worker.exit_code == -signal.SIGKILL for worker in arena.workers) == 5
    assert await arena.ask("SELECT count(*) FROM history WHERE was = 'Processing' AND status = 'Queued'") > 0
    await arena.check()
