"""The engine of a process: queue processors, scheduler, listener and poller, started and stopped together."""

import asyncio
import os
import socket
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog

from scrapersky import __version__
from scrapersky.core.cancellation import raise_if_cancelled
from scrapersky.core.database import Database, is_connection_error, is_lock_timeout
from scrapersky.core.embedded.watch import keep_running
from scrapersky.core.settings import Settings
from scrapersky.core.uuid7 import new_id
from scrapersky.engine.events import DatabaseAvailable, DatabaseUnavailable, Events
from scrapersky.engine.listener import listen_for_wakeups
from scrapersky.engine.maintenance import MaintenanceTask
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.queue import Focus
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

REGISTER_SECONDS = 5.0  # how often a process updates its row in the worker table
HOST = socket.gethostname()


class Runtime:
    """The background work of a process: call `start`, later `stop`."""

    def __init__(
        self,
        pipeline: Pipeline,
        tunings: dict[str, Tuning],
        database: Database,
        events: Events,
        settings: Settings,
        maintenance: Sequence[MaintenanceTask] = (),
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
        self.polled_at: float | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._registered_at = -1e9
        self._requests: dict[str, datetime | None] | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the scheduler runs and the last poll is recent."""
        limit = 10 + 3 * self.settings.poll_interval_seconds
        return self.scheduler.running and self.polled_at is not None and time.monotonic() - self.polled_at < limit

    def start(self) -> None:
        """Register every job; start the scheduler, the listener and the poller."""
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
        self._tasks = [asyncio.create_task(self._poll(), name="pulse")]
        if self.database.embedded is not None:
            self._tasks.append(asyncio.create_task(keep_running(self.database.embedded), name="embedded server"))
        if not self.settings.poll_only:
            self._tasks.append(
                asyncio.create_task(
                    listen_for_wakeups(self.database, self._on_notification, self.events), name="wake-ups"
                )
            )

    async def stop(self, grace_seconds: float | None = None) -> None:
        """Stop claiming, wait for the grace period, give back unfinished rows."""
        self.polled_at = None  # the process is no longer ready
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        grace = self.settings.shutdown_grace_seconds if grace_seconds is None else grace_seconds
        await shutdown_scheduler(self.scheduler, list(self.processors.values()), grace)
        await self._unregister_worker()

    def focus(self, tenant_id: UUID, flow: UUID) -> None:
        """Let every workflow of this process claim the rows of one search before all others."""
        for processor in self.processors.values():
            processor.focus = Focus(tenant_id, flow)

    def stop_now(self) -> None:
        """Give back every row in flight now, without a grace period."""
        for processor in self.processors.values():
            processor.stop(0)

    def wake(self, name: str) -> bool:
        """Check this workflow's queue now. Return False if its job is not registered here."""
        processor = self.processors[name]
        if processor.running:
            processor.wake()
            return True
        return run_now(self.scheduler, processor.workflow.job_id)

    def _register(self, processor: QueueProcessor) -> None:
        register_workflow(self.scheduler, processor, self.settings)

    def _on_notification(self, queue: str) -> None:
        workflow = self.pipeline.by_queue(queue)
        if workflow is None:
            return
        processor = self.processors[workflow.name]
        if not processor.stopping and processor.admission.may_claim:  # otherwise only the poller checks
            self.wake(workflow.name)

    # -- the poller ----------------------------------------------------------------------------------------------

    async def _poll(self) -> None:
        """Check all queues and run requests in each poll interval; finds what notifications missed."""
        lost_at: float | None = None
        while True:
            try:
                await self._poll_once()
                self.polled_at = time.monotonic()
                if lost_at is not None:
                    await self.events.publish(DatabaseAvailable(self.polled_at - lost_at))
                    lost_at = None
            except Exception as error:
                raise_if_cancelled(error)
                if not (is_connection_error(error) or is_lock_timeout(error)):
                    log.exception("poll_failed")
                lost_at = lost_at or time.monotonic()
                await self.events.publish(DatabaseUnavailable("pulse", f"{type(error).__name__}: {error}"))
            await asyncio.sleep(self.settings.poll_interval_seconds)

    async def _poll_once(self) -> None:
        names = list(self.processors)
        async with self.database.engine_connection() as connection:
            questions = ", ".join(f"({self.processors[name].queue.work_sql}) AS w{n}" for n, name in enumerate(names))
            work: Any = await connection.fetchrow(f"SELECT {questions}") if names else []
            requests = await connection.fetch("SELECT workflow, run_requested_at FROM workflow_control")
            if time.monotonic() - self._registered_at > REGISTER_SECONDS:
                await connection.execute(_REGISTER_WORKER, self.worker_id, HOST, os.getpid(), __version__)
                self._registered_at = time.monotonic()
        requested = self._newly_requested(requests)
        for name, has_work in zip(names, work, strict=True):
            try:
                await self._schedule(self.processors[name], bool(has_work), name in requested)
            except Exception as error:  # a failure of one workflow must not delay the others
                raise_if_cancelled(error)
                if is_connection_error(error) or is_lock_timeout(error):
                    raise
                log.exception("queue_poll_failed", workflow=name)

    async def _schedule(self, processor: QueueProcessor, has_work: bool, requested: bool) -> None:
        if processor.stopping:
            return
        set_interval(self.scheduler, processor.workflow.job_id, processor.admission.pace.interval_seconds)
        if processor.running:
            if has_work:
                processor.wake()
            if not (has_work and processor.running < processor.tuning.max_instances):
                return
        if requested or (has_work and (await processor.consult()).may_claim):
            run_now(self.scheduler, processor.workflow.job_id)

    def _newly_requested(self, rows: Sequence[Any]) -> set[str]:
        now = {row["workflow"]: row["run_requested_at"] for row in rows}
        before, self._requests = self._requests, now
        if before is None:
            return set()
        return {name for name, at in now.items() if at is not None and at != before.get(name)}

    async def _unregister_worker(self) -> None:
        try:
            async with self.database.engine_connection() as connection:
                await connection.execute("DELETE FROM worker WHERE id = $1", self.worker_id)
        except Exception as error:
            if not is_connection_error(error):
                raise
            await self.events.publish(DatabaseUnavailable("sign off", f"{type(error).__name__}: {error}"))


_REGISTER_WORKER = """
INSERT INTO worker (id, host, pid, version) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET seen_at = now()"""
