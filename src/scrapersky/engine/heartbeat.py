"""The heartbeat of a cycle: leases are renewed from outside the work's path, and lost ones are dropped at once."""

import asyncio
import time

import structlog

from scrapersky.core.database import is_connection_error
from scrapersky.engine.events import DatabaseAway, LeaseLost
from scrapersky.engine.in_flight import InFlight
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.runners import RunnerPool
from scrapersky.engine.settle import Claim

log = structlog.get_logger(__name__)

MARGIN = 0.9  # a lease that could not be renewed is given up at this share of its length


class Heartbeat:
    """Keeps the rows in hand ours for as long as they are worked on."""

    def __init__(self, processor: QueueProcessor, hand: InFlight, crew: RunnerPool) -> None:
        self._station = processor
        self._name = processor.workflow.name
        self._lease = processor.tuning.lease_seconds
        self._hand = hand
        self._crew = crew

    async def beat(self) -> None:
        """Until it is cancelled: look several times a lease, renew what is old, let go of what does not heed."""
        renewing: asyncio.Task[None] | None = None
        try:
            while True:
                await asyncio.sleep(self._lease / 6)
                now = time.monotonic()
                await self._lose_unheeding(now)
                if renewing is not None and not renewing.done():
                    await self._lose_overdue()  # a database that hangs gives no error for a long time
                elif any(now - held.renewed_at > self._lease / 4 for held in self._unsettled()):
                    renewing = asyncio.create_task(self._renew(), name=f"{self._name} renewal")
        finally:
            if renewing is not None:
                renewing.cancel()

    async def _renew(self) -> None:
        now, mine = time.monotonic(), self._unsettled()
        try:
            async with self._station.database.engine_connection() as connection:
                alive = await self._station.queue.beat(
                    connection, [(held.row_id, held.attempts) for held in mine], self._lease
                )
        except Exception as error:
            if is_connection_error(error):
                await say_away(self._station, error)
            else:
                log.exception("heartbeat_failed", workflow=self._name)
            await self._lose_overdue()
            return
        for held in mine:
            if alive.get(held.row_id):
                held.renewed_at = now
        gone = [held for held in mine if held.row_id not in alive and not held.settling]
        await self._lose([held for held in gone if self._hand.held.get(held.row_id) is held], "heartbeat")
        await self._lose_overdue("locked by somebody")

    async def _lose_unheeding(self, now: float) -> None:
        for held in [held for held in self._hand.held.values() if self._crew.is_unheeding(held, now)]:
            self._crew.give_up([held])
            await self._lose([held], "timeout ignored")

    async def _lose_overdue(self, why: str = "database away") -> None:
        """Nobody could tell us that the rows are still ours: let them go before somebody else takes them."""
        oldest = time.monotonic() - self._lease * MARGIN
        await self._lose([held for held in self._unsettled() if held.renewed_at < oldest], why)

    async def _lose(self, rows: list[Claim], where: str) -> None:
        if rows:
            self._hand.lose(rows)
            await self._station.events.publish(LeaseLost(self._name, [str(held.row_id) for held in rows], where))

    def _unsettled(self) -> list[Claim]:
        return [held for held in self._hand.held.values() if not held.settling]


async def say_away(processor: QueueProcessor, error: BaseException) -> None:
    """The database did not answer: that is news, not a fault of any row."""
    await processor.events.publish(DatabaseAway(processor.workflow.name, f"{type(error).__name__}: {error}"))
