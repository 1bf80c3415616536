"""The one loop: sweep, claim, work, settle and claim again, until the queue is dry."""

import asyncio
import contextlib
import time
from collections import Counter
from datetime import datetime
from uuid import UUID

from scrapersky.core import clock
from scrapersky.core.cancellation import heed_cancel
from scrapersky.core.database import is_connection_error
from scrapersky.engine.events import BatchSettled, CycleEnded, LeaseLost, RowFailed, RowsRescued
from scrapersky.engine.heartbeat import Heartbeat, say_away
from scrapersky.engine.in_flight import InFlight
from scrapersky.engine.outcomes import RETURNED, Kind
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.queue import Exchange
from scrapersky.engine.runners import UNHEEDED_SECONDS, RunnerPool
from scrapersky.engine.settle import Claim, count_kinds, settle_and_claim

CONSULT_SECONDS = 1.0  # how often a cycle asks whether it may go on
GATHER_SECONDS = 0.05  # how long a finished row may wait for others to be settled with
RECHECK_SECONDS = 0.015  # wake-ups are debounced: look once more after the shortest time between two
SWEEP_ROWS = 1000  # rows freed by one sweep


async def run_job_loop(processor: QueueProcessor) -> CycleEnded:
    """One cycle of one workflow: drain its queue within the time a cycle may take."""
    while True:
        cycle = Cycle(processor)
        ended = await cycle.run()
        if not cycle.missed or processor.stopping or not processor.verdict.may_claim:
            return ended


