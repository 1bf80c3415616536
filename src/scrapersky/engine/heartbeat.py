"""The heartbeat of a cycle: a separate task renews leases and drops rows whose lease is lost."""

import asyncio
import time

import structlog

from scrapersky.core.database import is_connection_error
from scrapersky.engine.events import DatabaseUnavailable, LeaseLost
from scrapersky.engine.in_flight import InFlight
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.runners import RunnerPool
from scrapersky.engine.settle import Claim

log = structlog.get_logger(__name__)

MARGIN = 0.9  # a lease that could not be renewed is dropped at this share of its length


class Heartbeat:
    """Renews the leases of rows in flight for as long as they are worked on."""

    def __init__(self, processor: QueueProcessor, in_flight: InFlight, runner_pool: RunnerPool) -> None:
        self._processor = processor
        self._name = processor.workflow.name
        self._lease = processor.tuning.lease_seconds
        self._in_flight = in_flight
        self._runner_pool = runner_pool

    async def beat(self) -> None:
        """Renew leases several times per lease period, and drop stuck rows, until cancelled."""
        renewing: asyncio.Task[None] | None = None
        try:
            while True:
                await asyncio.sleep(self._lease / 6)
                now = time.monotonic()
                await self._drop_stuck(now)
                if renewing is not None and not renewing.done():
                    await self._drop_overdue()  # a hanging database raises no error for a long time
                elif any(now - claim.renewed_at > self._lease / 4 for claim in self._in_flight.claims.values()):
                    renewing = asyncio.create_task(self._renew(), name=f"{self._name} renewal")
        finally:
            if renewing is not None:
                renewing.cancel()

    async def _renew(self) -> None:
        # Also those being settled: when a batch has failed, they are settled one after another.
        now, mine = time.monotonic(), list(self._in_flight.claims.values())
        try:
            async with self._processor.database.engine_connection() as connection:
                alive = await self._processor.queue.renew_leases(
                    connection, [(claim.row_id, claim.attempts) for claim in mine], self._lease
                )
        except Exception as error:
            if is_connection_error(error):
                await report_unavailable(self._processor, error)
            else:
                log.exception("heartbeat_failed", workflow=self._name)
            await self._drop_overdue()
            return
        for claim in mine:
            if alive.get(claim.row_id):
                claim.renewed_at = now
        gone = [claim for claim in mine if claim.row_id not in alive and not claim.settling]
        await self._drop([claim for claim in gone if self._in_flight.claims.get(claim.row_id) is claim], "heartbeat")
        await self._drop_overdue("row locked")

    async def _drop_stuck(self, now: float) -> None:
        for claim in [
            claim for claim in self._in_flight.claims.values() if self._runner_pool.ignores_cancellation(claim, now)
        ]:
            self._runner_pool.abandon([claim])
            await self._drop([claim], "timeout ignored")

    async def _drop_overdue(self, why: str = "database unavailable") -> None:
        """Drop rows whose lease could not be confirmed, before another worker claims them."""
        oldest = time.monotonic() - self._lease * MARGIN
        await self._drop([claim for claim in self._unsettled() if claim.renewed_at < oldest], why)

    async def _drop(self, rows: list[Claim], where: str) -> None:
        if rows:
            self._in_flight.drop(rows)
            await self._processor.events.publish(LeaseLost(self._name, [str(claim.row_id) for claim in rows], where))

    def _unsettled(self) -> list[Claim]:
        return [claim for claim in self._in_flight.claims.values() if not claim.settling]


async def report_unavailable(processor: QueueProcessor, error: BaseException) -> None:
    """Publish that the database is unavailable; it is not a failure of any row."""
    await processor.events.publish(DatabaseUnavailable(processor.workflow.name, f"{type(error).__name__}: {error}"))
