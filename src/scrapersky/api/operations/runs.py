"""Run history: the cycles of all workflows on all hosts."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import Cursor, Limit, ResponseModel, ResultPage, Timestamp, WorkflowFilter
from scrapersky.engine.histogram import quantile
from scrapersky.models import Run
from scrapersky.store.operations import runs

router = APIRouter(prefix="/runs", tags=["runs"], responses=problems(404))

RunId = Annotated[int, Path(alias="id", ge=1, lt=2**63, description="the number of the run")]


class RunSummary(ResponseModel):
    """One cycle of a workflow: the rows it claimed and their outcomes."""

    id: int
    workflow: str
    host: str
    pid: int
    started_at: datetime
    seconds: float
    claimed: int
    completed: int
    skipped: int
    postponed: int = Field(description="postponed; the attempt does not count")
    retried: int = Field(description="failed, and will be retried")
    failed: int = Field(description="failed for good: dead letters")
    returned: int = Field(description="released unfinished at shutdown")
    lost: int = Field(description="claimed by another host meanwhile; nothing was written")
    p50_seconds: float | None
    p95_seconds: float | None
    error: str | None = Field(description="the error that ended the cycle early")


@router.get("", summary="Runs, the latest first", **requires(OPERATOR, 400, operators=True))
async def list_runs(
    application: CurrentApplication,
    workflow: WorkflowFilter = None,
    since: Annotated[Timestamp | None, Query(description="only runs that started at or after this timestamp")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[RunSummary]:
    """List the runs, which are kept as long as `scrapersky retention` shows."""
    name = application.pipeline[workflow].name if workflow else None
    list_name = cursors.list_name("runs", {"workflow": name, "since": since})
    before = application.cursors.decode(cursor, list_name, cursors.timestamp, cursors.integer) if cursor else None
    async with application.database.engine_session() as session:
        found = await runs.page(
            session,
            workflow=name,
            since=since,
            before=(before[0], before[1]) if before else None,
            limit=limit + 1,
        )
    return application.cursors.page_of(
        found, limit, list_name, lambda run: [run.started_at.isoformat(), run.id], _summary
    )


@router.get("/{id}", summary="One run", **requires(OPERATOR, operators=True))
async def get_run(run_id: RunId, application: CurrentApplication) -> RunSummary:
    """Return one run, as in the list."""
    async with application.database.engine_session() as session:
        return _summary(await runs.get(session, run_id))


def _summary(run: Run) -> RunSummary:
    columns = {column.name: getattr(run, column.name) for column in Run.__table__.columns if column.name != "histogram"}
    return RunSummary(**columns, p50_seconds=quantile(run.histogram, 0.5), p95_seconds=quantile(run.histogram, 0.95))