class Cycle:
    """The state of one run of the loop: rows in hand, rows finished, what was counted."""

    def __init__(self, processor: QueueProcessor) -> None:
        self._station = processor
        self._workflow = processor.workflow
        self._tuning = processor.tuning
        self._hand = InFlight()
        self._crew = RunnerPool(processor, self._hand)
        self._woken = True
        self._ending = False
        self.missed = False  # told of new rows when it was too late to look
        self._counts: Counter[Kind] = Counter()
        self._unreported: Counter[Kind] = Counter()
        self._taken = 0  # claimed since the last look at the next queue
        self._consulted_at = -1e9
        self._exchanged_at = -1e9
        self._heard_at = -1e9
        self._looked_at = 0.0
        self._started = time.monotonic()
        self._started_at: datetime = clock.now()

    async def run(self) -> CycleEnded:
        """Drain, then report. Whatever happens, rows still in hand are given back."""
        self._station.join(self._stir)
        heartbeat = Heartbeat(self._station, self._hand, self._crew)
        beating = asyncio.create_task(heartbeat.beat(), name=f"{self._workflow.name} heartbeat")
        error: str | None = None
        try:
            await self._drain()
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"[:1024]
            raise
        finally:
            beating.cancel()
            try:
                await self._end(error)
            finally:
                self._station.leave(self._stir)
        return self._report(error)

    # -- the pump ------------------------------------------------------------------------------------------------

    async def _drain(self) -> None:
        pause = 0.05
        while not self._out_of_time():
            try:
                dry = await self._turn()
                pause = 0.05
            except Exception as error:
                heed_cancel(error)
                if not is_connection_error(error):
                    raise
                await say_away(self._station, error)
                if self._station.stopping:
                    return
                await asyncio.sleep(pause)
                pause = min(2.0, pause * 2)
                continue
            if dry and self._hand.is_empty and not await self._linger():
                return

    async def _turn(self) -> bool:
        """Settle what is finished, claim what there is room for, wait for something to happen. True when dry."""
        await self._look_up()
        room = self._room()
        claimed = 0
        if self._hand.finished and not (room and self._woken):
            await self._gather()
        if self._hand.finished or (room and self._woken):
            done, self._woken = self._hand.offer(), False
            self._looked_at = time.monotonic() if room else self._looked_at
            claimed = await self._exchange(done, room)
            self._woken = self._woken or 0 < room == claimed  # a full batch: there is probably more
        if self._hand.held and not self._hand.finished and not (self._woken and self._room()):
            await self._wait(CONSULT_SECONDS)
        return not claimed

    async def _gather(self) -> None:
        """While others are at work, wait a moment for them: rows that are settled together cost one transaction."""
        due = self._exchanged_at + GATHER_SECONDS
        while self._hand.finished and self._hand.unfinished and (left := due - time.monotonic()) > 0:
            await self._wait(left)

    async def _exchange(self, done: list[Claim], room: int) -> int:
        asked_at = time.monotonic()  # the lease begins no earlier than this
        asking = asyncio.ensure_future(settle_and_claim(self._station, done, room))
        try:
            exchange = await asyncio.shield(asking)
        except asyncio.CancelledError:
            # The database may already have given us rows: hear its answer, so that they can be given back.
            await asyncio.wait([asking], timeout=UNHEEDED_SECONDS)
            if asking.done() and not asking.cancelled() and asking.exception() is None:
                await self._take(asking.result(), done, asked_at)
            else:
                asking.cancel()
                self._keep(done)
            raise
        except BaseException:
            self._keep(done)
            raise
        await self._take(exchange, done, asked_at)
        self._crew.hire()
        return len(exchange.claimed)

    def _keep(self, done: list[Claim]) -> None:
        self._hand.keep(done)
        self._woken = True

    async def _take(self, exchange: Exchange, done: list[Claim], asked_at: float) -> None:
        """Let go of what is settled and take up what was claimed."""
        self._exchanged_at = time.monotonic()
        self._crew.hand_out(self._hand.exchange(exchange, done, asked_at))
        self._woken = self._woken or exchange.again
        self._taken += len(exchange.claimed)
        await self._note(done, exchange.lost)

    async def _note(self, done: list[Claim], lost: list[UUID]) -> None:
        if not done:
            return
        counts = count_kinds(done, lost)
        self._counts.update(counts)
        self._unreported.update(counts)
        await self._station.events.publish(BatchSettled(self._workflow.name, counts))
        for held in done:
            if held.outcome is not None and held.outcome.kind in (Kind.RETRIED, Kind.FAILED):
                await self._station.events.publish(
                    RowFailed(
                        self._workflow.name, str(held.row_id), held.tries, held.outcome.kind, held.outcome.error or ""
                    )
                )
        if lost:
            self._hand.lost += len(lost)
            await self._station.events.publish(LeaseLost(self._workflow.name, [str(row) for row in lost], "settle"))

    def _room(self) -> int:
        verdict = self._station.verdict
        if self._station.stopping or not verdict.may_claim or self._past_budget():
            return 0
        unfinished = self._hand.unfinished
        if verdict.probing:
            return 0 if unfinished else 1
        capacity = max(verdict.pace.batch_size, self._tuning.concurrency)
        room = max(0, min(verdict.pace.batch_size, capacity - unfinished))  # the pace may have slowed since the claim
        return room if verdict.headroom is None else min(room, max(0, verdict.headroom - self._taken))

    async def _linger(self) -> bool:
        """A dry queue may fill at once: wait a little for a wake-up. False when nothing came."""
        if self._station.stopping or self._past_budget() or not self._station.verdict.may_claim:
            return False
        if self._woken:
            return True
        recheck_at = self._heard_at + RECHECK_SECONDS
        if self._looked_at < recheck_at:  # a row queued just after a wake-up tells nobody: look once more
            await self._wait(max(0.0, recheck_at - time.monotonic()))
            self._woken = True
            return True
        await self._wait(self._station.settings.idle_timeout_seconds)
        return self._woken

    async def _wait(self, seconds: float) -> None:
        self._hand.stirred.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, self._time_left())):
                await self._hand.stirred.wait()

    def _stir(self) -> None:
        self._woken, self._heard_at = True, time.monotonic()
        self.missed = self._ending
        self._hand.stirred.set()

    def _past_budget(self) -> bool:
        return time.monotonic() - self._started > self._station.settings.max_cycle_seconds

    def _out_of_time(self) -> bool:
        stop_by = self._station.stop_by
        if stop_by is None:
            return self._past_budget() and self._hand.is_empty
        return time.monotonic() >= stop_by or self._hand.is_empty

    def _time_left(self) -> float:
        stop_by = self._station.stop_by
        return 1e6 if stop_by is None else max(0.0, stop_by - time.monotonic())

    # -- beginning and end ---------------------------------------------------------------------------------------

    async def _look_up(self) -> None:
        """Once a second: free rows whose time has come, report, and learn whether to go on."""
        headroom = self._station.verdict.headroom
        used_up = headroom is not None and 0 < headroom <= self._taken
        if time.monotonic() - self._consulted_at < CONSULT_SECONDS and not used_up:
            return
        self._consulted_at = time.monotonic()
        self._crew.hire()  # one that died of an error nobody foresaw is replaced
        await self._sweep()
        await self._consult()

    async def _sweep(self) -> None:
        async with self._station.database.engine_connection() as connection:
            swept = await self._station.queue.sweep(connection, self._tuning.max_attempts, SWEEP_ROWS)
        self._woken = self._woken or bool(swept.ready or swept.rescued)
        if swept.ready + swept.rescued + swept.died >= SWEEP_ROWS:
            self._consulted_at = -1e9  # there are more: sweep again with the next turn
        if swept.rescued or swept.died:
            await self._station.events.publish(RowsRescued(self._workflow.name, swept.rescued, swept.died))

    async def _consult(self) -> None:
        good = self._unreported[Kind.COMPLETED] + self._unreported[Kind.SKIPPED]
        bad = self._unreported[Kind.RETRIED] + self._unreported[Kind.FAILED]
        seconds = self._crew.busy_seconds / (good + bad) if good + bad else None
        busy, could = self._crew.busy_seconds, self._station.verdict.may_claim
        verdict = await self._station.consult(good, bad, seconds)
        self._taken = 0
        if verdict.heard:
            self._unreported = Counter()
            self._crew.busy_seconds -= busy
        self._woken = self._woken or not could

    async def _end(self, error: str | None) -> None:
        """Stop the runners and give back what is left, also when we are being cancelled."""
        self._ending = True
        await self._crew.stop()
        left = self._hand.finished + [held for held in self._hand.held.values() if held.outcome is None]
        for held in left:
            held.outcome = held.outcome or RETURNED
        self._hand.finished = []
        giving_back = asyncio.ensure_future(self._give_back(left, error))
        try:
            await asyncio.shield(giving_back)
        except asyncio.CancelledError:
            await giving_back
            raise

    async def _give_back(self, left: list[Claim], error: str | None) -> None:
        try:
            if left:
                exchange = await settle_and_claim(self._station, left, 0)
                await self._note(left, exchange.lost)
            await self._consult()
        except Exception as failure:
            if not is_connection_error(failure):
                raise
            await say_away(self._station, failure)  # the leases will run out by themselves
        await self._station.events.publish(self._report(error))

    def _report(self, error: str | None) -> CycleEnded:
        return CycleEnded(
            self._workflow.name,
            self._started_at,
            time.monotonic() - self._started,
            self._hand.claimed,
            dict(self._counts),
            self._hand.lost,
            self._crew.histogram,
            error,
        )
