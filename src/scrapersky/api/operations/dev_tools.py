"""Internals of this process, for operators of the operator tenant; in development for all its users."""

from datetime import datetime
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, VIEWER, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas.fields import ResponseModel
from scrapersky.core import clock
from scrapersky.store.operations import controls

router = APIRouter(prefix="/dev-tools", tags=["dev tools"], responses=problems(404))


class ScheduledJob(BaseModel):
    """A job of this process's scheduler."""

    id: str
    name: str
    trigger: str
    next_run_time: datetime | None
    pending: bool = Field(description="added before the scheduler was started")
    max_instances: int


class SeenWorker(ResponseModel):
    """A worker process with a heartbeat in the last 30 seconds."""

    id: UUID
    host: str
    pid: int
    version: str
    started_at: datetime
    seen_at: datetime


class PoolUse(BaseModel):
    """The database connections of this process."""

    size: int = Field(description="the maximum number of connections")
    in_use: int
    idle: int


class SchedulerStatus(BaseModel):
    """The scheduler of this process, and the workers of all hosts."""

    status: str = Field(description="running, paused or stopped")
    jobs: list[ScheduledJob]
    total_jobs: int
    failed_registrations: dict[str, str] = Field(description="jobs that could not be registered, and why")
    workers: list[SeenWorker]
    pools: dict[str, PoolUse]
    timestamp: datetime


@router.get(
    "/scheduler_status", summary="The scheduler of this process", **requires(OPERATOR, operators=True, developer=VIEWER)
)
async def scheduler_status(application: CurrentApplication) -> SchedulerStatus:
    """Return the jobs with their next runs, failed registrations, the workers of all hosts and the connection pools."""
    async with application.database.engine_session() as session:
        workers = await controls.workers(session)
    jobs = [_job(job) for job in application.runtime.scheduler.get_jobs()]
    return SchedulerStatus(
        status=("stopped", "running", "paused")[application.runtime.scheduler.state],
        jobs=jobs,
        total_jobs=len(jobs),
        failed_registrations=application.runtime.failed_registrations,
        workers=[SeenWorker.model_validate(worker) for worker in workers],
        pools={"database": _pool(application.database.engine.pool)},
        timestamp=clock.now(),
    )


def _job(job: Any) -> ScheduledJob:
    return ScheduledJob(
        **{name: getattr(job, name) for name in ("id", "name", "pending", "max_instances")},
        trigger=str(job.trigger),
        next_run_time=getattr(job, "next_run_time", None),  # a pending job has none yet
    )


def _pool(pool: Any) -> PoolUse:
    return PoolUse(size=pool.size(), in_use=pool.checkedout(), idle=pool.checkedin())
