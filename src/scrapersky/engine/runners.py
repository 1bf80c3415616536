"""The tasks that work on the rows in hand, as many as there is work for."""

import asyncio
import time

from scrapersky.engine import histogram
from scrapersky.engine.in_flight import InFlight
from scrapersky.engine.outcomes import COMPLETED, TENANT_RESTS, TimedOut, outcome_of
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.settle import Claim

UNHEEDED_SECONDS = 5.0  # how long work that was cancelled may take to notice


class RunnerPool:
    """Runners that take rows from one inbox; a row that raises has an outcome, and its runner goes on."""

    def __init__(self, processor: QueueProcessor, hand: InFlight) -> None:
        self._station = processor
        self._workflow = processor.workflow
        self._tuning = processor.tuning
        self._hand = hand
        self._inbox: asyncio.Queue[Claim] = asyncio.Queue()
        self._runners: list[asyncio.Task[None]] = []
        self._ending = False
        self.busy_seconds = 0.0
        self.histogram = histogram.empty()

    def hand_out(self, rows: list[Claim]) -> None:
        """Put these into the inbox."""
        for held in rows:
            self._inbox.put_nowait(held)

    def hire(self) -> None:
        """As many runners as there is work for, up to the concurrency; one that died of an error is replaced."""
        self._runners = [runner for runner in self._runners if not runner.done()]
        while len(self._runners) < min(self._tuning.concurrency, len(self._hand.held)):
            self._runners.append(asyncio.create_task(self._run(), name=f"{self._workflow.name} runner"))

    def give_up(self, rows: list[Claim]) -> None:
        """Their runners may never come back: somebody else takes their places."""
        for held in rows:
            if held.runner in self._runners:
                self._runners.remove(held.runner)

    async def stop(self) -> None:
        """End every runner, whatever it has in hand."""
        self._ending = True
        for runner in self._runners:
            runner.cancel()
        if self._runners:
            await asyncio.wait(self._runners, timeout=UNHEEDED_SECONDS)

    def is_unheeding(self, held: Claim, now: float) -> bool:
        """Whether a row's work has not even noticed that its time is over."""
        limit = self._tuning.timeout_seconds + UNHEEDED_SECONDS
        return held.outcome is None and held.started_at is not None and now - held.started_at > limit

    async def _run(self) -> None:
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

    async def _work(self, held: Claim) -> None:
        if held.tenant_id in self._station.verdict.resting:
            held.outcome = TENANT_RESTS
            self._hand.finish(held)
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
        histogram.add(self.histogram, seconds)
        self.busy_seconds += seconds
        self._hand.finish(held)
