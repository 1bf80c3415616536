"""SQL about the run history: record, list and summarise cycles."""

import os
import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Select, func, select, text, tuple_
from sqlalchemy.dialects.postgresql import array
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import UnknownName
from scrapersky.engine import histogram
from scrapersky.engine.events import CycleEnded
from scrapersky.engine.outcomes import OutcomeKind
from scrapersky.models import Run

WINDOW = timedelta(minutes=15)  # of rates and quantiles
SUMMED = ("completed", "skipped", "retried", "failed")
OUTCOMES = ("completed", "skipped", "postponed", "retried", "failed")
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

_INSERT = """
INSERT INTO run (workflow, host, pid, started_at, seconds, claimed, completed, skipped, postponed, retried, failed,
    returned, lost, histogram, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING id"""
_ADD_IDLE = "UPDATE run SET cycles = cycles + $2 WHERE id = $1"


class UnknownRun(UnknownName):
    """There is no run of this id."""


@dataclass(frozen=True)
class RecentRuns:
    """The sums of the runs of one workflow within the window."""

    completed: int = 0
    skipped: int = 0
    retried: int = 0
    failed: int = 0
    p50_seconds: float | None = None
    p95_seconds: float | None = None

    @property
    def rate_per_minute(self) -> float:
        """Finished rows per minute."""
        return (self.completed + self.skipped + self.failed) / (WINDOW.total_seconds() / 60)

    @property
    def error_rate(self) -> float | None:
        """The share of failed attempts; None without attempts."""
        bad = self.retried + self.failed
        tried = bad + self.completed + self.skipped
        return bad / tried if tried else None


async def add_idle(connection: Any, run_id: int, cycles: int) -> None:
    """Count further idle cycles of the same minute in the row of the first one."""
    await connection.execute(_ADD_IDLE, run_id, cycles)


async def record(connection: Any, cycle: CycleEnded) -> int:
    """Store an ended cycle of this process and return its id."""
    counts = [cycle.counts.get(kind, 0) for kind in OutcomeKind]
    run_id: int = await connection.fetchval(
        _INSERT,
        cycle.workflow,
        socket.gethostname(),
        os.getpid(),
        cycle.started_at,
        cycle.seconds,
        cycle.claimed,
        *counts,
        cycle.lost,
        cycle.histogram,
        cycle.error,
    )
    return run_id


async def page(
    session: AsyncSession,
    *,
    workflows: Collection[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    before: tuple[datetime, int] | None = None,
    limit: int = 50,
) -> list[Run]:
    """Return a page, newest first; `before` is the start and id of the last run of the page before."""
    query = select(Run).order_by(Run.started_at.desc(), Run.id.desc()).limit(limit)
    if workflows:
        query = query.where(Run.workflow.in_(workflows))
    if since is not None:
        query = query.where(Run.started_at >= since)
    if until is not None:
        query = query.where(Run.started_at < until)
    if before is not None:
        query = query.where(tuple_(Run.started_at, Run.id) < before)
    return list(await session.scalars(query))


@dataclass(frozen=True)
class SeriesPoint:
    """The runs of one workflow that started within one interval."""

    workflow: str
    at: datetime  # the start of the interval
    completed: int
    skipped: int
    postponed: int
    retried: int
    failed: int
    p50_seconds: float | None
    p95_seconds: float | None


async def series(
    session: AsyncSession, since: datetime, interval: timedelta, workflow: str | None = None
) -> list[SeriesPoint]:
    """Return the sums of each workflow and interval in which it claimed rows, in the order of time."""
    rows = await session.execute(series_query(since, interval, workflow))
    return [_point(row) for row in rows]


def series_query(since: datetime, interval: timedelta, workflow: str | None) -> Select[Any]:
    """Build the query of the series; intervals begin at multiples of their length."""
    at = func.date_bin(interval, Run.started_at, EPOCH).label("at")
    buckets = array([func.sum(Run.histogram[n + 1]) for n in range(len(histogram.empty()))])
    sums = (func.sum(getattr(Run, name)).label(name) for name in OUTCOMES)
    query: Any = select(Run.workflow, at, *sums, buckets.label("buckets"))
    query = query.where(Run.started_at >= since, Run.claimed > 0)
    if workflow is not None:
        query = query.where(Run.workflow == workflow)
    grouped: Select[Any] = query.group_by(Run.workflow, text("at")).order_by(text("at"), Run.workflow)
    return grouped


def _point(row: Any) -> SeriesPoint:
    buckets = [int(count) for count in row.buckets]
    sums = {name: int(getattr(row, name)) for name in OUTCOMES}
    p50, p95 = (histogram.quantile(buckets, share) for share in (0.5, 0.95))
    return SeriesPoint(row.workflow, row.at, **sums, p50_seconds=p50, p95_seconds=p95)


async def get(session: AsyncSession, run_id: int) -> Run:
    """Return a run, or raise UnknownRun."""
    found = await session.get(Run, run_id)
    if found is None:
        raise UnknownRun(f"{run_id} is not in the run history, which is kept for a limited time.")
    return found


def recent_query() -> Select[Any]:
    """Build the query of the sums of each workflow within the window."""
    buckets = array([func.sum(Run.histogram[n + 1]) for n in range(len(histogram.empty()))])
    sums = (func.sum(getattr(Run, name)).label(name) for name in SUMMED)
    query: Any = select(Run.workflow, *sums, buckets.label("buckets"))
    grouped: Select[Any] = query.where(Run.started_at > func.now() - WINDOW, Run.claimed > 0).group_by(Run.workflow)
    return grouped


def recent_of(row: Mapping[str, Any]) -> RecentRuns:
    """Return the sums of one workflow from a row of the query."""
    buckets = [int(count) for count in row["buckets"]]
    p50, p95 = (histogram.quantile(buckets, share) for share in (0.5, 0.95))
    return RecentRuns(**{name: int(row[name]) for name in SUMMED}, p50_seconds=p50, p95_seconds=p95)
