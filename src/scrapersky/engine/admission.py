"""Whether a workflow may claim rows now: pause, breaker, backpressure and pace, shared by all hosts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from scrapersky.core.database import Database
from scrapersky.engine.breaker import CLOSED, HALF_OPEN, OPEN, Breaker, Tally, next_state
from scrapersky.engine.queue import Queue
from scrapersky.engine.tuning import Pace, Tuning, pace_for

LOCKED_WAIT_SECONDS = 0.05  # until a bucket is tried again that another host had locked
RELEASE = 0.8  # backpressure ends when the next queue is down to this share of its high-water mark


@dataclass(frozen=True)
class Admission:
    """What a cycle may do now."""

    paused: bool
    breaker: str
    reason: str | None
    held_by: str | None
    pace: Pace
    headroom: int | None = None  # rows the next queue may still receive, if there is one
    disabled_tenants: frozenset[UUID] = frozenset()  # rows of these are postponed
    recorded: bool = True  # whether the reported outcomes were stored
    breaker_until: datetime | None = None

    @property
    def may_claim(self) -> bool:
        """Whether any row may be claimed."""
        return not self.paused and self.breaker != OPEN and self.held_by is None

    @property
    def probing(self) -> bool:
        """Whether only one row at a time is tried, to test for recovery."""
        return self.breaker == HALF_OPEN


@dataclass(frozen=True)
class AdmissionInputs:
    """What an admission is computed from."""

    workflow: str
    tuning: Tuning
    queue: Queue
    next_name: str | None
    next_queue: Queue | None
    next_high_water: int


@dataclass(frozen=True)
class TokenGrant:
    """How many rows may be claimed now, and when there is a token again."""

    rows: int
    wait_seconds: float = 0.0


async def take_tokens(database: Database, workflow: str, tuning: Tuning, count: int) -> TokenGrant:
    """Take up to `count` tokens from the bucket that all hosts share; none while another host is at it."""
    async with database.engine_connection() as connection:
        row = await connection.fetchrow(_TAKE, workflow, count, tuning.burst, tuning.tokens_per_second)
    return TokenGrant(row["rows"], row["wait"]) if row else TokenGrant(0, LOCKED_WAIT_SECONDS)


async def return_tokens(database: Database, workflow: str, tuning: Tuning, count: int) -> None:
    """Return tokens that were not used."""
    async with database.engine_connection() as connection:
        await connection.execute(_RETURN, workflow, count, tuning.burst)


async def consult(database: Database, inputs: AdmissionInputs, tally: Tally, item_seconds: float | None) -> Admission:
    """Store outcomes in the shared state and compute the admission, in one short transaction."""
    async with database.engine_connection() as connection, connection.transaction():
        row = await connection.fetchrow(_LOCK, inputs.workflow)
        if row is None:
            await connection.execute(_CREATE, inputs.workflow)
            row = await connection.fetchrow(_LOCK, inputs.workflow)
        if row is None:  # another host holds the lock, or froze with it
            return await _read_without_lock(connection, inputs)
        depth = await connection.fetchval(inputs.queue.count_sql, inputs.tuning.max_batch * 10)
        before = _breaker_of(row)
        after = next_state(before, tally, row["at"], inputs.tuning)
        seconds = _moving_average(row["item_seconds"], item_seconds)
        pace = pace_for(inputs.tuning, depth, seconds)
        headroom = await _headroom(connection, inputs, row["held_by"])
        held_by = inputs.next_name if headroom == 0 else None
        await connection.execute(
            _WRITE,
            inputs.workflow,
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
            inputs.tuning.max_per_minute,
        )
    disabled_tenants = frozenset(row["disabled_tenants"])
    paused = row["paused_at"] is not None
    return Admission(
        paused, after.state, after.reason, held_by, pace, headroom, disabled_tenants, breaker_until=after.until
    )


async def _read_without_lock(connection: asyncpg.Connection, inputs: AdmissionInputs) -> Admission:
    """Read the shared state while another host holds its lock; the outcomes stay unreported."""
    row = await connection.fetchrow(_READ, inputs.workflow)
    headroom = await _headroom(connection, inputs, row["held_by"])
    pace = Pace(row["batch_size"] or inputs.tuning.batch_size, row["interval_seconds"] or inputs.tuning.interval)
    held_by = inputs.next_name if headroom == 0 else None
    paused = row["paused_at"] is not None
    disabled_tenants = frozenset(row["disabled_tenants"])
    return Admission(
        *(paused, row["breaker"], row["breaker_reason"], held_by, pace, headroom, disabled_tenants),
        recorded=False,
        breaker_until=row["breaker_until"],
    )


async def _headroom(connection: asyncpg.Connection, inputs: AdmissionInputs, held_by: str | None) -> int | None:
    if inputs.next_queue is None:
        return None
    mark = inputs.next_high_water if held_by is None else max(1, int(inputs.next_high_water * RELEASE))
    waiting: int = await connection.fetchval(inputs.next_queue.count_sql, mark)
    return mark - waiting


def _breaker_of(row: Any) -> Breaker:
    return Breaker(
        row["breaker"],
        row["breaker_until"],
        row["breaker_reason"],
        row["breaker_trips"],
        row["window_started_at"],
        row["window_successes"],
        row["window_failures"],
    )


def _moving_average(old: float, new: float | None) -> float:
    if new is None:
        return old
    return new if not old else old * 0.7 + new * 0.3


_READ = """
SELECT *, now() AS at, ARRAY(SELECT id FROM tenant WHERE disabled_at IS NOT NULL) AS disabled_tenants
FROM workflow_control WHERE workflow = $1"""
_LOCK = _READ + " FOR NO KEY UPDATE SKIP LOCKED"
_CREATE = "INSERT INTO workflow_control (workflow) VALUES ($1) ON CONFLICT DO NOTHING"
_WRITE = """
UPDATE workflow_control SET breaker = $2, breaker_until = $3, breaker_reason = $4, breaker_trips = $5,
    window_started_at = $6, window_successes = $7, window_failures = $8, depth = $9, item_seconds = $10,
    batch_size = $11, interval_seconds = $12, held_by = $13, max_per_minute = $14, measured_at = now()
