"""Doors: a slow destination keeps its own guests waiting for a moment, and nobody else."""

import asyncio
from uuid import uuid4

import pytest

from scrapersky.destinations.concurrency import ConcurrencyLimits
from scrapersky.destinations.errors import Throttled


async def test_so_many_at_once_and_the_next_one_takes_the_place_that_is_left():
    doors, place, inside, most = ConcurrencyLimits(at_once=2), uuid4(), 0, 0

    async def visit():
        nonlocal inside, most
        async with doors.through(place):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.01)
            inside -= 1

    await asyncio.gather(*(visit() for _ in range(10)))
    assert most == 2


async def test_who_would_wait_long_is_sent_away_and_other_doors_are_open():
    doors, slow, quick, leave = ConcurrencyLimits(at_once=1, patience_seconds=0.05), uuid4(), uuid4(), asyncio.Event()

    async def stay():
        async with doors.through(slow):
            await leave.wait()

    guest = asyncio.create_task(stay())
    await asyncio.sleep(0)
    for _ in range(2):
        with pytest.raises(Throttled, match="slow") as caught:
            async with doors.through(slow):
                pytest.fail("nobody gets in")
        assert 2 <= caught.value.after.total_seconds() <= 6
        assert caught.value.costs is False
    async with doors.through(quick):
        pass
    leave.set()
    await guest
    async with doors.through(slow):
        pass
    assert doors._doors == {}
