"""How each workflow stands: its queue now, its runs lately, and what all hosts agreed on about it."""

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
from scrapersky.store.operations.runs import Recent


@dataclass(frozen=True)
class Standing:
    """One workflow at one moment; no control until some host has worked on it."""

    workflow: Workflow[Any, Any, Any]
    measures: QueueMetrics
    recent: Recent
    control: WorkflowControl | None


async def of_line(session: AsyncSession, pipeline: Pipeline) -> list[Standing]:
    """Every workflow in its order over all tenants and hosts, asked in a session of the engine."""
    return await _standings(session, pipeline, list(pipeline))


async def of_workflow(session: AsyncSession, pipeline: Pipeline, name: str) -> Standing:
    """One workflow, or UnknownWorkflow."""
    return (await _standings(session, pipeline, [pipeline[name]]))[0]


async def of_tenant(
    session: AsyncSession, pipeline: Pipeline, tenant_id: UUID, name: str | None = None
) -> list[Standing]:
    """Every workflow as one tenant may see it: the depths are its own, and what others do to the pace is not told."""
    control_of = await controls.by_workflow(session)
    return [
        Standing(
            workflow,
            await queue_rows.measures(session, workflow, tenant_id),
            Recent(),
            control_of.get(workflow.name),
        )
        for workflow in ([pipeline[name]] if name else pipeline)
    ]


async def _standings(
    session: AsyncSession, pipeline: Pipeline, workflows: list[Workflow[Any, Any, Any]]
) -> list[Standing]:
    control_of, recent_of = await controls.by_workflow(session), await runs.recent(session)
    driver = await driver_connection(session)
    return [
        Standing(
            workflow,
            await pipeline.queues[workflow.name].measure(driver),
            recent_of.get(workflow.name, Recent()),
            control_of.get(workflow.name),
        )
        for workflow in workflows
    ]
