"""The door of each destination: so many at once, and nobody stands before a slow one for long."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

from scrapersky.destinations.errors import Throttled

AT_ONCE = 20  # deliveries of one process to one destination
PATIENCE_SECONDS = 1.0
SLOW = "The destination is slow, and others are on their way to it."


class ConcurrencyLimits:
    """Keeps one slow receiver from holding all hands: who would have to wait comes again later."""

    def __init__(self, at_once: int = AT_ONCE, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._at_once = at_once
        self._patience = patience_seconds
        self._doors: dict[UUID, _Door] = {}

    @asynccontextmanager
    async def through(self, destination_id: UUID, at_once: int | None = None) -> AsyncIterator[bool]:
        """A place at the destination, and whether one had to wait; TooMany when there is none for long."""
        door = self._doors.setdefault(destination_id, _Door(at_once or self._at_once))
        door.guests += 1
        try:
            waited = await door.enter(self._patience)
            try:
                yield waited
            finally:
                door.leave()
        finally:
            door.guests -= 1
            if not door.guests:
                self._doors.pop(destination_id, None)


class _Door:
    def __init__(self, at_once: int) -> None:
        self.guests = 0
        self._places = asyncio.Semaphore(at_once)
        self._moved_at = time.monotonic()

    async def enter(self, patience: float) -> bool:
        is_full = self._places.locked()
        if is_full and time.monotonic() - self._moved_at > patience:
            raise _slow()
        try:
            async with asyncio.timeout(patience):
                await self._places.acquire()
        except TimeoutError:
            raise _slow() from None
        self._moved_at = time.monotonic()
        return is_full

    def leave(self) -> None:
        self._moved_at = time.monotonic()
        self._places.release()


def _slow() -> Throttled:
    return Throttled(SLOW, timedelta(seconds=random.uniform(2, 6)))  # those who were turned away come back apart
