"""A workflow at work in this process: its queue, its tuning, its running cycles."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from scrapersky.core.database import Database
from scrapersky.core.settings import Settings
from scrapersky.engine.admission import Admission, Watch, consult
from scrapersky.engine.events import BreakerChanged, Events
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.tuning import Pace, Tuning
from scrapersky.engine.workflow import Workflow


class QueueProcessor:
    """Everything a loop needs to work on one queue, given by hand."""

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
        self.database = database
        self.events = events
        self.settings = settings
        self.stop_by: float | None = None  # the monotonic time at which unfinished rows are given back
        self._stirs: set[Callable[[], None]] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self._watch = Watch(
            workflow.name,
            self.tuning,
            self.queue,
            workflow.feeds,
            self.next_queue,
            tunings[workflow.feeds].high_water if workflow.feeds else 0,
        )
        self.verdict = Admission(False, "closed", None, None, Pace(self.tuning.batch_size, self.tuning.interval))

    @property
    def running(self) -> int:
        """How many cycles of this workflow run in this process."""
        return len(self._stirs)

    @property
    def stopping(self) -> bool:
        """Whether no more rows may be claimed here."""
        return self.stop_by is not None

    def join(self, stir: Callable[[], None]) -> None:
        """A cycle has started; `stir` makes it look up."""
        self._stirs.add(stir)
        self._empty.clear()

    def leave(self, stir: Callable[[], None]) -> None:
        """A cycle is over."""
        self._stirs.discard(stir)
        if not self._stirs:
            self._empty.set()

    def wake(self) -> None:
        """Make running cycles look at the queue now."""
        for stir in list(self._stirs):
            stir()

    def stop(self, grace_seconds: float) -> None:
        """Claim nothing more; what is not finished after the grace is given back."""
        deadline = time.monotonic() + grace_seconds
        self.stop_by = deadline if self.stop_by is None else min(self.stop_by, deadline)
        self.wake()

    async def drained(self) -> None:
        """Wait until no cycle runs here any more."""
        await self._empty.wait()

    async def consult(self, good: int = 0, bad: int = 0, item_seconds: float | None = None) -> Admission:
        """Report outcomes and learn what may be done now; says so when the breaker changed."""
        before = self.verdict.breaker
        self.verdict = await consult(self.database, self._watch, good, bad, item_seconds)
        if self.verdict.breaker != before:
            await self.events.publish(
                BreakerChanged(self.workflow.name, self.verdict.breaker, self.verdict.reason),
            )
        return self.verdict
