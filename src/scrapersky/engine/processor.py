"""The processor of one queue in this process: workflow, tuning, running cycles."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from scrapersky.core.database import Database
from scrapersky.core.settings import Settings
from scrapersky.engine.admission import Admission, AdmissionInputs, TokenGrant, consult, return_tokens, take_tokens
from scrapersky.engine.breaker import Tally
from scrapersky.engine.events import BreakerChanged, Events
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.queue import Focus
from scrapersky.engine.tuning import Pace, Tuning
from scrapersky.engine.workflow import Workflow

NO_OUTCOMES = Tally()


class QueueProcessor:
    """Everything a cycle needs to work on one queue."""

    def __init__(
        self,
        workflow: Workflow[Any, Any, Any],
        pipeline: Pipeline,
        tunings: dict[str, Tuning],
        database: Database,
        events: Events,
        settings: Settings,
    ) -> None:
        self.workflow = workflow
        self.tuning = tunings[workflow.name]
        self.queue = pipeline.queues[workflow.name]
        self.next_queue = pipeline.next_queue(workflow)
        self.also_fed = {name: pipeline.queues[name] for name in workflow.also_feeds}
        self.database = database
        self.events = events
        self.settings = settings
        self.focus: Focus | None = None  # claims its rows first
        self.stop_by: float | None = None  # monotonic time at which unfinished rows are given back
        self._running_cycles: set[Callable[[], None]] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self._inputs = AdmissionInputs(
            workflow.name,
            self.tuning,
            self.queue,
            workflow.feeds,
            self.next_queue,
            tunings[workflow.feeds].high_water if workflow.feeds else 0,
        )
        self.admission = Admission(False, "closed", None, None, Pace(self.tuning.batch_size, self.tuning.interval))

    @property
    def claim_options(self) -> dict[str, Any]:
        """How rows are claimed now: as a probe of the breaker, or those of one flow first."""
        # Half a batch: a claim takes no more, so that a reserve of half the capacity could leave others nothing at all.
        focus = self.focus and replace(self.focus, reserve=self.admission.pace.batch_size // 2)
        return {"is_probe": self.admission.probing, "focus": focus}

    @property
    def capacity(self) -> int:
        """The number of rows that a cycle may have in flight."""
        return max(self.admission.pace.batch_size, self.tuning.concurrency)

    @property
    def running(self) -> int:
        """The number of cycles of this workflow that run in this process."""
        return len(self._running_cycles)

    @property
    def stopping(self) -> bool:
        """Whether no more rows may be claimed here."""
        return self.stop_by is not None

    def add_cycle(self, wake: Callable[[], None]) -> None:
        """Register a running cycle; `wake` makes it check its queue."""
        self._running_cycles.add(wake)
        self._empty.clear()

    def remove_cycle(self, wake: Callable[[], None]) -> None:
        """Remove a cycle that has ended."""
        self._running_cycles.discard(wake)
        if not self._running_cycles:
            self._empty.set()

    def wake(self) -> None:
        """Make running cycles check the queue now."""
        for wake in list(self._running_cycles):
            wake()

    def stop(self, grace_seconds: float) -> None:
        """Stop claiming; rows that are not finished after the grace period are given back."""
        deadline = time.monotonic() + grace_seconds
        self.stop_by = deadline if self.stop_by is None else min(self.stop_by, deadline)
        self.wake()

    async def drained(self) -> None:
        """Wait until no cycle is running."""
        await self._empty.wait()

    async def take_tokens(self, count: int) -> TokenGrant:
        """Take as many of `count` rows as the throttle of all hosts allows now."""
        if not self.tuning.max_per_minute:
            return TokenGrant(count)
        return await take_tokens(self.database, self.workflow.name, self.tuning, count)

    async def return_tokens(self, count: int) -> None:
        """Return tokens for which no row was claimed."""
        if self.tuning.max_per_minute and count > 0:
            await return_tokens(self.database, self.workflow.name, self.tuning, count)

    async def consult(self, tally: Tally = NO_OUTCOMES, item_seconds: float | None = None) -> Admission:
        """Report outcomes, refresh the admission, and publish an event if the breaker changed."""
        before = self.admission.breaker
        self.admission = await consult(self.database, self._inputs, tally, item_seconds)
        if self.admission.breaker != before:
            await self.events.publish(
                BreakerChanged(
                    self.workflow.name, self.admission.breaker, self.admission.reason, self.admission.breaker_until
                ),
            )
        return self.admission
