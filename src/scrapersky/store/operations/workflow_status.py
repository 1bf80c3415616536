"""The status of workflows: queue, recent runs and control row, and the active workers, in one statement."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, DateTime, Select, Uuid, column, func, literal_column, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.queue import QueueMetrics
from scrapersky.engine.workflow import Workflow
from scrapersky.models import Worker, WorkflowControl
from scrapersky.store.operations import controls, queue_rows, runs
from scrapersky.store.operations.queue_rows import MEASURES
from scrapersky.store.operations.runs import RecentRuns

AnyWorkflow = Workflow[Any, Any, Any]


@dataclass(frozen=True)
class WorkflowStatus:
    """One workflow at one moment; `control` is None until a host has run it."""

    workflow: AnyWorkflow
    measures: QueueMetrics
    recent: RecentRuns
    control: WorkflowControl | None


@dataclass(frozen=True)
class EngineStatus:
    """All workflows over all tenants and hosts, and the active workers, the oldest first."""

    workflows: list[WorkflowStatus]
    workers: list[Worker]


async def of_engine(session: AsyncSession, pipeline: Pipeline) -> EngineStatus:
    """Return the status of every workflow over all tenants and hosts, in a session of the engine."""
    return await _of_engine(session, pipeline, list(pipeline))


async def of_workflow(session: AsyncSession, pipeline: Pipeline, name: str) -> WorkflowStatus:
    """Return the status of one workflow, or raise UnknownWorkflow."""
    return (await _of_engine(session, pipeline, [pipeline[name]])).workflows[0]


async def of_tenant(
    session: AsyncSession, pipeline: Pipeline, tenant_id: UUID, name: str | None = None
) -> list[WorkflowStatus]:
    """Return what a tenant may see of workflows: the metrics of its own rows, without the runs of all tenants."""
    chosen = [pipeline[name]] if name else list(pipeline)
    parts = (_json(queue_rows.metrics_of_tenant(chosen, tenant_id), "m"), _json(_CONTROLS, "c"))
    measured, control = (await session.execute(select(*parts))).one()
    return _statuses(chosen, measured, control or [], {})


async def _of_engine(session: AsyncSession, pipeline: Pipeline, workflows: list[AnyWorkflow]) -> EngineStatus:
    measures = " UNION ALL ".join(
        f"SELECT '{workflow.name}' AS workflow, m.* FROM ({pipeline.queues[workflow.name].measure_sql}) m"  # noqa: S608 - our own names
        for workflow in workflows
    )
    parts = (
        _json(text(measures).columns(*map(column, ("workflow", *MEASURES))), "m"),
        _json(_CONTROLS, "c"),
        _json(runs.recent_query(), "r"),
        _json(controls.workers_query(), "w"),
    )
    measured, control, recent, workers = (await session.execute(select(*parts))).one()
    recent_of = {row["workflow"]: runs.recent_of(row) for row in recent or ()}
    return EngineStatus(
        _statuses(workflows, measured, control or [], recent_of), [_model(Worker, row) for row in workers or ()]
    )


def _statuses(
    workflows: list[AnyWorkflow],
    measured: list[dict[str, Any]],
    control: list[dict[str, Any]],
    recent_of: dict[str, RecentRuns],
) -> list[WorkflowStatus]:
    measures = {row["workflow"]: row for row in measured}
    control_of = {row["workflow"]: _model(WorkflowControl, row) for row in control}
    return [
        WorkflowStatus(
            workflow,
            _metrics(measures[workflow.name]),
            recent_of.get(workflow.name, RecentRuns()),
            control_of.get(workflow.name),
        )
        for workflow in workflows
    ]


def _metrics(row: dict[str, Any]) -> QueueMetrics:
    oldest = max(0.0, float(row["oldest"] or 0))
    return QueueMetrics(row["ready"], row["waiting"], row["processing"], row["dead"], oldest)


def _json(rows: Select[Any] | Any, name: str) -> Any:
    """Build the expression for all rows of a query as one JSON array; NULL without rows."""
    return select(func.json_agg(literal_column(name), type_=JSON)).select_from(rows.subquery(name)).scalar_subquery()


def _model(model: type[Any], row: dict[str, Any]) -> Any:
    """Return the row of a table from its JSON."""
    read: dict[type[Any], Callable[[str], Any]] = {DateTime: datetime.fromisoformat, Uuid: UUID}
    written = {one.name: read[type(one.type)] for one in model.__table__.columns if type(one.type) in read}
    return model(**{name: written[name](value) if value and name in written else value for name, value in row.items()})


_CONTROLS = select(WorkflowControl.__table__)
