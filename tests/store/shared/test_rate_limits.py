"""Buckets on PostgreSQL: what is in them is taken once, whoever asks, and from wherever."""

import asyncio
from typing import Any

import pytest

from scrapersky.core.database import Database
from scrapersky.engine.maintenance import run_periodic
from scrapersky.maintenance.prune import PruneRateLimits
from scrapersky.store.shared.rate_limits import take_tokens

SLOW = 0.001  # tokens a minute: nothing comes back while a test runs


async def take(connection: Any, key: str, per_minute: float, burst: float, cost: float = 1) -> float:
    """Take tokens; return the seconds to wait, 0 if they were taken."""
    return (await take_tokens(connection, key, per_minute, burst, cost)).wait


async def test_a_full_bucket_gives_its_burst_and_then_says_how_long(database):
    async with database.engine_connection() as connection:
        assert [await take(connection, "a", 60, burst=3) for _ in range(3)] == [0, 0, 0]
        assert 0 < await take(connection, "a", 60, burst=3) <= 1


async def test_what_is_left_is_told_and_a_refusal_takes_nothing(database):
    async with database.engine_connection() as connection:
        assert (await take_tokens(connection, "a", SLOW, burst=2)).left == 1
        for _ in range(2):
            refused = await take_tokens(connection, "a", SLOW, burst=2, cost=2)
            assert refused.wait > 0
            assert refused.left == pytest.approx(1, abs=0.01)
        assert await take(connection, "a", SLOW, burst=2) == 0


async def test_it_fills_by_the_clock_of_the_database_and_never_overflows(database, admin):
    async with database.engine_connection() as connection:
        assert [await take(connection, "a", 60, burst=2) for _ in range(2)] == [0, 0]
        await admin.execute("UPDATE rate_limit SET refilled_at = refilled_at - interval '1 second'")
        assert await take(connection, "a", 60, burst=2) == 0
        await admin.execute("UPDATE rate_limit SET refilled_at = refilled_at - interval '1 hour'")
        assert [await take(connection, "a", 60, burst=2) for _ in range(2)] == [0, 0]
        assert await take(connection, "a", 60, burst=2) > 0


async def test_more_than_it_ever_holds_is_refused(database):
    async with database.engine_connection() as connection:
        assert await take(connection, "a", 60, burst=3, cost=5) > 0


async def test_processes_share_one_bucket_exactly(database_url, settings):
    """Twenty takers in two pools, as two processes would be: not one token more than there are."""
    databases = [Database(database_url, settings), Database(database_url, settings)]

    async def taker(database):
        taken = 0
        for _ in range(10):
            async with database.engine_connection() as connection:
                taken += await take(connection, "shared", SLOW, burst=70) == 0
        return taken

    try:
        assert sum(await asyncio.gather(*(taker(database) for database in databases * 10))) == 70
    finally:
        for database in databases:
            await database.close()


async def test_keys_do_not_disturb_each_other(database):
    async with database.engine_connection() as connection:
        assert await take(connection, "a", SLOW, burst=1) == 0
        assert await take(connection, "a", SLOW, burst=1) > 0
        assert await take(connection, "b", SLOW, burst=1) == 0


async def test_old_buckets_are_forgotten(database, admin):
    async with database.engine_connection() as connection:
        await take(connection, "old", 60, burst=1)
        await take(connection, "new", 60, burst=1)
    await admin.execute("UPDATE rate_limit SET refilled_at = now() - interval '2 days' WHERE key = 'old'")
    await run_periodic(PruneRateLimits(), database)
    assert [row[0] for row in await admin.fetch("SELECT key FROM rate_limit")] == ["new"]
