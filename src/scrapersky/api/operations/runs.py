"""Run history: the cycles of all workflows on all hosts."""

import time
from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import (
    Count,
    Cursor,
    Limit,
    ResponseModel,
    ResultPage,
    Timestamp,
    WorkflowFilter,
    WorkflowFilters,
)
from scrapersky.core import clock
from scrapersky.engine.histogram import quantile
from scrapersky.models import Run
from scrapersky.store.operations import runs
from scrapersky.store.operations.runs import EPOCH

router = APIRouter(prefix="/runs", tags=["runs"], responses=problems(404), route_class=ListRoute)

Bucket = Literal["1m", "5m", "15m", "1h", "6h", "1d"]
BUCKETS: dict[Bucket, timedelta] = {
    "1m": timedelta(minutes=1),
    "5m": timedelta(minutes=5),
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "1d": timedelta(days=1),
}
MAX_POINTS = 200  # intervals of one series
MAX_ITEMS = 10_000  # of all workflows
CACHE_SECONDS = 10.0
RunId = Annotated[int, Path(alias="id", ge=1, le=2**63 - 1, description="the number of the run", examples=[4711])]


class RunSummary(ResponseModel):
    """One cycle of a workflow: the rows it claimed and their outcomes."""

    id: Count = Field(description="the number of the run", examples=[4711])
    workflow: str = Field(description="the workflow that ran", examples=["deep_scan"])
    host: str = Field(description="the host on which it ran", examples=["worker-1"])
    pid: Count = Field(description="the process id on that host", examples=[4242])
    started_at: datetime = Field(description="when the cycle began")
    seconds: float = Field(description="how long the cycle took", examples=[3.2])
    claimed: Count = Field(
        description="rows that were claimed; the following counts tell their outcomes", examples=[10]
    )
    completed: Count = Field(description="rows whose work succeeded", examples=[8])
    skipped: Count = Field(description="rows that the step does not fit", examples=[1])
    postponed: Count = Field(description="postponed; the attempt does not count", examples=[0])
    retried: Count = Field(description="failed, and will be retried", examples=[1])
    failed: Count = Field(description="failed for good: dead letters", examples=[0])
    returned: Count = Field(description="released unfinished at shutdown", examples=[0])
    lost: Count = Field(description="claimed by another host meanwhile; nothing was written", examples=[0])
    p50_seconds: float | None = Field(
        description="the median duration of a row, accurate to a factor of two; empty without rows", examples=[0.25]
    )
    p95_seconds: float | None = Field(
        description="the 95th percentile of the duration of a row, accurate to a factor of two", examples=[1.0]
    )
    error: str | None = Field(
        description="the error that ended the cycle early",
        examples=["ConnectionDoesNotExistError: connection was closed in the middle of operation"],
    )


class RunPoint(ResponseModel):
    """The runs of one workflow that started within one interval."""

    workflow: str = Field(description="the workflow", examples=["deep_scan"])
    at: datetime = Field(description="the start of the interval")
    completed: Count = Field(description="rows whose work succeeded", examples=[8])
    skipped: Count = Field(description="rows that the step does not fit", examples=[1])
    postponed: Count = Field(description="postponed; the attempt does not count", examples=[0])
    retried: Count = Field(description="failed, and will be retried", examples=[1])
    failed: Count = Field(description="failed for good: dead letters", examples=[0])
    p50_seconds: float | None = Field(
        description="the median duration of a row, accurate to a factor of two", examples=[0.25]
    )
    p95_seconds: float | None = Field(
        description="the 95th percentile of the duration of a row, accurate to a factor of two", examples=[1.0]
    )


class RunSeries(ResponseModel):
    """Outcomes and durations over time."""

    since: datetime = Field(description="the start of the first interval")
    bucket: Bucket = Field(description="the length of an interval")
    items: list[RunPoint] = Field(max_length=MAX_ITEMS, description="in the order of time, then by workflow")


@router.get("", summary="Runs, the latest first", **requires(OPERATOR, 400, operators=True))
async def list_runs(
    application: CurrentApplication,
    workflow: WorkflowFilters = None,
    since: Annotated[Timestamp | None, Query(description="only runs that started at or after this timestamp")] = None,
    until: Annotated[Timestamp | None, Query(description="only runs that started before this timestamp")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[RunSummary]:
    """List the runs, which are kept as long as `scrapersky retention` shows."""
    names = sorted({application.pipeline[each].name for each in workflow or ()})
    list_name = cursors.list_name("runs", {"workflow": names, "since": since, "until": until})
    before = application.cursors.decode(cursor, list_name, cursors.timestamp, cursors.integer) if cursor else None
    async with application.database.engine_session() as session:
        found = await runs.page(
            session,
            workflows=names,
            since=since,
            until=until,
            before=(before[0], before[1]) if before else None,
            limit=limit + 1,
        )
    return application.cursors.page_of(
        found, limit, list_name, lambda run: [run.started_at.isoformat(), run.id], _summary
    )


@router.get("/series", summary="Outcomes and durations over time", **requires(OPERATOR, 404, operators=True))
async def get_run_series(
    application: CurrentApplication,
    since: Annotated[
        Timestamp | None, Query(description="from this timestamp on; an hour ago if it is not given")
    ] = None,
    bucket: Annotated[Bucket, Query(description="the length of an interval")] = "1m",
    workflow: WorkflowFilter = None,
) -> RunSeries:
    """Return the sums of the runs per workflow and interval, for the last 200 intervals at most.

    The response is the same for ten seconds. An interval without a run that claimed rows is left out.
    """
    name = application.pipeline[workflow].name if workflow else None
    interval, now = BUCKETS[bucket], clock.now()
    start = max(since or now - timedelta(hours=1), now - MAX_POINTS * interval)
    start = EPOCH + (start - EPOCH) // interval * interval
    key = (start, bucket, name)
    cached = application.series.get(key)
    if cached is None or cached[0] < time.monotonic():
        async with application.database.engine_session() as session:
            found = await runs.series(session, start, interval, name)
        cached = (time.monotonic() + CACHE_SECONDS, found)
        for old in [each for each, (until, _) in application.series.items() if until < time.monotonic()]:
            del application.series[old]
        application.series[key] = cached
    points = [RunPoint.model_validate(point) for point in cached[1]]
    return RunSeries(since=start, bucket=bucket, items=points[-MAX_ITEMS:])


@router.get("/{id}", summary="One run", **requires(OPERATOR, operators=True))
async def get_run(run_id: RunId, application: CurrentApplication) -> RunSummary:
    """Return one run, as in the list."""
    async with application.database.engine_session() as session:
        return _summary(await runs.get(session, run_id))


def _summary(run: Run) -> RunSummary:
    columns = {column.name: getattr(run, column.name) for column in Run.__table__.columns if column.name != "histogram"}
    return RunSummary(**columns, p50_seconds=quantile(run.histogram, 0.5), p95_seconds=quantile(run.histogram, 0.95))
