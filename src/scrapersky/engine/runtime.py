"""The engine of a process: stations, scheduler, wake-ups and the pulse, started and stopped together."""

import asyncio
import os
import socket
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import structlog

from scrapersky import __version__
from scrapersky.core.cancellation import heed_cancel
from scrapersky.core.database import Database, is_connection_error
from scrapersky.core.settings import Settings
from scrapersky.core.uuid7 import new_id
from scrapersky.engine.events import DatabaseAway, Events
from scrapersky.engine.listener import hear_wakeups
from scrapersky.engine.maintenance import Periodic
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.scheduler import (
    new_scheduler,
    register_all,
    register_periodic,
    register_workflow,
    run_now,
    set_interval,
    shutdown_scheduler,
    start_scheduler,
)
from scrapersky.engine.tuning import Tuning

log = structlog.get_logger(__name__)

SIGN_SECONDS = 5.0  # how often a process signs the list of workers
HOST = socket.gethostname()


class Runtime:
    """Everything that runs by itself in a process. `start`, then `stop`; nothing is global."""

    def __init__(
        self,
        pipeline: Pipeline,
        tunings: dict[str, Tuning],
        database: Database,
        events: Events,
        settings: Settings,
        maintenance: Sequence[Periodic] = (),
    ) -> None:
        self.pipeline = pipeline
        self.tunings = tunings
        self.database = database
        self.events = events
        self.settings = settings
        self.worker_id = new_id()
        self.scheduler = new_scheduler(settings)
        self.processors = {
            workflow.name: QueueProcessor(workflow, pipeline, tunings, database, events, settings)
            for workflow in pipeline
        }
        self.maintenance = maintenance
        self.failed_registrations: dict[str, str] = {}
        self.pulsed_at: float | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._signed_at = -1e9
        self._requests: dict[str, datetime | None] | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the scheduler runs and the pulse has been felt lately."""
        patience = 10 + 3 * self.settings.poll_interval_seconds
        return self.scheduler.running and self.pulsed_at is not None and time.monotonic() - self.pulsed_at < patience

    def start(self) -> None:
        """Register every job, start the scheduler, the wake-ups and the pulse."""
        self.failed_registrations = register_all(
            [
                *(
                    (processor.workflow.job_id, lambda processor=processor: self._register(processor))
                    for processor in self.processors.values()
                ),
                *(
                    (
                        task.job_id,
                        lambda task=task: register_periodic(self.scheduler, task, self.database, self.settings),
                    )
                    for task in self.maintenance
                ),
            ]
        )
        start_scheduler(self.scheduler, self.events)
        self._tasks = [asyncio.create_task(self._pulse(), name="pulse")]
        if not self.settings.poll_only:
            self._tasks.append(
                asyncio.create_task(hear_wakeups(self.database, self._heard, self.events), name="wake-ups")
            )

    async def stop(self, grace_seconds: float | None = None) -> None:
        """Stop claiming at once, give work its grace, hand the rest back."""
        self.pulsed_at = None  # from now on this process is not ready for anything
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        grace = self.settings.shutdown_grace_seconds if grace_seconds is None else grace_seconds
        await shutdown_scheduler(self.scheduler, list(self.processors.values()), grace)
        await self._sign_off()

    def hurry(self) -> None:
        """A second request to stop: give everything back now."""
        for processor in self.processors.values():
            processor.stop(0)

    def wake(self, name: str) -> bool:
        """Look at this workflow's queue now; false if its job is not registered here."""
        processor = self.processors[name]
        if processor.running:
            processor.wake()
            return True
        return run_now(self.scheduler, processor.workflow.job_id)

    def _register(self, processor: QueueProcessor) -> None:
        register_workflow(self.scheduler, processor, self.settings)

    def _heard(self, queue: str) -> None:
        workflow = self.pipeline.by_queue(queue)
        if workflow is None:
            return
        processor = self.processors[workflow.name]
        if not processor.stopping and processor.verdict.may_claim:  # while it may not, only the pulse looks
            self.wake(workflow.name)

    # -- the pulse -----------------------------------------------------------------------------------------------

    async def _pulse(self) -> None:
        """Once a poll: one look at all queues and at what other hosts have decided. The truth behind the hints."""
        while True:
            try:
                await self._beat_once()
                self.pulsed_at = time.monotonic()
            except Exception as error:
                heed_cancel(error)
                if not is_connection_error(error):
                    log.exception("poll_failed")
                await self.events.publish(DatabaseAway("pulse", f"{type(error).__name__}: {error}"))
            await asyncio.sleep(self.settings.poll_interval_seconds)

    async def _beat_once(self) -> None:
        names = list(self.processors)
        async with self.database.engine_connection() as connection:
            questions = ", ".join(f"({self.processors[name].queue.work_sql}) AS w{n}" for n, name in enumerate(names))
            work: Any = await connection.fetchrow(f"SELECT {questions}") if names else []
            requests = await connection.fetch("SELECT workflow, run_requested_at FROM workflow_control")
            if time.monotonic() - self._signed_at > SIGN_SECONDS:
                await connection.execute(_SIGN, self.worker_id, HOST, os.getpid(), __version__)
                self._signed_at = time.monotonic()
        asked = self._newly_requested(requests)
        for name, has_work in zip(names, work, strict=True):
            try:
                await self._attend(self.processors[name], bool(has_work), name in asked)
            except Exception as error:  # one workflow's trouble must not keep the others waiting
                heed_cancel(error)
                if is_connection_error(error):
                    raise
                log.exception("queue_poll_failed", workflow=name)

    async def _attend(self, processor: QueueProcessor, has_work: bool, asked: bool) -> None:
        if processor.stopping:
            return
        set_interval(self.scheduler, processor.workflow.job_id, processor.verdict.pace.interval_seconds)
        if processor.running:
            if has_work:
                processor.wake()
            if not (has_work and processor.running < processor.tuning.max_instances):
                return
        if asked or (has_work and (await processor.consult()).may_claim):
            run_now(self.scheduler, processor.workflow.job_id)

    def _newly_requested(self, rows: Sequence[Any]) -> set[str]:
        now = {row["workflow"]: row["run_requested_at"] for row in rows}
        before, self._requests = self._requests, now
        if before is None:
            return set()
        return {name for name, at in now.items() if at is not None and at != before.get(name)}

    async def _sign_off(self) -> None:
        try:
            async with self.database.engine_connection() as connection:
                await connection.execute("DELETE FROM worker WHERE id = $1", self.worker_id)
        except Exception as error:
            if not is_connection_error(error):
                raise
            await self.events.publish(DatabaseAway("sign off", f"{type(error).__name__}: {error}"))


_SIGN = """
INSERT INTO worker (id, host, pid, version) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET seen_at = now()"""
