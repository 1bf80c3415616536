"""The one loop: sweep, claim, work, settle and claim again, until the queue is dry."""

import asyncio
import contextlib
import time
from collections import Counter
from datetime import datetime
from uuid import UUID

import structlog

from scrapersky.core import clock
from scrapersky.core.cancelling import heed_cancel
from scrapersky.core.database import is_connection_error
from scrapersky.engine import histogram
from scrapersky.engine.events import BatchSettled, CycleEnded, DatabaseAway, LeaseLost, RowFailed, RowsRescued
from scrapersky.engine.outcomes import COMPLETED, RETURNED, TENANT_RESTS, Kind, TimedOut, outcome_of
from scrapersky.engine.queue import Exchange
from scrapersky.engine.settling import Held, count_kinds, settle_and_claim
from scrapersky.engine.station import Station

log = structlog.get_logger(__name__)

CONSULT_SECONDS = 1.0  # how often a cycle asks whether it may go on
RECHECK_SECONDS = 0.015  # wake-ups are debounced: look once more after the shortest time between two
MARGIN = 0.9  # a lease that could not be renewed is given up at this share of its length
SWEEP_ROWS = 1000  # rows freed by one sweep
UNHEEDED_SECONDS = 5.0  # how long work that was cancelled may take to notice


async def run_job_loop(station: Station) -> CycleEnded:
    """One cycle of one workflow: drain its queue within the time a cycle may take."""
    while True:
        cycle = Cycle(station)
        ended = await cycle.run()
        if not cycle.missed or station.stopping or not station.verdict.may_claim:
            return ended