WHERE workflow = $1"""
_TAKE = """
WITH bucket AS (
    SELECT least($3::float8, coalesce(throttle_tokens, $3) + $4::float8 * greatest(0,
        extract(epoch FROM clock_timestamp() - coalesce(throttle_at, clock_timestamp()))))::float8 AS tokens
    FROM workflow_control WHERE workflow = $1 FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE workflow_control SET throttle_tokens = b.tokens - least($2::int, floor(b.tokens)),
    throttle_at = clock_timestamp()
FROM bucket b WHERE workflow = $1
RETURNING least($2::int, floor(b.tokens))::int AS rows,
    ((1 + floor(b.tokens) - b.tokens) / $4::float8)::float8 AS wait"""
_RETURN = """
UPDATE workflow_control SET throttle_tokens = least($3::float8, throttle_tokens + $2::int) WHERE workflow = $1"""

_PAUSE = """
INSERT INTO workflow_control (workflow, paused_at, paused_by, pause_reason) VALUES ($1, now(), $2, $3)
ON CONFLICT (workflow) DO UPDATE SET paused_at = now(), paused_by = $2, pause_reason = $3
WHERE workflow_control.paused_at IS NULL RETURNING workflow"""
_RESUME = """
UPDATE workflow_control SET paused_at = NULL, paused_by = NULL, pause_reason = NULL, breaker = $2,
    breaker_until = NULL, breaker_reason = NULL, breaker_trips = 0, window_started_at = now(), window_successes = 0,
    window_failures = 0
WHERE workflow = $1 AND (paused_at IS NOT NULL OR breaker <> $2) RETURNING workflow"""
_REQUEST = """
INSERT INTO workflow_control (workflow, run_requested_at) VALUES ($1, now())
ON CONFLICT (workflow) DO UPDATE SET run_requested_at = now()"""


async def pause(connection: asyncpg.Connection, workflow: str, by: str, reason: str | None) -> bool:
    """Stop claiming on every host. Return False if the workflow was paused already."""
    return await connection.fetchval(_PAUSE, workflow, by, reason) is not None


async def resume(connection: asyncpg.Connection, workflow: str) -> bool:
    """End the pause and close the breaker. Return False if there was neither."""
    return await connection.fetchval(_RESUME, workflow, CLOSED) is not None


async def request_run(connection: asyncpg.Connection, workflow: str) -> None:
    """Ask every host to check this queue now, without waiting for its interval."""
    await connection.execute(_REQUEST, workflow)
