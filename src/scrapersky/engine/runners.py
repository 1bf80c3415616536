"""The tasks that work on the rows in flight."""

import asyncio
from collections import deque
from typing import Any

from scrapersky.engine import histogram
from scrapersky.engine.in_flight import InFlight
from scrapersky.engine.outcomes import COMPLETED, TENANT_DISABLED, Outcome, SiteTimedOut, TimedOut, outcome_of
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.settle import Claim
from scrapersky.engine.timeouts import Timeouts

CANCEL_GRACE_SECONDS = 5.0  # how long cancelled work may take to end


class RunnerPool:
    """Tasks that take rows from one inbox until it is empty; an exception becomes the row's outcome."""

    def __init__(self, processor: QueueProcessor, in_flight: InFlight) -> None:
        self._processor = processor
        self._workflow = processor.workflow
        self._tuning = processor.tuning
        self._in_flight = in_flight
        self._inbox: deque[Claim] = deque()
        self._runners: set[asyncio.Task[None]] = set()
        self._timeouts = Timeouts(self._tuning.timeout_seconds)
        self._ending = False
        self.busy_seconds = 0.0
        self.histogram = histogram.empty()

    def enqueue(self, rows: list[Claim]) -> None:
        """Put claimed rows into the inbox."""
        self._inbox.extend(rows)

    def start_runners(self) -> None:
        """Start a task for each row in the inbox, up to the concurrency."""
        self._runners = {runner for runner in self._runners if not runner.done()}
        for _ in range(min(self._tuning.concurrency - len(self._runners), len(self._inbox))):
            self._runners.add(asyncio.create_task(self._run(), name=f"{self._workflow.name} runner"))

    def abandon(self, rows: list[Claim]) -> None:
        """Drop the tasks of these rows, which may never end, so that others can replace them."""
        self._runners.difference_update(claim.runner for claim in rows)

    async def stop(self) -> None:
        """Cancel every task and wait for the end of those that accept it."""
        self._ending = True
        for runner in self._runners:
            runner.cancel()
        if self._runners:
            await asyncio.wait(self._runners, timeout=CANCEL_GRACE_SECONDS)
        self._timeouts.stop()

    def ignores_cancellation(self, claim: Claim, now: float) -> bool:
        """Check whether a row's work runs on after its timeout and the cancel grace."""
        limit = self._tuning.timeout_seconds + CANCEL_GRACE_SECONDS
        return claim.outcome is None and claim.started_at is not None and now - claim.started_at > limit

    async def _run(self) -> None:
        task: Any = asyncio.current_task()
        while self._inbox:
            claim = self._inbox.popleft()
            if claim.lost:
                continue
            claim.runner = task
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
                task.uncancel()  # only this row was cancelled; the task continues with the next row

    async def _work(self, claim: Claim) -> None:
        disabled_tenants = self._processor.admission.disabled_tenants
        if disabled_tenants and claim.tenant_id in disabled_tenants:
            claim.outcome = TENANT_DISABLED
            self._in_flight.finish(claim)
            return
        self._timeouts.start(claim)
        try:
            claim.found = await self._workflow.work(self._workflow.read(self._processor.queue.decode(claim.row)))
            claim.outcome = COMPLETED
        except asyncio.CancelledError as error:
            if claim.is_late:
                claim.runner.uncancel()
            if claim.lost or claim.runner.cancelling():
                raise
            # If the row is not late, the work raised the error itself.
            claim.outcome = self._late(claim) if claim.is_late else outcome_of(error, claim.tries, self._tuning)
        except TimeoutError as error:
            claim.outcome = self._late(claim) if claim.is_late else outcome_of(error, claim.tries, self._tuning)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - any exception of the work is its outcome, including a panic of a Rust extension
            claim.outcome = outcome_of(error, claim.tries, self._tuning)
        finally:
            seconds = self._timeouts.end(claim)
        if claim.lost:
            return
        histogram.add(self.histogram, seconds)
        self.busy_seconds += seconds
        self._in_flight.finish(claim)

    def _late(self, claim: Claim) -> Outcome:
        """Return the outcome of a row that took too long."""
        kind = SiteTimedOut if self._workflow.visits_sites else TimedOut
        why = f"The timeout of {self._tuning.timeout_seconds:g} seconds passed."
        return outcome_of(kind(why), claim.tries, self._tuning)
