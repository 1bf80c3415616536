"""Politeness across processes: the shared limits on PostgreSQL keep what the in-process ones keep."""

import asyncio
from datetime import timedelta

import pytest
from tests.conftest import make_settings

from scrapersky.core.database import Database
from scrapersky.crawl.politeness.host_limits import NotYet, Permit
from scrapersky.engine.maintenance import run_periodic
from scrapersky.maintenance.prune import PruneHostLimits
from scrapersky.store.shared.host_limits import SharedHostLimits


@pytest.fixture
async def hosts(database_url):
    """Limits as two processes would have them, each with a pool of its own."""
    opened: list[Database] = []

    def make(slots: int = 2, delay: float = 0, lease: float = 60) -> SharedHostLimits:
        settings = make_settings(
            database_url,
            CRAWL_MAX_CONCURRENCY_PER_HOST=str(slots),
            CRAWL_HOST_DELAY_SECONDS=str(delay),
            CRAWL_HOST_LEASE_SECONDS=str(lease),
        )
        opened.append(Database(database_url, settings))
        return SharedHostLimits(opened[-1], settings)

    yield make
    for database in opened:
        await database.close()


async def test_no_more_slots_than_allowed_whoever_asks(hosts):
    first, second = hosts(slots=3), hosts(slots=3)
    answers = await asyncio.gather(*(limits.acquire("a.example") for limits in [first, second] * 10))
    assert sum(isinstance(answer, Permit) for answer in answers) == 3


async def test_a_slot_given_back_can_be_taken_again(hosts):
    first, second = hosts(slots=1), hosts(slots=1)
    permit = await first.acquire("a.example")
    assert isinstance(await second.acquire("a.example"), NotYet)
    await first.release(permit)
    assert isinstance(await second.acquire("a.example"), Permit)


async def test_hosts_do_not_disturb_each_other(hosts):
    limits = hosts(slots=1)
    assert isinstance(await limits.acquire("a.example"), Permit)
    assert isinstance(await limits.acquire("b.example"), Permit)


async def test_the_delay_holds_between_two_visits_of_two_processes(hosts):
    first, second = hosts(slots=5, delay=30), hosts(slots=5, delay=30)
    await first.release(await first.acquire("a.example"))
    answer = await second.acquire("a.example")
    assert isinstance(answer, NotYet)
    assert timedelta(seconds=25) < answer.after <= timedelta(seconds=30)


async def test_a_pause_keeps_everybody_away(hosts):
    first, second = hosts(), hosts()
    await first.release(await first.acquire("a.example"), pause=timedelta(minutes=5))
    answer = await second.acquire("a.example")
    assert isinstance(answer, NotYet)
    assert timedelta(minutes=4) < answer.after <= timedelta(minutes=5)


async def test_the_slot_of_a_killed_worker_comes_back(hosts, admin):
    limits = hosts(slots=1)
    assert isinstance(await limits.acquire("a.example"), Permit)  # and never released
    await admin.execute("UPDATE host_limit SET permits = jsonb_build_object('x', extract(epoch FROM now()) - 1)")
    assert isinstance(await limits.acquire("a.example"), Permit)


async def test_idle_hosts_are_forgotten(hosts, database, admin):
    limits = hosts()
    await limits.release(await limits.acquire("a.example"))
    await limits.release(await limits.acquire("b.example"))
    await admin.execute("UPDATE host_limit SET next_allowed_at = now() - interval '2 hours' WHERE host = 'a.example'")
    await run_periodic(PruneHostLimits(), database)
    assert [row[0] for row in await admin.fetch("SELECT host FROM host_limit")] == ["b.example"]


async def test_two_processes_ask_for_many_hosts_in_any_order_and_never_wait_in_a_ring(hosts):
    first, second = hosts(slots=5), hosts(slots=5)
    names = [f"{number}.example" for number in range(60)]

    async def visit(limits: SharedHostLimits, order: int) -> list[Permit | NotYet]:
        permits = await asyncio.gather(*(limits.acquire(name) for name in names[::order]))
        await asyncio.gather(*(limits.release(permit) for permit in permits if isinstance(permit, Permit)))
        return permits

    for _ in range(5):
        answers = await asyncio.gather(visit(first, 1), visit(second, -1))
        assert all(isinstance(permit, Permit) for permits in answers for permit in permits)
