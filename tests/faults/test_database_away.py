"""The database goes away in every way it can: work waits, nothing is lost, nothing is done twice."""

import asyncio
import signal

import asyncpg
import pytest

from tests.faults.conftest import Arena, OwnServer, patience
from tests.faults.proxy import Proxy


async def test_a_commit_whose_answer_is_lost_is_done_once(arena: Arena, proxy: Proxy):
    await arena.put([*(f"plain {n}" for n in range(10)), "lose-commit 1", "lose-commit 2"])
    worker = arena.start(faults="lose-commit")
    await arena.until_done()
    assert proxy.lost_commits >= 1
    assert worker.events("losing")
    await worker.told("lease_lost", workflow="packing")  # the second try was refused by the fence, or the heartbeat
    await arena.check()


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_a_restart_of_the_server_during_a_drain(own_arena: Arena, own_server: OwnServer, mode):
    await own_arena.put([f"plain {n}" for n in range(300)])
    crew = [own_arena.start(FAULT_WORK_SECONDS="0.05", PACKING_SCHEDULER_CONCURRENCY="4") for _ in range(2)]
    await own_arena.until("count(*) >= 20 FROM effect")
    before = await own_arena.ask("SELECT count(*) FROM effect")
    await own_arena.admin.close()
    await asyncio.to_thread(own_server.restart, mode)
    own_arena.admin = await asyncpg.connect(own_arena.url)
    assert before < 300
    await own_arena.until_done()
    assert [worker.exit_code for worker in crew] == [None, None]
    await own_arena.check()


async def test_a_server_that_refuses_for_a_while_is_waited_for_during_a_drain(arena: Arena, proxy: Proxy):
    await arena.put([f"plain {n}" for n in range(150)])
    worker = arena.start(FAULT_WORK_SECONDS="0.05", PACKING_SCHEDULER_CONCURRENCY="4")
    await arena.until("count(*) >= 10 FROM effect")
    await proxy.refuse()
    theirs = f"scrapersky {worker.pid} %"
    await arena.until("count(*) = 0 FROM pg_stat_activity WHERE application_name LIKE $1", theirs)
    done = await arena.ask("SELECT count(*) FROM effect")  # a COMMIT that was on its way has arrived
    await worker.told("lease_lost", where="database unavailable")
    await asyncio.sleep(2)  # the fault itself lasts so long
    assert await arena.ask("SELECT count(*) FROM effect") == done < 150
    await proxy.start()
    await arena.until_done()
    assert worker.exit_code is None
    await arena.check()


async def test_a_server_that_refuses_for_a_while_is_waited_for_at_idle(arena: Arena, proxy: Proxy):
    worker = arena.start()
    await worker.told("started")
    await arena.until("count(*) > 0 FROM worker")
    await proxy.refuse()
    await arena.put([f"plain {n}" for n in range(5)])
    await asyncio.sleep(2)  # the fault itself lasts so long
    assert await arena.ask("SELECT count(*) FROM effect") == 0
    await proxy.start()
    await arena.until_done()
    assert worker.exit_code is None
    await arena.check()


async def test_connections_that_are_reset_again_and_again_cost_nothing_but_time(arena: Arena, proxy: Proxy):
    await arena.put([f"plain {n}" for n in range(120)])
    worker = arena.start(FAULT_WORK_SECONDS="0.02", PACKING_SCHEDULER_CONCURRENCY="4")
    for wanted in (10, 30, 50, 70, 90):
        await arena.until("count(*) >= $1 FROM effect", wanted)
        proxy.reset()
    await arena.until_done()
    assert proxy.accepted > 5
    assert worker.exit_code is None
    await arena.check()


async def test_a_partition_without_a_word_ends_the_work_in_time_and_heals(arena: Arena, proxy: Proxy):
    await arena.put(["gate", *(f"plain {n}" for n in range(30))])
    cut_off = arena.start(faults="gate", FAULT_WORK_SECONDS="0.02", SCRAPERSKY_DATABASE_STATEMENT_TIMEOUT_SECONDS="2")
    await cut_off.told("working", label="gate")
    proxy.hang()
    # It lets go of its rows by its own clock, before anybody else may have them, although no statement has failed.
    lost = await cut_off.told("lease_lost", where="database unavailable", workflow="packing")
    arena.url = arena.direct_url
    heir = arena.start()
    done = await heir.told("working", label="gate")
    assert lost[0]["at"] < done[0]["at"]
    await arena.until("packing_status = 'Completed' FROM parcel WHERE label = 'gate'")
    proxy.flow()
    arena.gate.touch()
    await arena.until_done()
    await arena.check_so_far()
    await arena.put([f"late {n}" for n in range(20)])
    heir.signal(signal.SIGTERM)
    assert await heir.ended() == 0
    await arena.until_done()  # by the one that was cut off
    assert cut_off.exit_code is None
    await arena.check()


async def test_statements_that_hang_are_given_up_and_tried_again(arena: Arena, proxy: Proxy):
    await arena.put([f"plain {n}" for n in range(60)])
    worker = arena.start(FAULT_WORK_SECONDS="0.02", SCRAPERSKY_DATABASE_STATEMENT_TIMEOUT_SECONDS="1")
    await arena.until("count(*) >= 5 FROM effect")
    proxy.hang()
    accepted = proxy.accepted
    async with patience("it gives up its hanging connections and asks for new ones"):
        while proxy.accepted < accepted + 2:
            await asyncio.sleep(0.02)
    proxy.flow()
    await arena.until_done()
    assert worker.exit_code is None
    await arena.check()
