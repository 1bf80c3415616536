"""The shared AsyncIOScheduler of a process, with one job per workflow and per periodic task."""

import asyncio
import random
from collections.abc import Callable, Sequence
from datetime import UTC, timedelta
from typing import Any

import structlog
from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_EXECUTED,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    JobEvent,
)
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from scrapersky.core import clock
from scrapersky.core.database import Database, is_connection_error, is_lock_timeout
from scrapersky.core.settings import Settings
from scrapersky.engine.events import Events, SchedulerJobEvent
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.maintenance import MaintenanceTask, run_periodic
from scrapersky.engine.processor import QueueProcessor

log = structlog.get_logger(__name__)

FIRST_RUNS_SECONDS = 60.0
JOB_EVENTS = {
    EVENT_JOB_EXECUTED: "executed",
    EVENT_JOB_ERROR: "error",
    EVENT_JOB_MISSED: "missed",
    EVENT_JOB_MAX_INSTANCES: "max_instances",
}


def new_scheduler(settings: Settings) -> AsyncIOScheduler:
    """Build the scheduler: UTC, late runs coalesced, misfire grace from the settings."""
    return AsyncIOScheduler(
        timezone=UTC,
        job_defaults={"coalesce": True, "misfire_grace_time": settings.misfire_grace_seconds, "max_instances": 1},
    )


def register_workflow(scheduler: AsyncIOScheduler, processor: QueueProcessor, settings: Settings) -> None:
    """Add the job of one workflow. Its first run is at a random moment of its interval.

    Workflows of the same interval would otherwise all run at once, and fill the connection pool of an idle process.
    """
    interval = processor.tuning.interval
    first = clock.now() + timedelta(seconds=random.uniform(0, interval))  # nosec B311 # not for secrets
    scheduler.add_job(
        run_job_loop,
        trigger=IntervalTrigger(seconds=interval, start_date=first, timezone=UTC),
        args=[processor],
        id=processor.workflow.job_id,
        name=processor.workflow.job_name,
        replace_existing=True,
        coalesce=True,
        misfire_grace_time=settings.misfire_grace_seconds,
        max_instances=processor.tuning.max_instances,
    )


def register_periodic(
    scheduler: AsyncIOScheduler, task: MaintenanceTask, database: Database, settings: Settings
) -> None:
    """Add the job of one periodic task. Its first run is at a random moment of the first minute.

    All tasks at once would fill the connection pool, and a process may end before the first interval of a task.
    """
    first_seconds = random.uniform(0, min(FIRST_RUNS_SECONDS, task.interval_minutes * 60))  # nosec B311 # not for secrets
    scheduler.add_job(
        _run_until_stopped,
        trigger=IntervalTrigger(minutes=task.interval_minutes, timezone=UTC),
        args=[task, database],
        next_run_time=clock.now() + timedelta(seconds=first_seconds),
        id=task.job_id,
        name=task.job_name,
        replace_existing=True,
        coalesce=True,
        misfire_grace_time=settings.misfire_grace_seconds,
        max_instances=1,
    )


async def _run_until_stopped(task: MaintenanceTask, database: Database) -> None:
    """Run a task; neither cancellation nor a lost connection is a failure, because a host will run it again."""
    try:
        await run_periodic(task, database)
    except asyncio.CancelledError:
        log.debug("maintenance_interrupted", task=task.name)
    except Exception as error:
        if not (is_connection_error(error) or is_lock_timeout(error)):
            raise
        log.debug("maintenance_interrupted", task=task.name, error=f"{type(error).__name__}: {error}")


def register_all(registrations: Sequence[tuple[str, Callable[[], None]]]) -> dict[str, str]:
    """Run each registration. A failing one is logged and returned with its error; the others still start."""
    failed: dict[str, str] = {}
    for job_id, register in registrations:
        try:
            register()
        except Exception as error:  # one invalid declaration must not stop the others
            failed[job_id] = f"{type(error).__name__}: {error}"
            log.exception("job_registration_failed", job_id=job_id)
    return failed


def start_scheduler(scheduler: AsyncIOScheduler, events: Events) -> None:
    """Start the scheduler once, with a listener that publishes its events."""
    if scheduler.running:
        log.warning("scheduler_already_running")
        return
    scheduler.add_listener(job_listener(events), sum(JOB_EVENTS))
    scheduler.start()
    log.info("scheduler_started", jobs=len(scheduler.get_jobs()))


def job_listener(events: Events) -> Callable[[JobEvent], None]:
    """Return a listener that publishes every executed, failed, missed or refused run of a job."""
    publishing: set[asyncio.Task[None]] = set()

    def listen(event: JobEvent) -> None:
        error = getattr(event, "exception", None)
        job_event = SchedulerJobEvent(event.job_id, JOB_EVENTS[event.code], repr(error) if error else None)
        task = asyncio.get_running_loop().create_task(events.publish(job_event))
        publishing.add(task)
        task.add_done_callback(publishing.discard)

    return listen


def run_now(scheduler: AsyncIOScheduler, job_id: str) -> bool:
    """Start a job at once instead of at its next interval. Return False if it is not registered here."""
    try:
        scheduler.modify_job(job_id, next_run_time=clock.now())
    except JobLookupError:
        return False
    return True


def set_interval(scheduler: AsyncIOScheduler, job_id: str, seconds: float) -> None:
    """Change the interval of a job, unless the difference is small."""
    job: Any = scheduler.get_job(job_id)
    if job is None or abs(job.trigger.interval.total_seconds() - seconds) < 0.2 * seconds:
        return
    scheduler.reschedule_job(job_id, trigger=IntervalTrigger(seconds=seconds, timezone=UTC))


async def shutdown_scheduler(
    scheduler: AsyncIOScheduler, processors: Sequence[QueueProcessor], grace_seconds: float
) -> None:
    """Stop claiming, let work finish, give back the rest; then stop the scheduler, which cancels running jobs."""
    if not scheduler.running:
        return
    scheduler.pause()
    for processor in processors:
        processor.stop(grace_seconds)
    await asyncio.gather(*(processor.drained() for processor in processors))
    scheduler.shutdown(wait=False)
    log.info("scheduler_stopped")
