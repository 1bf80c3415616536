"""The one loop: sweep, claim, work, settle and claim again, until the queue is empty."""

import asyncio
import contextlib
import time
from collections import Counter, deque
from datetime import datetime
from uuid import UUID

from scrapersky.core import clock
from scrapersky.core.cancellation import raise_if_cancelled
from scrapersky.core.database import is_connection_error
from scrapersky.engine.consultation import Consultation
from scrapersky.engine.events import BatchSettled, CycleEnded, LeaseLost, RowFailed
from scrapersky.engine.heartbeat import Heartbeat, report_unavailable
from scrapersky.engine.in_flight import InFlight
from scrapersky.engine.outcomes import RETURNED, OutcomeKind
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.queue import ClaimResult
from scrapersky.engine.runners import CANCEL_GRACE_SECONDS, RunnerPool
from scrapersky.engine.settle import Claim, count_faults, count_outcomes, settle_and_claim

MAX_WAIT_SECONDS = 1.0  # for a change of the rows in flight
TIMER_SECONDS = 0.001  # the resolution of the timers of the event loop
BATCH_WAIT_SECONDS = 0.05  # how long a finished row may wait for others to be settled with
# After a wake-up: some rows queued meanwhile have sent none (decision 5).
RECHECK_SECONDS = (0.001, 0.003, 0.006, 0.015)
MAX_RENOTIFICATIONS = 50  # requested in a second, so that a busy queue does not send one for every row


async def run_job_loop(processor: QueueProcessor) -> CycleEnded:
    """Run one cycle of one workflow: drain its queue within the time limit of a cycle."""
    while True:
        cycle = Cycle(processor)
        ended = await cycle.run()
        if not cycle.missed_wakeup or processor.stopping or not processor.admission.may_claim:
            return ended


