"""Concurrency limits: a slow destination holds few deliveries for a short time, and delays no other destination."""

import asyncio
from uuid import uuid4

import pytest

from scrapersky.destinations.concurrency import ConcurrencyLimits
from scrapersky.destinations.errors import Throttled


async def test_the_next_delivery_takes_the_slot_that_is_freed() -> None:
    limits, destination_id, in_flight, most = ConcurrencyLimits(), uuid4(), 0, 0

    async def deliver() -> None:
        nonlocal in_flight, most
        async with limits.slot(destination_id, 2):
            in_flight += 1
            most = max(most, in_flight)
            await asyncio.sleep(0.01)
            in_flight -= 1

    await asyncio.gather(*(deliver() for _ in range(10)))
    assert most == 2


async def test_a_delivery_that_would_wait_long_is_throttled_and_other_destinations_are_free() -> None:
    limits, slow, quick, finish = ConcurrencyLimits(max_wait_seconds=0.05), uuid4(), uuid4(), asyncio.Event()

    async def hold() -> None:
        async with limits.slot(slow, 1):
            await finish.wait()

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    for _ in range(2):
        with pytest.raises(Throttled, match="slow") as caught:
            async with limits.slot(slow, 1):
                pytest.fail("there is no free slot")
        assert caught.value.after is not None
        assert 2 <= caught.value.after.total_seconds() <= 6
        assert caught.value.counts is False
    async with limits.slot(quick, 1):
        pass
    finish.set()
    await holder
    async with limits.slot(slow, 1):
        pass
    assert limits._slots == {}
