"""Internals of this process, for operators of the operator tenant; in development for all its users."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, VIEWER, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas.fields import Count, ResponseModel
from scrapersky.core import clock
from scrapersky.store.operations import controls

router = APIRouter(prefix="/dev-tools", tags=["dev tools"], responses=problems(404))


class ScheduledJob(BaseModel):
    """A job of this process's scheduler."""

    id: str = Field(description="the id of the job in the scheduler", examples=["workflow.deep_scan"])
    name: str = Field(description="the name of the job, for people", examples=["deep_scan"])
    trigger: str = Field(description="when it runs", examples=["interval[0:05:00]"])
    next_run_time: datetime | None = Field(description="the next run; empty: paused, or pending")
    pending: bool = Field(description="added before the scheduler was started", examples=[False])
    max_instances: Count = Field(description="how many runs of it may overlap in this process", examples=[1])


class SeenWorker(ResponseModel):
    """A worker process with a heartbeat in the last 30 seconds."""

    id: UUID = Field(description="the id of the process, new at every start")
    host: str = Field(description="the host name", examples=["worker-1"])
    pid: Count = Field(description="the process id on its host", examples=[4242])
    version: str = Field(description="the version of scrapersky that it runs", examples=["3.0.0"])
    started_at: datetime = Field(description="when the process started")
    seen_at: datetime = Field(description="its last heartbeat")


class PoolUse(BaseModel):
    """The database connections of this process."""

    size: Count = Field(description="the maximum number of connections", examples=[20])
    in_use: Count = Field(description="connections that a session holds now", examples=[2])
    idle: Count = Field(description="open connections that no session holds", examples=[3])


class SchedulerStatus(BaseModel):
    """The scheduler of this process, and the workers of all hosts."""

    status: str = Field(description="running, paused or stopped", examples=["running"])
    jobs: list[ScheduledJob] = Field(description="the jobs of this process")
    total_jobs: Count = Field(description="the number of jobs", examples=[12])
    failed_registrations: dict[str, str] = Field(
        description="jobs that could not be registered, and why", examples=[{}]
    )
    workers: list[SeenWorker] = Field(description="the processes of all hosts that run the scheduler")
    pools: dict[Annotated[str, Field(examples=["database"])], PoolUse] = Field(
        description="the connections of each pool"
    )
    timestamp: datetime = Field(description="when this state was read")


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
