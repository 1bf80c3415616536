"""What all hosts agree on about a workflow: paused, broken, held back, its pace. Kept in the database."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from scrapersky.core.database import Database
from scrapersky.engine.breaker import CLOSED, HALF_OPEN, OPEN, Breaker, judge
from scrapersky.engine.queue import Queue
from scrapersky.engine.tuning import Pace, Tuning, pace_for

RELEASE = 0.8  # a held-back workflow goes on when the next queue is down to this share of its high-water mark


@dataclass(frozen=True)
class Admission:
    """What a loop may do now."""

    paused: bool
    breaker: str
    reason: str | None
    held_by: str | None
    pace: Pace
    headroom: int | None = None  # rows the next queue may still take, if there is one
    resting: frozenset[UUID] = frozenset()  # tenants that are disabled
    heard: bool = True  # whether the outcomes that were reported have been written down

    @property
    def may_claim(self) -> bool:
        """Whether any row may be taken at all."""
        return not self.paused and self.breaker != OPEN and self.held_by is None

    @property
    def probing(self) -> bool:
        """Whether one row at a time is tried to see if things work again."""
        return self.breaker == HALF_OPEN


@dataclass(frozen=True)
class Watch:
    """What a workflow's control has to look at."""

    workflow: str
    tuning: Tuning
    queue: Queue
    next_name: str | None
    next_queue: Queue | None
    next_high_water: int


async def consult(database: Database, watch: Watch, good: int, bad: int, item_seconds: float | None) -> Admission:
    """Tell the database what happened here, and learn from it what to do: one short transaction."""
    async with database.engine_connection() as connection, connection.transaction():
        row = await connection.fetchrow(_LOCK, watch.workflow)
        if row is None:
            await connection.execute(_CREATE, watch.workflow)
            row = await connection.fetchrow(_LOCK, watch.workflow)
        if row is None:  # another host is at it, or froze in it: that must not stop us
            return await _overhear(connection, watch)
        depth = await connection.fetchval(watch.queue.count_sql, watch.tuning.largest_batch * 10)
        before = _breaker_of(row)
        after = judge(before, good, bad, row["at"], watch.tuning)
        seconds = _moving_average(row["item_seconds"], item_seconds)
        pace = pace_for(watch.tuning, depth, seconds)
        headroom = await _headroom(connection, watch, row["held_by"])
        held_by = watch.next_name if headroom == 0 else None
        await connection.execute(
            _WRITE,
            watch.workflow,
            after.state,
            after.until,
            after.reason,
            after.trips,
            after.window_started_at,
            after.good,
            after.bad,
            depth,
            seconds,
            pace.batch_size,
            pace.interval_seconds,
            held_by,
        )
    resting = frozenset(row["resting"])
    return Admission(row["paused_at"] is not None, after.state, after.reason, held_by, pace, headroom, resting)


async def _overhear(connection: asyncpg.Connection, watch: Watch) -> Admission:
    """What the others have written down, without a word of our own."""
    row = await connection.fetchrow(_READ, watch.workflow)
    headroom = await _headroom(connection, watch, row["held_by"])
    pace = Pace(row["batch_size"] or watch.tuning.batch_size, row["interval_seconds"] or watch.tuning.interval)
    held_by = watch.next_name if headroom == 0 else None
    paused = row["paused_at"] is not None
    resting = frozenset(row["resting"])
    return Admission(paused, row["breaker"], row["breaker_reason"], held_by, pace, headroom, resting, heard=False)


async def _headroom(connection: asyncpg.Connection, watch: Watch, held_by: str | None) -> int | None:
    if watch.next_queue is None:
        return None
    mark = watch.next_high_water if held_by is None else max(1, int(watch.next_high_water * RELEASE))
    waiting: int = await connection.fetchval(watch.next_queue.count_sql, mark)
    return mark - waiting


def _breaker_of(row: Any) -> Breaker:
    return Breaker(
        row["breaker"],
        row["breaker_until"],
        row["breaker_reason"],
        row["breaker_trips"],
        row["window_started_at"],
        row["window_good"],
        row["window_bad"],
    )


def _moving_average(old: float, new: float | None) -> float:
    if new is None:
        return old
    return new if not old else old * 0.7 + new * 0.3


_READ = """
SELECT *, now() AS at, ARRAY(SELECT id FROM tenant WHERE disabled_at IS NOT NULL) AS resting
FROM workflow_control WHERE workflow = $1"""
_LOCK = _READ + " FOR NO KEY UPDATE SKIP LOCKED"
_CREATE = "INSERT INTO workflow_control (workflow) VALUES ($1) ON CONFLICT DO NOTHING"
_WRITE = """
UPDATE workflow_control SET breaker = $2, breaker_until = $3, breaker_reason = $4, breaker_trips = $5,
    window_started_at = $6, window_good = $7, window_bad = $8, depth = $9, item_seconds = $10,
    batch_size = $11, interval_seconds = $12, held_by = $13, measured_at = now()
WHERE workflow = $1"""

_PAUSE = """
INSERT INTO workflow_control (workflow, paused_at, paused_by, pause_reason) VALUES ($1, now(), $2, $3)
ON CONFLICT (workflow) DO UPDATE SET paused_at = now(), paused_by = $2, pause_reason = $3
WHERE workflow_control.paused_at IS NULL RETURNING workflow"""
_RESUME = """
UPDATE workflow_control SET paused_at = NULL, paused_by = NULL, pause_reason = NULL, breaker = $2,
    breaker_until = NULL, breaker_reason = NULL, breaker_trips = 0, window_started_at = now(), window_good = 0,
    window_bad = 0
WHERE workflow = $1 AND (paused_at IS NOT NULL OR breaker <> $2) RETURNING workflow"""
_REQUEST = """
INSERT INTO workflow_control (workflow, run_requested_at) VALUES ($1, now())
ON CONFLICT (workflow) DO UPDATE SET run_requested_at = now()"""


async def pause(connection: asyncpg.Connection, workflow: str, by: str, reason: str | None) -> bool:
    """Stop claiming on every host; false if it was paused already."""
    return await connection.fetchval(_PAUSE, workflow, by, reason) is not None


async def resume(connection: asyncpg.Connection, workflow: str) -> bool:
    """Go on, and close the breaker; false if there was nothing to resume."""
    return await connection.fetchval(_RESUME, workflow, CLOSED) is not None


async def request_run(connection: asyncpg.Connection, workflow: str) -> None:
    """Ask every host to look at this queue now, without waiting for its interval."""
    await connection.execute(_REQUEST, workflow)
