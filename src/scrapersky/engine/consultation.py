"""The task of a cycle that sweeps the queue, reports outcomes and refreshes the admission, beside the loop."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping

from scrapersky.core.database import is_connection_error
from scrapersky.engine.breaker import Tally
from scrapersky.engine.events import RowsRescued
from scrapersky.engine.heartbeat import report_unavailable
from scrapersky.engine.outcomes import OutcomeKind
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.runners import CANCEL_GRACE_SECONDS, RunnerPool

CONSULT_SECONDS = 1.0  # time between two consultations
MAX_AGE_SECONDS = 5.0  # no row is claimed by an older admission
SWEEP_ROWS = 1000  # rows freed by one sweep


class Consultation:
    """Consults the shared state once a second, so that a row that arrives meanwhile is not claimed later for it."""

    def __init__(self, processor: QueueProcessor, runner_pool: RunnerPool, wake: Callable[[], None]) -> None:
        """Take the function that makes the cycle check its queue."""
        self._processor = processor
        self._runner_pool = runner_pool
        self._wake = wake
        self._counts: Counter[OutcomeKind] = Counter()  # outcomes that are not reported yet
        self._faults: Counter[str] = Counter()  # failures that count for the breaker, by the error's type
        self._claimed = 0  # rows since the headroom was measured
        self._consulted_at = -1e9
        self._is_swept = False
        self._ending = asyncio.Event()
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_due(self) -> bool:
        """Whether the loop must consult before it claims: the admission is too old, or its headroom is used up."""
        headroom = self._processor.admission.headroom
        is_used_up = headroom is not None and 0 < headroom <= self._claimed
        return is_used_up or time.monotonic() - self._consulted_at > MAX_AGE_SECONDS

    @property
    def headroom(self) -> int | None:
        """The rows that the next queue may still receive, if there is one."""
        headroom = self._processor.admission.headroom
        return None if headroom is None else max(0, headroom - self._claimed)

    def count_claimed(self, rows: int) -> None:
        """Count rows that the next queue may receive."""
        self._claimed += rows

    def count_settled(self, counts: Mapping[OutcomeKind, int], faults: Counter[str]) -> None:
        """Count outcomes for the next report."""
        self._counts.update(counts)
        self._faults.update(faults)

    async def consult(self) -> None:
        """Sweep due rows, report outcomes and refresh the admission; from the first time on, once a second."""
        async with self._turn:
            self._runner_pool.start_runners()  # replaces a runner that ended by an unexpected error
            self._is_swept = await self._sweep()
            await self.report()
            self._consulted_at = time.monotonic()
        if self._task is None:
            self._task = asyncio.create_task(self._repeat(), name=f"{self._processor.workflow.name} consultation")
            self._task.add_done_callback(lambda _: self._wake())

    def raise_error(self) -> None:
        """Raise the error that has ended the task."""
        if self._task is not None and self._task.done():
            self._task.result()

    async def stop(self) -> None:
        """End the task; it may complete what it has begun."""
        self._ending.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=CANCEL_GRACE_SECONDS)
            self._task.cancel()

    async def report(self) -> None:
        """Report the outcomes and refresh the admission."""
        could, busy, claimed = self._processor.admission.may_claim, self._runner_pool.busy_seconds, self._claimed
        (counts, self._counts), (faults, self._faults) = (self._counts, Counter()), (self._faults, Counter())
        tally = _tally(counts, faults)
        rows = tally.good + tally.bad + tally.own
        recorded = False
        try:
            admission = await self._processor.consult(tally, busy / rows if rows else None)
            recorded = admission.recorded
        finally:
            if recorded:
                self._runner_pool.busy_seconds -= busy
            else:
                self.count_settled(counts, faults)
        self._claimed -= claimed
        if not could:
            self._wake()

    async def _repeat(self) -> None:
        while not self._ending.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CONSULT_SECONDS if self._is_swept else 0):
                    await self._ending.wait()
                return
            try:
                await self.consult()
            except Exception as error:
                if not is_connection_error(error):
                    raise
                await report_unavailable(self._processor, error)

    async def _sweep(self) -> bool:
        """Make due rows ready. Return whether there are no more of them."""
        processor = self._processor
        async with processor.database.engine_connection() as connection:
            swept = await processor.queue.sweep(connection, processor.tuning.max_attempts, SWEEP_ROWS)
        if swept.ready or swept.rescued:
            self._wake()
        if swept.rescued or swept.died:
            await processor.events.publish(RowsRescued(processor.workflow.name, swept.rescued, swept.died))
        return swept.ready + swept.rescued + swept.died < SWEEP_ROWS


def _tally(counts: Counter[OutcomeKind], faults: Counter[str]) -> Tally:
    """Return the outcomes as the breaker counts them."""
    bad = faults.total()
    return Tally(
        counts[OutcomeKind.COMPLETED] + counts[OutcomeKind.SKIPPED],
        bad,
        counts[OutcomeKind.RETRIED] + counts[OutcomeKind.FAILED] - bad,
        faults.most_common(1)[0][0] if faults else None,
    )
