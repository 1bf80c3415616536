"""Rests of providers: told to one worker, kept by all, and over when they are over."""

from datetime import timedelta

import pytest

from scrapersky.core.database import Database
from scrapersky.providers.cooldown import Cooldown, InMemoryCooldowns
from scrapersky.store.shared.provider_cooldowns import StoredCooldowns

DAY, MINUTE = (
    Cooldown(timedelta(hours=20), "the day is used up"),
    Cooldown(timedelta(minutes=1), "the minute is used up"),
)


@pytest.fixture
async def other_host(database_url, settings):
    host = Database(database_url, settings)
    yield host
    await host.close()


async def test_what_one_host_is_told_another_keeps(database, other_host):
    await StoredCooldowns(database).start("google_places details", DAY)
    left = await StoredCooldowns(other_host).remaining("google_places details")
    assert left is not None
    assert left.reason == DAY.reason
    assert DAY.after - timedelta(minutes=1) < left.after <= DAY.after
    assert await StoredCooldowns(other_host).remaining("google_places search") is None


async def test_a_shorter_rest_does_not_end_a_longer_one_and_a_rest_that_is_over_is_none(database, admin):
    cooldowns = StoredCooldowns(database)
    await cooldowns.start("x", DAY)
    await cooldowns.start("x", MINUTE)
    left = await cooldowns.remaining("x")
    assert left is not None
    assert left.reason == DAY.reason
    await admin.execute("UPDATE provider_cooldown SET until = now() - interval '1 second'")
    assert await cooldowns.remaining("x") is None
    await cooldowns.start("x", MINUTE)
    assert (await cooldowns.remaining("x")).reason == MINUTE.reason


async def test_a_lone_process_keeps_them_alike():
    now = 0.0
    cooldowns = InMemoryCooldowns(now=lambda: now)
    assert await cooldowns.remaining("x") is None
    await cooldowns.start("x", DAY)
    await cooldowns.start("x", MINUTE)
    assert await cooldowns.remaining("x") == DAY
    now = 20 * 3600 + 1
    assert await cooldowns.remaining("x") is None
    await cooldowns.start("x", MINUTE)
    assert await cooldowns.remaining("x") == MINUTE