class Cycle:
    """The state of one run of the loop: rows in flight, finished rows, counts."""

    def __init__(self, processor: QueueProcessor) -> None:
        self._processor = processor
        self._workflow = processor.workflow
        self._tuning = processor.tuning
        self._in_flight = InFlight()
        self._runner_pool = RunnerPool(processor, self._in_flight)
        self._consultation = Consultation(processor, self._runner_pool, self._check_again)
        self._settling: asyncio.Task[int] | None = None  # settles rows while others are claimed
        self._woken = True
        self._is_deep = False  # whether the last claim was full: more rows are probably ready
        self._ending = False
        self.missed_wakeup = False  # whether a wake-up arrived after the last claim
        self._counts: Counter[OutcomeKind] = Counter()
        self._settled_at = -1e9
        self._woken_at = self._claimed_at = -1e9
        self._throttled_until = -1e9
        self._renotified_at: deque[float] = deque(maxlen=MAX_RENOTIFICATIONS)
        self._started = time.monotonic()
        self._started_at: datetime = clock.now()

    async def run(self) -> CycleEnded:
        """Drain the queue and report. Rows still in flight are given back in every case."""
        self._processor.add_cycle(self._on_wakeup)
        heartbeat = Heartbeat(self._processor, self._in_flight, self._runner_pool)
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
                self._processor.remove_cycle(self._on_wakeup)
        return self._report(error)

    # -- draining ------------------------------------------------------------------------------------------------

    async def _drain(self) -> None:
        pause = 0.05
        while not self._out_of_time():
            try:
                dry = await self._step()
                pause = 0.05
            except Exception as error:
                raise_if_cancelled(error)
                if not is_connection_error(error):
                    raise
                await report_unavailable(self._processor, error)
                if self._processor.stopping:
                    return
                await asyncio.sleep(pause)
                pause = min(2.0, pause * 2)
                continue
            if dry and self._in_flight.is_empty and not await self._linger():
                return

    async def _step(self) -> bool:
        """Settle finished rows, claim as many as fit, wait for a change. Return whether nothing was claimed."""
        self._consultation.raise_error()
        if self._consultation.is_due:
            await self._consultation.consult()
        self._raise_settling_error()
        if self._in_flight.finished and self._settling is None:
            await self._wait_for_batch()
        claimed = await self._claim(room) if (room := self._room_to_claim()) else 0
        if self._in_flight.finished and self._settling is None and not self._room_to_claim():
            # No row is known to be ready: one that arrives meanwhile is claimed without waiting for this commit.
            self._start_settling()
        is_settling = self._settling is not None and not self._settling.done()
        if self._in_flight.claims and (is_settling or not self._in_flight.finished) and not self._room_to_claim():
            await self._wait(MAX_WAIT_SECONDS)
        return not claimed

    async def _claim(self, room: int) -> int:
        """Claim as many rows as fit and as the throttle allows.

        In a deep queue the finished rows are settled in the same statement, which costs one commit per batch. In a
        queue that was empty they are settled beside it: the row that has arrived does not wait for their commit.
        """
        self._woken = False
        grant = await self._processor.take_tokens(room)
        if self._in_flight.finished and self._settling is None and not self._is_deep:
            self._start_settling()
        done = [] if self._settling else self._in_flight.take_finished()
        renotify, self._claimed_at = self._may_renotify(), time.monotonic()
        claimed = await self._settle_and_claim(done, grant.rows, renotify)
        await self._processor.return_tokens(grant.rows - claimed)
        if claimed == grant.rows < room:  # only the throttle stopped the claim: continue with the next token
            self._throttled_until, self._woken = time.monotonic() + grant.wait_seconds, True
        self._is_deep = room == claimed
        self._woken = self._woken or self._is_deep
        return claimed

    def _may_renotify(self) -> bool:
        """Check whether the next row that is queued is to send a notification, however short ago the last one was sent.

        So it is once for each wake-up, until there are too many of them: then rows are found by looking again.
        """
        now = time.monotonic()
        if self._processor.settings.poll_only or self._is_deep or self._woken_at < self._claimed_at:
            return False
        if len(self._renotified_at) == MAX_RENOTIFICATIONS and now - self._renotified_at[0] < 1.0:
            return False
        self._renotified_at.append(now)
        return True

    def _start_settling(self) -> None:
        self._settling = asyncio.create_task(self._settle_and_claim(self._in_flight.take_finished(), 0))
        self._settling.add_done_callback(lambda _: self._in_flight.changed.set())

    def _raise_settling_error(self) -> None:
        if self._settling is not None and self._settling.done():
            settled, self._settling = self._settling, None
            settled.result()

    def _room_to_claim(self) -> int:
        """Return how many rows fit, 0 if none is known to be ready."""
        return self._room() if self._woken else 0

    async def _wait_for_batch(self) -> None:
        """Wait briefly for further rows to finish: rows that are settled together cost one transaction."""
        due = self._settled_at + BATCH_WAIT_SECONDS
        while self._in_flight.finished and self._in_flight.unfinished and not self._room_to_claim():
            if (left := due - time.monotonic()) <= 0:
                return
            await self._wait(left)

    async def _settle_and_claim(self, done: list[Claim], room: int, renotify: bool = False) -> int:
        requested_at = time.monotonic()  # the lease starts no earlier than this
        request = asyncio.ensure_future(settle_and_claim(self._processor, done, room, renotify))
        try:
            result = await asyncio.shield(request)
        except asyncio.CancelledError:
            # The database may already have claimed rows for us: read its response, so that they can be given back.
            await asyncio.wait([request], timeout=CANCEL_GRACE_SECONDS)
            if request.done() and not request.cancelled() and request.exception() is None:
                await self._accept(request.result(), done, requested_at)
            else:
                request.cancel()
                self._put_back(done)
            raise
        except BaseException:
            self._put_back(done)
            raise
        await self._accept(result, done, requested_at)
        self._runner_pool.start_runners()
        return len(result.claimed)

    def _put_back(self, done: list[Claim]) -> None:
        self._in_flight.put_back(done)
        self._woken = True

    async def _accept(self, result: ClaimResult, done: list[Claim], requested_at: float) -> None:
        """Drop the settled rows and start work on the claimed ones."""
        self._settled_at = time.monotonic()
        self._runner_pool.enqueue(self._in_flight.apply(result, done, requested_at))
        self._woken = self._woken or result.may_have_more
        self._consultation.count_claimed(len(result.claimed))
        await self._record(done, result.lost)

    async def _record(self, done: list[Claim], lost: list[UUID]) -> None:
        if not done:
            return
        counts = count_outcomes(done, lost)
        self._counts.update(counts)
        self._consultation.count_settled(counts, count_faults(done, lost))
        await self._processor.events.publish(BatchSettled(self._workflow.name, counts))
        for claim in done:
            if claim.outcome is not None and claim.outcome.kind in (OutcomeKind.RETRIED, OutcomeKind.FAILED):
                await self._processor.events.publish(
                    RowFailed(
                        self._workflow.name,
                        str(claim.row_id),
                        claim.tries,
                        claim.outcome.kind,
                        claim.outcome.error or "",
                    )
                )
        if lost:
            self._in_flight.lost += len(lost)
            await self._processor.events.publish(LeaseLost(self._workflow.name, [str(row) for row in lost], "settle"))

    def _room(self) -> int:
        admission = self._processor.admission
        if self._processor.stopping or not admission.may_claim or self._past_budget():
            return 0
        if time.monotonic() < self._throttled_until:
            return 0
        unfinished = self._in_flight.unfinished
        if admission.probing:
            return 0 if unfinished else 1
        # The pace may have slowed since the claim.
        room = max(0, min(admission.pace.batch_size, self._processor.capacity - unfinished))
        headroom = self._consultation.headroom
        return room if headroom is None else min(room, headroom)

    async def _linger(self) -> bool:
        """Wait for a wake-up on an empty queue. Return whether to check the queue again."""
        if self._processor.stopping or self._past_budget() or not self._processor.admission.may_claim:
            return False
        if (left := self._throttled_until - time.monotonic()) > 0:
            await self._wait(min(left, MAX_WAIT_SECONDS))
            return True
        if self._woken:
            return True
        rechecks = (self._woken_at + after for after in RECHECK_SECONDS)
        if (recheck_at := next((at for at in rechecks if self._claimed_at < at), None)) is not None:
            await self._wait(max(TIMER_SECONDS, recheck_at - time.monotonic()))
            self._woken = self._woken or time.monotonic() >= recheck_at
            return True
        await self._wait(self._processor.settings.idle_timeout_seconds)
        return self._woken

    async def _wait(self, seconds: float) -> None:
        self._in_flight.changed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, self._time_left())):
                await self._in_flight.changed.wait()

    def _on_wakeup(self) -> None:
        self._woken_at = time.monotonic()
        self.missed_wakeup = self._ending
        self._check_again()

    def _check_again(self) -> None:
        self._woken = True
        self._in_flight.changed.set()

    def _past_budget(self) -> bool:
        return time.monotonic() - self._started > self._processor.settings.max_cycle_seconds

    def _out_of_time(self) -> bool:
        stop_by = self._processor.stop_by
        if stop_by is None:
            return self._past_budget() and self._in_flight.is_empty
        return time.monotonic() >= stop_by or self._in_flight.is_empty

    def _time_left(self) -> float:
        stop_by = self._processor.stop_by
        return 1e6 if stop_by is None else max(0.0, stop_by - time.monotonic())

    # -- the end -------------------------------------------------------------------------------------------------

    async def _end(self, error: str | None) -> None:
        """Stop the runners and give back unfinished rows, also on cancellation."""
        self._ending = True
        await asyncio.gather(self._consultation.stop(), self._runner_pool.stop())
        giving_back = asyncio.ensure_future(self._give_back(error))
        try:
            await asyncio.shield(giving_back)
        except asyncio.CancelledError:
            await giving_back
            raise

    async def _give_back(self, error: str | None) -> None:
        if self._settling is not None:
            self._settling.cancel()  # it waits a moment for its response; what is left is given back here
            await asyncio.wait([self._settling])
        left = self._in_flight.finished + [claim for claim in self._in_flight.claims.values() if claim.outcome is None]
        for claim in left:
            claim.outcome = claim.outcome or RETURNED
        self._in_flight.finished = []
        try:
            if left:
                result = await settle_and_claim(self._processor, left, 0)
                await self._record(left, result.lost)
            await self._consultation.report()
        except Exception as failure:
            if not is_connection_error(failure):
                raise
            await report_unavailable(self._processor, failure)  # the leases will expire
        await self._processor.events.publish(self._report(error))

    def _report(self, error: str | None) -> CycleEnded:
        return CycleEnded(
            self._workflow.name,
            self._started_at,
            time.monotonic() - self._started,
            self._in_flight.claimed,
            dict(self._counts),
            self._in_flight.lost,
            self._runner_pool.histogram,
            error,
        )
