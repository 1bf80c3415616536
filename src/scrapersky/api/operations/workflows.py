"""The workflows of the pipeline: their state; run, pause and resume them."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas.fields import Count, RequestModel, ResponseModel, ResultPage, WorkflowName
from scrapersky.core.text_rules import Text
from scrapersky.store.operations import controls, workflow_status
from scrapersky.store.operations.workflow_status import WorkflowStatus

router = APIRouter(prefix="/workflows", tags=["workflows"], route_class=ListRoute)


class QueueDepth(ResponseModel):
    """The rows of a queue: of your tenant, or of all tenants for the operator tenant. Counts stop at 100,000."""

    ready: Count = Field(description="can be claimed now", examples=[12])
    waiting: Count = Field(description="can be claimed later: backoff, or postponed", examples=[3])
    processing: Count = Field(description="claimed by a worker", examples=[2])
    dead: Count = Field(description="failed for good: dead letters", examples=[0])


class WorkflowState(BaseModel):
    """The current state of a workflow."""

    number: Count = Field(description="its place in the pipeline: 2 for WF2", examples=[2])
    name: str = Field(description="its name in URLs, settings and commands", examples=["deep_scan"])
    title: str = Field(description="its name for people", examples=["Deep scan"])
    summary: str = Field(
        description="what it does, in one sentence",
        examples=["Fetches the details of a place and makes it a local business."],
    )
    queue: str = Field(description="the table and the prefix of the queue's columns", examples=["place.deep_scan"])
    feeds: str | None = Field(description="the workflow whose queue it fills", examples=["domain_extraction"])
    depth: QueueDepth = Field(description="the rows of its queue")
    oldest_seconds: float = Field(description="how long the oldest ready row has been waiting", examples=[4.5])
    oldest_limit_seconds: float = Field(description="the age above which the workflow is degraded", examples=[900.0])
    rate_per_minute: float | None = Field(
        description="rows finished in the last 15 minutes on all hosts; for the operator tenant", examples=[31.2]
    )
    error_rate: float | None = Field(
        description="the share of attempts that failed in the last 15 minutes", examples=[0.02]
    )
    p50_seconds: float | None = Field(
        description="the median duration of a row, accurate to a factor of two", examples=[0.25]
    )
    p95_seconds: float | None = Field(
        description="the 95th percentile of the duration of a row, accurate to a factor of two", examples=[1.0]
    )
    breaker: str = Field(
        description="closed, open (too many failures: it waits) or half-open (it tries one row)", examples=["closed"]
    )
    breaker_until: datetime | None = Field(description="when an open breaker tries again")
    breaker_reason: str | None = Field(
        description="the share of rows that failed, and with which error",
        examples=["80 % of the last 20 rows failed: TimedOut"],
    )
    paused: bool = Field(description="whether people stopped it: no rows are claimed", examples=[False])
    paused_at: datetime | None = Field(description="since when it is paused")
    paused_by: str | None = Field(description="who paused it; for the operator tenant", examples=["ada"])
    pause_reason: str | None = Field(
        description="why it is paused, as that person wrote", examples=["quota of the provider"]
    )
    held_by: str | None = Field(
        description="the next workflow, while its queue is over its high-water mark", examples=["domain_extraction"]
    )
    max_per_minute: Count = Field(
        description="how many rows all hosts together claim in a minute; 0: no limit", examples=[600]
    )
    batch_size: Count = Field(description="the current batch size", examples=[10])
    interval_seconds: float = Field(description="the current polling interval", examples=[300.0])
    next_run: datetime | None = Field(description="when this process polls the queue next; empty if it does not")
    running: Count | None = Field(
        description="the running loops of this workflow in this process; for the operator tenant", examples=[0]
    )


class Pause(RequestModel):
    """Why a workflow is paused."""

    reason: Text | None = Field(
        None, description="shown in the state of the workflow", examples=["quota of the provider"]
    )


class RunRequested(BaseModel):
    """All workers were notified to poll the queue."""

    workflow: str = Field(description="the workflow", examples=["deep_scan"])
    workers: Count = Field(
        description="workers with a heartbeat in the last 30 seconds; without one nothing happens", examples=[2]
    )


@router.get("", summary="All workflows in the order of the pipeline", **requires(VIEWER))
async def list_workflows(application: CurrentApplication, actor: CurrentActor) -> ResultPage[WorkflowState]:
    """List all workflows on one page: depth and age of the rows of your tenant, or of all for the operator tenant."""
    if not actor.is_operator:
        async with application.database.session(actor.tenant_id) as session:
            own = await workflow_status.of_tenant(session, application.pipeline, actor.tenant_id)
        return ResultPage(items=[_tenant_state(application, status) for status in own], next_cursor=None)
    async with application.database.engine_session() as session:
        found = await workflow_status.of_engine(session, application.pipeline)
    return ResultPage(items=[workflow_state(application, status) for status in found.workflows], next_cursor=None)


@router.get("/{name}", summary="One workflow", **requires(VIEWER, 404, 422))
async def get_workflow(name: WorkflowName, application: CurrentApplication, actor: CurrentActor) -> WorkflowState:
    """Return one workflow, as in the list."""
    if not actor.is_operator:
        async with application.database.session(actor.tenant_id) as session:
            [own] = await workflow_status.of_tenant(session, application.pipeline, actor.tenant_id, name)
        return _tenant_state(application, own)
    async with application.database.engine_session() as session:
        return workflow_state(application, await workflow_status.of_workflow(session, application.pipeline, name))


@router.post(
    "/{name}/run", status_code=202, summary="Run a workflow now", **requires(OPERATOR, 404, 409, 422, operators=True)
)
async def run_workflow(name: WorkflowName, application: CurrentApplication, actor: CurrentActor) -> RunRequested:
    """Let all hosts poll the queue now. 409 while the workflow is paused or its breaker is open."""
    workflow = application.pipeline[name]
    async with application.database.engine_session() as session:
        await controls.request_run(session, actor, workflow.name)
        seen = await controls.workers(session)
    return RunRequested(workflow=name, workers=len(seen))


@router.post(
    "/{name}/pause", summary="Pause a workflow on all hosts", **requires(OPERATOR, 400, 404, 409, 422, operators=True)
)
async def pause_workflow(
    name: WorkflowName, application: CurrentApplication, actor: CurrentActor, body: Pause | None = None
) -> WorkflowState:
    """Pause the workflow. Rows in flight are finished; no further rows are claimed until it is resumed."""
    async with application.database.engine_session() as session:
        await controls.pause(session, actor, application.pipeline[name].name, body.reason if body else None)
        return workflow_state(application, await workflow_status.of_workflow(session, application.pipeline, name))


@router.post(
    "/{name}/resume",
    summary="Resume a workflow, and close its breaker",
    **requires(OPERATOR, 404, 409, 422, operators=True),
)
async def resume_workflow(name: WorkflowName, application: CurrentApplication, actor: CurrentActor) -> WorkflowState:
    """End a pause and close an open breaker, on all hosts."""
    async with application.database.engine_session() as session:
        await controls.resume(session, actor, application.pipeline[name].name)
        return workflow_state(application, await workflow_status.of_workflow(session, application.pipeline, name))


# Empty until a host has worked on the workflow.
_CONTROL_FIELDS = ("breaker_until", "breaker_reason", "paused_at", "paused_by", "pause_reason", "held_by")
# Fields about all tenants and hosts, and texts written by operators.
_OPERATOR_FIELDS = (
    "rate_per_minute",
    "error_rate",
    "p50_seconds",
    "p95_seconds",
    "paused_by",
    "held_by",
    "next_run",
    "running",
)


def _tenant_state(application: WebApplication, status: WorkflowStatus) -> WorkflowState:
    """Return the state without the fields that only the operator tenant may see."""
    return workflow_state(application, status).model_copy(update=dict.fromkeys(_OPERATOR_FIELDS))


def workflow_state(application: WebApplication, status: WorkflowStatus) -> WorkflowState:
    """Return the state of a workflow as responses show it."""
    workflow, measures, recent, control = status.workflow, status.measures, status.recent, status.control
    tuning = application.tunings[workflow.name]
    job = application.runtime.scheduler.get_job(workflow.job_id)
    return WorkflowState(
        **{name: getattr(workflow, name) for name in ("number", "name", "title", "summary", "feeds")},
        **{name: getattr(recent, name) for name in ("error_rate", "p50_seconds", "p95_seconds")},
        **{name: getattr(control, name, None) for name in _CONTROL_FIELDS},
        queue=application.pipeline.queues[workflow.name].name,
        depth=QueueDepth.model_validate(measures),
        oldest_seconds=measures.oldest_seconds,
        oldest_limit_seconds=tuning.oldest_age_limit_seconds,
        rate_per_minute=round(recent.rate_per_minute, 3),
        breaker=control.breaker if control else "closed",
        paused=control is not None and control.paused_at is not None,
        max_per_minute=control.max_per_minute if control else tuning.max_per_minute,
        batch_size=(control.batch_size if control else None) or tuning.batch_size,
        interval_seconds=(control.interval_seconds if control else None) or tuning.interval,
        next_run=getattr(job, "next_run_time", None),
        running=application.runtime.processors[workflow.name].running,
    )
