"""The memory for fetched pages of a process: a large page waits until there is room for it, before it is fetched."""

import asyncio
from datetime import timedelta

from scrapersky.crawl.errors import TooSoon

SMALL_BYTES, MEDIUM_BYTES = 262_144, 1_048_576
WAIT_SECONDS = 10.0
RETRY_AFTER = timedelta(seconds=10)


class ByteBudget:
    """Divides the memory: half for small pages, a quarter for medium ones, a quarter for the largest.

    A page enters one part after another while it grows. The holder of the last part needs no other, so some page can
    always be finished.
    """

    def __init__(self, total: int, page_bytes: int) -> None:
        sizes = {SMALL_BYTES: total // 2, min(MEDIUM_BYTES, page_bytes): total // 4, page_bytes: total // 4}
        self.parts = [(size, asyncio.Semaphore(max(1, share // size))) for size, share in sizes.items()]

    def reservation(self) -> "Reservation":
        """Return a reservation that holds nothing yet."""
        return Reservation(self)


class Reservation:
    """What one visit holds of the budget."""

    def __init__(self, budget: ByteBudget) -> None:
        self._budget = budget
        self._held: list[asyncio.Semaphore] = []

    def release(self) -> None:
        """Give back everything."""
        while self._held:
            self._held.pop().release()

    async def grow(self, size: int) -> int:
        """Reserve memory for a body of at least this size; return the size that is reserved. Raises TooSoon."""
        reserved = 0
        for position, (part_size, part) in enumerate(self._budget.parts):
            if reserved >= size and reserved:
                break
            if position >= len(self._held):
                await self._enter(part)
            reserved = part_size
        return reserved

    async def _enter(self, part: asyncio.Semaphore) -> None:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await part.acquire()
        except TimeoutError:
            raise TooSoon("Other large pages are being read.", after=RETRY_AFTER) from None
        self._held.append(part)
