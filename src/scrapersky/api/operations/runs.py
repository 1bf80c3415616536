"""Run history: every cycle of every workflow on every host."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import Cursor, Limit, ResultPage, Timestamp, WorkflowFilter
from scrapersky.engine.histogram import quantile
from scrapersky.models import Run
from scrapersky.store.operations import runs

router = APIRouter(prefix="/runs", tags=["runs"], responses=problems(404, 422, 503))

RunId = Annotated[int, Path(alias="id", ge=1, lt=2**63, description="the run's own number")]


class RunSummary(BaseModel):
    """One cycle: what it claimed and what became of it."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    workflow: str
    host: str
    pid: int
    started_at: datetime
    seconds: float
    claimed: int
    completed: int
    skipped: int
    postponed: int = Field(description="put off; the attempt did not count")
    retried: int = Field(description="failed, and will be tried again")
    failed: int = Field(description="failed for good: dead letters")
    returned: int = Field(description="given back unfinished at shutdown")
    lost: int = Field(description="taken by another host meanwhile; nothing was written")
    p50_seconds: float | None
    p95_seconds: float | None
    error: str | None = Field(description="what ended the cycle early")


@router.get(
    "", summary="Runs, the latest first", responses=problems(400), openapi_extra=requires(OPERATOR, operators=True)
)
async def list_runs(
    application: CurrentApplication,
    workflow: WorkflowFilter = None,
    since: Annotated[Timestamp | None, Query(description="only runs that started at or after this moment")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[RunSummary]:
    """Kept for SCHEDULER_RUN_RETENTION_DAYS."""
    name = application.pipeline[workflow].name if workflow else None
    here = cursors.list_name("runs", {"workflow": name, "since": since})
    before = cursors.decode(cursor, here, cursors.timestamp, cursors.integer) if cursor else None
    async with application.database.engine_session() as session:
        found = await runs.page(
            session,
            workflow=name,
            since=since,
            before=(before[0], before[1]) if before else None,
            limit=limit + 1,
        )
    left_off = found[limit - 1] if len(found) > limit else None
    return ResultPage(
        items=[_line(run) for run in found[:limit]],
        next_cursor=cursors.encode(here, [left_off.started_at.isoformat(), left_off.id]) if left_off else None,
    )


@router.get("/{id}", summary="One run", openapi_extra=requires(OPERATOR, operators=True))
async def get_run(run_id: RunId, application: CurrentApplication) -> RunSummary:
    """The same as in the list."""
    async with application.database.engine_session() as session:
        return _line(await runs.get(session, run_id))


def _line(run: Run) -> RunSummary:
    columns = {column.name: getattr(run, column.name) for column in Run.__table__.columns if column.name != "histogram"}
    return RunSummary(**columns, p50_seconds=quantile(run.histogram, 0.5), p95_seconds=quantile(run.histogram, 0.95))
