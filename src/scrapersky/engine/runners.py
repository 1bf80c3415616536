"""The tasks that work on the rows in flight."""

import asyncio
import time

from scrapersky.engine import histogram
from scrapersky.engine.in_flight import InFlight
from scrapersky.engine.outcomes import COMPLETED, TENANT_DISABLED, SiteTimedOut, TimedOut, outcome_of
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.settle import Claim

CANCEL_GRACE_SECONDS = 5.0  # how long cancelled work may take to end


class RunnerPool:
    """Tasks that take rows from one inbox; an exception becomes the row's outcome, and its task continues."""

    def __init__(self, processor: QueueProcessor, in_flight: InFlight) -> None:
        self._processor = processor
        self._workflow = processor.workflow
        self._tuning = processor.tuning
        self._in_flight = in_flight
        self._inbox: asyncio.Queue[Claim] = asyncio.Queue()
        self._runners: list[asyncio.Task[None]] = []
        self._ending = False
        self.busy_seconds = 0.0
        self.histogram = histogram.empty()

    def enqueue(self, rows: list[Claim]) -> None:
        """Put claimed rows into the inbox."""
        for claim in rows:
            self._inbox.put_nowait(claim)

    def start_runners(self) -> None:
        """Start as many tasks as there are rows, up to the concurrency; ended tasks are replaced."""
        self._runners = [runner for runner in self._runners if not runner.done()]
        while len(self._runners) < min(self._tuning.concurrency, len(self._in_flight.claims)):
            self._runners.append(asyncio.create_task(self._run(), name=f"{self._workflow.name} runner"))

    def abandon(self, rows: list[Claim]) -> None:
        """Drop the tasks of these rows, which may never end, so that others can replace them."""
        for claim in rows:
            if claim.runner in self._runners:
                self._runners.remove(claim.runner)

    async def stop(self) -> None:
        """Cancel every task and wait for the end of those that accept it."""
        self._ending = True
        for runner in self._runners:
            runner.cancel()
        if self._runners:
            await asyncio.wait(self._runners, timeout=CANCEL_GRACE_SECONDS)

    def ignores_cancellation(self, claim: Claim, now: float) -> bool:
        """Check whether a row's work runs on after its timeout and the cancel grace."""
        limit = self._tuning.timeout_seconds + CANCEL_GRACE_SECONDS
        return claim.outcome is None and claim.started_at is not None and now - claim.started_at > limit

    async def _run(self) -> None:
        task = asyncio.current_task()
        while True:
            claim = await self._inbox.get()
            if claim.lost:
                continue
            claim.runner, claim.started_at = task, time.monotonic()
            try:
                await self._work(claim)
            except asyncio.CancelledError:
                if not claim.lost:
                    raise
            finally:
                claim.runner = None
            if self._ending or task not in self._runners:
                return  # it ignored its cancellation and was replaced
            while task.cancelling():
                task.uncancel()  # only this row's lease was lost; the task continues with the next row

    async def _work(self, claim: Claim) -> None:
        if claim.tenant_id in self._processor.admission.disabled_tenants:
            claim.outcome = TENANT_DISABLED
            self._in_flight.finish(claim)
            return
        started = time.perf_counter()
        timer = asyncio.timeout(self._tuning.timeout_seconds)
        try:
            async with timer:
                claim.found = await self._workflow.work(self._workflow.read(self._processor.queue.decode(claim.row)))
            claim.outcome = COMPLETED
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if claim.lost or task is None or task.cancelling():
                raise
            claim.outcome = outcome_of(error, claim.tries, self._tuning)  # the work raised it itself
        except TimeoutError as error:
            kind = SiteTimedOut if self._workflow.visits_sites else TimedOut
            late = kind(f"The timeout of {self._tuning.timeout_seconds:g} seconds passed.")
            claim.outcome = outcome_of(late if timer.expired() else error, claim.tries, self._tuning)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - any exception of the work is its outcome, including a panic of a Rust extension
            claim.outcome = outcome_of(error, claim.tries, self._tuning)
        if claim.lost:
            return
        seconds = time.perf_counter() - started
        histogram.add(self.histogram, seconds)
        self.busy_seconds += seconds
        self._in_flight.finish(claim)
