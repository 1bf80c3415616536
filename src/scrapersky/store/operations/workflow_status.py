"""The status of workflows: queue, recent runs and control row."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.queue import QueueMetrics
from scrapersky.engine.settle import driver_connection
from scrapersky.engine.workflow import Workflow
from scrapersky.models import WorkflowControl
from scrapersky.store.operations import controls, queue_rows, runs
from scrapersky.store.operations.runs import RecentRuns


@dataclass(frozen=True)
class WorkflowStatus:
    """One workflow at one moment; `control` is None until a host has run it."""

    workflow: Workflow[Any, Any, Any]
    measures: QueueMetrics
    recent: RecentRuns
    control: WorkflowControl | None


async def of_pipeline(session: AsyncSession, pipeline: Pipeline) -> list[WorkflowStatus]:
    """Return the status of every workflow over all tenants and hosts, in a session of the engine."""
    return await _statuses(session, pipeline, list(pipeline))


async def of_workflow(session: AsyncSession, pipeline: Pipeline, name: str) -> WorkflowStatus:
    """Return the status of one workflow, or raise UnknownWorkflow."""
    return (await _statuses(session, pipeline, [pipeline[name]]))[0]


async def of_tenant(
    session: AsyncSession, pipeline: Pipeline, tenant_id: UUID, name: str | None = None
) -> list[WorkflowStatus]:
    """Return what a tenant may see of workflows: the metrics of its own rows, without the runs of all tenants."""
    control_of = await controls.by_workflow(session)
    return [
        WorkflowStatus(
            workflow,
            await queue_rows.queue_metrics(session, workflow, tenant_id),
            RecentRuns(),
            control_of.get(workflow.name),
        )
        for workflow in ([pipeline[name]] if name else pipeline)
    ]


async def _statuses(
    session: AsyncSession, pipeline: Pipeline, workflows: list[Workflow[Any, Any, Any]]
) -> list[WorkflowStatus]:
    control_of, recent_of = await controls.by_workflow(session), await runs.recent(session)
    driver = await driver_connection(session)
    return [
        WorkflowStatus(
            workflow,
            await pipeline.queues[workflow.name].measure(driver),
            recent_of.get(workflow.name, RecentRuns()),
            control_of.get(workflow.name),
        )
        for workflow in workflows
    ]