class Cycle:
    """The state of one run of the loop: rows in hand, rows finished, what was counted."""

    def __init__(self, station: Station) -> None:
        self._station = station
        self._workflow = station.workflow
        self._tuning = station.tuning
        self._inbox: asyncio.Queue[Held] = asyncio.Queue()
        self._held: dict[UUID, Held] = {}
        self._finished: list[Held] = []
        self._stirred = asyncio.Event()
        self._woken = True
        self._runners: list[asyncio.Task[None]] = []
        self._ending = False
        self.missed = False  # told of new rows when it was too late to look
        self._counts: Counter[Kind] = Counter()
        self._unreported: Counter[Kind] = Counter()
        self._busy_seconds = 0.0
        self._claimed = 0
        self._taken = 0  # claimed since the last look at the next queue
        self._lost = 0
        self._histogram = histogram.empty()
        self._consulted_at = -1e9
        self._heard_at = -1e9
        self._looked_at = 0.0
        self._started = time.monotonic()
        self._started_at: datetime = clock.now()

    async def run(self) -> CycleEnded:
        """Drain, then report. Whatever happens, rows still in hand are given back."""
        self._station.join(self._stir)
        beating = asyncio.create_task(self._beat(), name=f"{self._workflow.name} heartbeat")
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
                await self._database_away(error)
                if self._station.stopping:
                    return
                await asyncio.sleep(pause)
                pause = min(2.0, pause * 2)
                continue
            if dry and not self._held and not self._finished and not await self._linger():
                return

    async def _turn(self) -> bool:
        """Settle what is finished, claim what there is room for, wait for something to happen. True when dry."""
        await self._look_up()
        room = self._room()
        claimed = 0
        if self._finished or (room and self._woken):
            done, self._finished, self._woken = self._finished, [], False
            self._looked_at = time.monotonic() if room else self._looked_at
            claimed = await self._exchange(done, room)
            self._woken = self._woken or 0 < room == claimed  # a full batch: there is probably more
        if self._held and not self._finished and not (self._woken and self._room()):
            await self._wait(CONSULT_SECONDS)
        return not claimed

    async def _exchange(self, done: list[Held], room: int) -> int:
        for held in done:
            held.settling = True
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
        self._hire()
        return len(exchange.claimed)

    def _keep(self, done: list[Held]) -> None:
        """Nothing is known to be written: the fence decides next time."""
        for held in done:
            held.settling = False
        self._finished, self._woken = done + self._finished, True

    async def _take(self, exchange: Exchange, done: list[Held], asked_at: float) -> None:
        """Let go of what is settled and take up what was claimed."""
        for held in done:
            self._held.pop(held.row_id, None)
        for row in exchange.claimed:
            held = Held(row, renewed_at=asked_at)
            self._held[held.row_id] = held
            self._inbox.put_nowait(held)
        self._woken = self._woken or exchange.again
        self._claimed += len(exchange.claimed)
        self._taken += len(exchange.claimed)
        await self._note(done, exchange.lost)

    async def _note(self, done: list[Held], lost: list[UUID]) -> None:
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
            self._lost += len(lost)
            await self._station.events.publish(LeaseLost(self._workflow.name, [str(row) for row in lost], "settle"))

    def _room(self) -> int:
        verdict = self._station.verdict
        if self._station.stopping or not verdict.may_claim or self._past_budget():
            return 0
        unfinished = len(self._held) - len(self._finished)
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
        await self._wait(self._station.settings.linger_seconds)
        return self._woken

    async def _wait(self, seconds: float) -> None:
        self._stirred.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, self._time_left())):
                await self._stirred.wait()

    def _stir(self) -> None:
        self._woken, self._heard_at = True, time.monotonic()
        self.missed = self._ending
        self._stirred.set()

    def _past_budget(self) -> bool:
        return time.monotonic() - self._started > self._station.settings.cycle_seconds

    def _out_of_time(self) -> bool:
        stop_by = self._station.stop_by
        if stop_by is None:
            return self._past_budget() and not self._held and not self._finished
        return time.monotonic() >= stop_by or (not self._held and not self._finished)

    def _time_left(self) -> float:
        stop_by = self._station.stop_by
        return 1e6 if stop_by is None else max(0.0, stop_by - time.monotonic())

    # -- the work ------------------------------------------------------------------------------------------------

    def _hire(self) -> None:
        """As many runners as there is work for, up to the concurrency."""
        self._runners = [runner for runner in self._runners if not runner.done()]
        while len(self._runners) < min(self._tuning.concurrency, len(self._held)):
            self._runners.append(asyncio.create_task(self._runner(), name=f"{self._workflow.name} runner"))

    async def _runner(self) -> None:
        task = asyncio.current_task()
        while True:
            held = await self._inbox.get()
            if held.lost:
                continue
            held.runner, held.started_at = task, time.monotonic()
            try:
                await self._work(held)
            except asyncio.CancelledError:
                if not held.lost:
                    raise
            finally:
                held.runner = None
            if self._ending or task not in self._runners:
                return  # it did not heed its cancellation: neither the row nor the place is its own any more
            while task.cancelling():
                task.uncancel()  # only this row was taken from us; the runner goes on with the next

    async def _work(self, held: Held) -> None:
        if held.tenant_id in self._station.verdict.resting:
            held.outcome = TENANT_RESTS
            self._finished.append(held)
            self._stirred.set()
            return
        started = time.perf_counter()
        timer = asyncio.timeout(self._tuning.timeout_seconds)
        try:
            async with timer:
                held.found = await self._workflow.work(self._workflow.read(self._station.queue.decode(held.row)))
            held.outcome = COMPLETED
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if held.lost or task is None or task.cancelling():
                raise
            held.outcome = outcome_of(error, held.tries, self._tuning)  # the work cancelled itself
        except TimeoutError as error:
            late = TimedOut(f"It took longer than {self._tuning.timeout_seconds:g} seconds.")
            held.outcome = outcome_of(late if timer.expired() else error, held.tries, self._tuning)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the work raises is its outcome, a panic of Rust too
            held.outcome = outcome_of(error, held.tries, self._tuning)
        if held.lost:
            return
        seconds = time.perf_counter() - started
        histogram.add(self._histogram, seconds)
        self._busy_seconds += seconds
        self._finished.append(held)
        self._stirred.set()

    # -- leases --------------------------------------------------------------------------------------------------

    async def _beat(self) -> None:
        """Renew leases from outside the work's path; a row that is no longer ours is dropped at once."""
        lease = self._tuning.lease_seconds
        renewing: asyncio.Task[None] | None = None
        try:
            while True:
                await asyncio.sleep(lease / 6)
                now = time.monotonic()
                for held in [held for held in self._held.values() if self._is_unheeding(held, now)]:
                    await self._lose([held], "timeout ignored")
                if renewing is not None and not renewing.done():
                    await self._lose_overdue()  # a database that hangs gives no error for a long time
                elif any(now - held.renewed_at > lease / 4 for held in self._held.values() if not held.settling):
                    renewing = asyncio.create_task(self._renew(), name=f"{self._workflow.name} renewal")
        finally:
            if renewing is not None:
                renewing.cancel()

    async def _renew(self) -> None:
        now = time.monotonic()
        mine = [held for held in self._held.values() if not held.settling]
        try:
            async with self._station.database.engine_connection() as connection:
                alive = await self._station.queue.beat(
                    connection, [(held.row_id, held.attempts) for held in mine], self._tuning.lease_seconds
                )
        except Exception as error:
            if is_connection_error(error):
                await self._database_away(error)
            else:
                log.exception("heartbeat_failed", workflow=self._workflow.name)
            await self._lose_overdue()
            return
        for held in mine:
            if alive.get(held.row_id):
                held.renewed_at = now
        gone = [held for held in mine if held.row_id not in alive and not held.settling]
        await self._lose([held for held in gone if self._held.get(held.row_id) is held], "heartbeat")
        await self._lose_overdue("locked by somebody")

    async def _lose_overdue(self, why: str = "database away") -> None:
        """Nobody could tell us that the rows are still ours: let them go before somebody else takes them."""
        oldest = time.monotonic() - self._tuning.lease_seconds * MARGIN
        late = [held for held in self._held.values() if held.renewed_at < oldest and not held.settling]
        await self._lose(late, why)

    def _is_unheeding(self, held: Held, now: float) -> bool:
        limit = self._tuning.timeout_seconds + UNHEEDED_SECONDS
        return held.outcome is None and held.started_at is not None and now - held.started_at > limit

    async def _lose(self, rows: list[Held], where: str) -> None:
        if not rows:
            return
        for held in rows:
            held.lost = True
            self._held.pop(held.row_id, None)
            if held in self._finished:
                self._finished.remove(held)
            if held.runner is not None:
                held.runner.cancel()
                if where == "timeout ignored" and held.runner in self._runners:
                    self._runners.remove(held.runner)  # it may never come back: somebody else takes its place
        self._lost += len(rows)
        self._stirred.set()
        await self._station.events.publish(LeaseLost(self._workflow.name, [str(held.row_id) for held in rows], where))

    # -- beginning and end ---------------------------------------------------------------------------------------

    async def _look_up(self) -> None:
        """Once a second: free rows whose time has come, report, and learn whether to go on."""
        headroom = self._station.verdict.headroom
        used_up = headroom is not None and 0 < headroom <= self._taken
        if time.monotonic() - self._consulted_at < CONSULT_SECONDS and not used_up:
            return
        self._consulted_at = time.monotonic()
        self._hire()  # one that died of an error nobody foresaw is replaced
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
        seconds = self._busy_seconds / (good + bad) if good + bad else None
        busy, could = self._busy_seconds, self._station.verdict.may_claim
        verdict = await self._station.consult(good, bad, seconds)
        self._taken = 0
        if verdict.heard:
            self._unreported = Counter()
            self._busy_seconds -= busy
        self._woken = self._woken or not could

    async def _end(self, error: str | None) -> None:
        """Stop the runners and give back what is left, also when we are being cancelled."""
        self._ending = True
        for runner in self._runners:
            runner.cancel()
        if self._runners:
            await asyncio.wait(self._runners, timeout=UNHEEDED_SECONDS)
        left = self._finished + [held for held in self._held.values() if held.outcome is None]
        for held in left:
            held.outcome = held.outcome or RETURNED
        self._finished = []
        giving_back = asyncio.ensure_future(self._give_back(left, error))
        try:
            await asyncio.shield(giving_back)
        except asyncio.CancelledError:
            await giving_back
            raise

    async def _give_back(self, left: list[Held], error: str | None) -> None:
        try:
            if left:
                exchange = await settle_and_claim(self._station, left, 0)
                await self._note(left, exchange.lost)
            await self._consult()
        except Exception as failure:
            if not is_connection_error(failure):
                raise
            await self._database_away(failure)  # the leases will run out by themselves
        await self._station.events.publish(self._report(error))

    async def _database_away(self, error: BaseException) -> None:
        await self._station.events.publish(DatabaseAway(self._workflow.name, f"{type(error).__name__}: {error}"))

    def _report(self, error: str | None) -> CycleEnded:
        return CycleEnded(
            self._workflow.name,
            self._started_at,
            time.monotonic() - self._started,
            self._claimed,
            dict(self._counts),
            self._lost,
            self._histogram,
            error,
        )
