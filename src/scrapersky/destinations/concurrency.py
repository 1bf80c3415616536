"""Concurrency limits per destination: a slow destination holds few deliveries, and none of them for long."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

from scrapersky.destinations.errors import Throttled

MAX_WAIT_SECONDS = 1.0
SLOW = "The destination is slow:"  # not a failure


class ConcurrencyLimits:
    """The slots of every destination that is delivered to at the moment."""

    def __init__(self, max_wait_seconds: float = MAX_WAIT_SECONDS) -> None:
        self._max_wait_seconds = max_wait_seconds
        self._slots: dict[UUID, _Slots] = {}

    @asynccontextmanager
    async def slot(self, destination_id: UUID, max_in_flight: int) -> AsyncIterator[bool]:
        """Hold a slot of the destination; yield whether it had to wait. Raise Throttled if none is free soon."""
        slots = self._slots.setdefault(destination_id, _Slots(max_in_flight))
        slots.users += 1
        try:
            has_waited = await slots.acquire(self._max_wait_seconds)
            try:
                yield has_waited
            finally:
                slots.release()
        finally:
            slots.users -= 1
            if not slots.users:
                self._slots.pop(destination_id, None)


class _Slots:
    def __init__(self, max_in_flight: int) -> None:
        self.users = 0  # holders of a slot and waiters
        self._max_in_flight = max_in_flight
        self._free = asyncio.Semaphore(max_in_flight)
        self._changed_at = time.monotonic()

    async def acquire(self, max_wait_seconds: float) -> bool:
        is_full = self._free.locked()
        if is_full and time.monotonic() - self._changed_at > max_wait_seconds:
            raise self._slow()
        try:
            async with asyncio.timeout(max_wait_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise self._slow() from None
        self._changed_at = time.monotonic()
        return is_full

    def release(self) -> None:
        self._changed_at = time.monotonic()
        self._free.release()

    def _slow(self) -> Throttled:
        reason = f"{SLOW} {self._max_in_flight} deliveries to it are in flight."
        return Throttled(reason, timedelta(seconds=random.uniform(2, 6)))  # spread, so that not all return at once
