"""The workflows of the line: how each one stands, and run, pause, resume."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas.fields import RequestModel, ResultPage, Text, WorkflowName
from scrapersky.store.operations import controls, workflow_status
from scrapersky.store.operations.workflow_status import Standing

router = APIRouter(prefix="/workflows", tags=["workflows"], responses=problems(503))


class QueueDepth(BaseModel):
    """Rows of a queue: your own, or for the house those of all tenants. Counts stop at 100,000."""

    ready: int = Field(description="to be taken now")
    waiting: int = Field(description="to be taken later: backoff, or put off")
    processing: int = Field(description="being worked on")
    dead: int = Field(description="given up: dead letters")


class WorkflowState(BaseModel):
    """One step of the line at this moment."""

    number: int
    name: str
    title: str
    summary: str
    queue: str = Field(description="the table and the prefix of the columns this works on")
    feeds: str | None = Field(description="the workflow whose inbox it fills")
    depth: QueueDepth
    oldest_seconds: float = Field(description="how long the first ready row has been waiting")
    oldest_limit_seconds: float = Field(description="the age that is an alarm")
    rate_per_minute: float | None = Field(
        description="rows that came to an end, over the last 15 minutes, on all hosts; for the house"
    )
    error_rate: float | None = Field(description="share of tries that failed, over the last 15 minutes")
    p50_seconds: float | None = Field(description="half of the rows took no longer than this, to a factor of two")
    p95_seconds: float | None = Field(description="95 of 100 rows took no longer than this, to a factor of two")
    breaker: str = Field(description="closed, open (too many failures: it waits) or half-open (it tries one row)")
    breaker_until: datetime | None = Field(description="when an open breaker will try again")
    breaker_reason: str | None
    paused: bool
    paused_at: datetime | None
    paused_by: str | None
    pause_reason: str | None
    held_by: str | None = Field(description="the next workflow, while its queue is over its high-water mark")
    batch_size: int = Field(description="rows claimed at once now")
    interval_seconds: float = Field(description="seconds between two looks without a wake-up now")
    next_run: datetime | None = Field(description="when this process looks next; empty if it does not")
    running: int | None = Field(description="loops of this workflow in this process now; for the house")


class Pause(RequestModel):
    """Why a workflow is paused."""

    reason: Text | None = Field(None, description="shown to whoever wonders why nothing moves")


class RunRequested(BaseModel):
    """Every host was asked to look at the queue now."""

    workflow: str
    workers: int = Field(description="processes seen within the last half minute; nothing happens without one")


@router.get("", summary="All workflows in the order of the line", openapi_extra=requires(VIEWER))
async def list_workflows(application: CurrentApplication, actor: CurrentActor) -> ResultPage[WorkflowState]:
    """Depth and age of your own rows, breaker and pace of each; for the house, of all. It is short and comes whole."""
    if not actor.is_operator:
        async with application.database.session(actor.tenant_id) as session:
            own = await workflow_status.of_tenant(session, application.pipeline, actor.tenant_id)
        return ResultPage(items=[_own_state(application, standing) for standing in own], next_cursor=None)
    async with application.database.engine_session() as session:
        found = await workflow_status.of_line(session, application.pipeline)
    return ResultPage(items=[_state(application, standing) for standing in found], next_cursor=None)


@router.get("/{name}", summary="One workflow", responses=problems(404, 422), openapi_extra=requires(VIEWER))
async def get_workflow(name: WorkflowName, application: CurrentApplication, actor: CurrentActor) -> WorkflowState:
    """The same as in the list."""
    if not actor.is_operator:
        async with application.database.session(actor.tenant_id) as session:
            [own] = await workflow_status.of_tenant(session, application.pipeline, actor.tenant_id, name)
        return _own_state(application, own)
    async with application.database.engine_session() as session:
        return _state(application, await workflow_status.of_workflow(session, application.pipeline, name))


@router.post(
    "/{name}/run",
    status_code=202,
    summary="Look at the queue now",
    responses=problems(404, 409, 422),
    openapi_extra=requires(OPERATOR, operators=True),
)
async def run_workflow(name: WorkflowName, application: CurrentApplication, actor: CurrentActor) -> RunRequested:
    """Every host looks at this queue at once instead of at its next interval. Refused while paused or broken."""
    workflow = application.pipeline[name]
    async with application.database.engine_session() as session:
        await controls.request_run(session, actor, workflow.name)
        seen = await controls.workers(session)
    return RunRequested(workflow=name, workers=len(seen))


@router.post(
    "/{name}/pause",
    summary="Stop claiming on every host",
    responses=problems(400, 404, 409, 422),
    openapi_extra=requires(OPERATOR, operators=True),
)
async def pause_workflow(
    name: WorkflowName, application: CurrentApplication, actor: CurrentActor, body: Pause | None = None
) -> WorkflowState:
    """Rows in hand are finished; no more are taken until it is resumed."""
    async with application.database.engine_session() as session:
        await controls.pause(session, actor, application.pipeline[name].name, body.reason if body else None)
        return _state(application, await workflow_status.of_workflow(session, application.pipeline, name))


@router.post(
    "/{name}/resume",
    summary="Go on, and close the breaker",
    responses=problems(404, 409, 422),
    openapi_extra=requires(OPERATOR, operators=True),
)
async def resume_workflow(name: WorkflowName, application: CurrentApplication, actor: CurrentActor) -> WorkflowState:
    """Ends a pause and closes an open breaker, on every host."""
    async with application.database.engine_session() as session:
        await controls.resume(session, actor, application.pipeline[name].name)
        return _state(application, await workflow_status.of_workflow(session, application.pipeline, name))


# What is about all tenants and hosts, or was said by those who run them.
_HOUSE_ONLY = (
    "rate_per_minute",
    "error_rate",
    "p50_seconds",
    "p95_seconds",
    "breaker_reason",
    "paused_by",
    "held_by",
    "next_run",
    "running",
)


def _own_state(application: WebApplication, standing: Standing) -> WorkflowState:
    """As a tenant may see it: whether its rows move and what they wait for, not what others do."""
    return _state(application, standing).model_copy(update=dict.fromkeys(_HOUSE_ONLY))


def _state(application: WebApplication, standing: Standing) -> WorkflowState:
    workflow, measures, recent, control = standing.workflow, standing.measures, standing.recent, standing.control
    tuning = application.tunings[workflow.name]
    job = application.runtime.scheduler.get_job(workflow.job_id)
    return WorkflowState(
        number=workflow.number,
        name=workflow.name,
        title=workflow.title,
        summary=workflow.summary,
        queue=application.pipeline.queues[workflow.name].name,
        feeds=workflow.feeds,
        depth=QueueDepth(
            ready=measures.ready, waiting=measures.waiting, processing=measures.processing, dead=measures.dead
        ),
        oldest_seconds=measures.oldest_seconds,
        oldest_limit_seconds=tuning.oldest_age_limit_seconds,
        rate_per_minute=round(recent.rate_per_minute, 3),
        error_rate=recent.error_rate,
        p50_seconds=recent.p50_seconds,
        p95_seconds=recent.p95_seconds,
        breaker=control.breaker if control else "closed",
        breaker_until=control.breaker_until if control else None,
        breaker_reason=control.breaker_reason if control else None,
        paused=control is not None and control.paused_at is not None,
        paused_at=control.paused_at if control else None,
        paused_by=control.paused_by if control else None,
        pause_reason=control.pause_reason if control else None,
        held_by=control.held_by if control else None,
        batch_size=(control.batch_size if control else None) or tuning.batch_size,
        interval_seconds=(control.interval_seconds if control else None) or tuning.interval,
        next_run=getattr(job, "next_run_time", None),
        running=application.runtime.processors[workflow.name].running,
    )
