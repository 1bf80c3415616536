"""A queue: claim, settle, beat, sweep, measure. It knows a table and a prefix, and no noun."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import JSON

from scrapersky.core.vocabularies import Status
from scrapersky.engine.outcomes import Outcome
from scrapersky.engine.queue_ddl import QUEUE_PARTS
from scrapersky.engine.queue_sql import Statements
from scrapersky.engine.workflow import Claimed, Workflow

BOTTOM = -(2**63)  # the least order there is
WATERMARK_SECONDS = 1.0  # how long a claim may start behind the last one instead of at the head


@dataclass(frozen=True, slots=True)
class Settlement:
    """A row, the attempt it was claimed with, and what became of it."""

    row_id: UUID
    attempts: int
    outcome: Outcome


@dataclass(frozen=True)
class Exchange:
    """What came back from the database: rows to work on, and settlements that came too late."""

    claimed: list[Claimed]
    lost: list[UUID]
    again: bool = False  # nothing was claimed although there may be rows


@dataclass(frozen=True)
class Swept:
    """What a sweep found: rows whose wait was over, and rows whose worker was gone."""

    ready: int
    rescued: int
    died: int


@dataclass(frozen=True)
class Measures:
    """A queue at one moment. Counts stop at a cap."""

    ready: int
    waiting: int
    processing: int
    dead: int
    oldest_seconds: float


class Queue:
    """One workflow's queue. Every method is one statement on the connection it is given."""

    def __init__(self, workflow: Workflow[Any, Any, Any]) -> None:
        self.name = f"{workflow.table}.{workflow.queue}"
        self._low = BOTTOM
        self._low_until = 0.0
        self._decoders = _json_decoders(workflow)
        columns = workflow.model.__table__.columns
        for column in (*(f"{workflow.queue}_{part}" for part in QUEUE_PARTS), *workflow.reads):
            if column not in columns:
                raise TypeError(f"{workflow.name} needs the column {workflow.table}.{column}; is a migration missing?")
        self._sql = Statements.of(workflow)

    async def claim(self, connection: asyncpg.Connection, count: int, lease_seconds: float) -> list[Claimed]:
        """Take up to `count` ready rows for `lease_seconds`, in order; no one else gets them."""
        low = self._watermark()
        rows = await connection.fetch(self._sql.claim, count, lease_seconds, low, record_class=Claimed)
        if not rows and low != BOTTOM:
            rows = await connection.fetch(self._sql.claim, count, lease_seconds, BOTTOM, record_class=Claimed)
        return self._note(rows)

    async def exchange(
        self, connection: asyncpg.Connection, done: Sequence[Settlement], count: int, lease_seconds: float
    ) -> Exchange:
        """Settle rows and take new ones in one statement, so that a busy queue costs one commit a batch."""
        if not count or any(settlement.outcome.status is Status.ERROR for settlement in done):
            lost = await self.settle(connection, done)
            claimed = await self.claim(connection, count, lease_seconds) if count else []
            return Exchange(claimed, lost)
        low = self._watermark()
        rows = await connection.fetch(self._sql.fused, *_columns(done), count, lease_seconds, low, record_class=Claimed)
        claimed = self._note([row for row in rows if row["attempts"] is not None])
        lost = [row["id"] for row in rows if row["attempts"] is None]
        if not claimed and low != BOTTOM:  # nothing behind the last claim; rows that came back may lie before it
            claimed = await self.claim(connection, count, lease_seconds)
        return Exchange(claimed, lost)

    async def settle(self, connection: asyncpg.Connection, done: Sequence[Settlement]) -> list[UUID]:
        """Write what became of rows still ours; the ids of those that were not come back."""
        if not done:
            return []
        died = any(settlement.outcome.status is Status.ERROR for settlement in done)
        rows = await connection.fetch(self._sql.settle_dead if died else self._sql.settle, *_columns(done))
        return [row["id"] for row in rows]

    async def beat(
        self, connection: asyncpg.Connection, held: Sequence[tuple[UUID, int]], lease_seconds: float
    ) -> dict[UUID, bool]:
        """Extend the lease of rows still ours: says which those are, and whether it could be extended."""
        rows = await connection.fetch(
            self._sql.beat, [row_id for row_id, _ in held], [attempts for _, attempts in held], lease_seconds
        )
        return {row["id"]: row["renewed"] for row in rows}

    async def sweep(self, connection: asyncpg.Connection, max_attempts: int, limit: int = 1000) -> Swept:
        """Make rows whose time has come ready again: waiting ones, and those of workers that fell silent."""
        row = await connection.fetchrow(self._sql.sweep, limit, max_attempts)
        return Swept(row["ready"], row["rescued"], row["died"])

    async def measure(self, connection: asyncpg.Connection) -> Measures:
        """Count the queue's states, up to the cap."""
        row = await connection.fetchrow(self._sql.measure)
        return Measures(row["ready"], row["waiting"], row["processing"], row["dead"], float(row["oldest"] or 0))

    async def open(self, connection: asyncpg.Connection, row_ids: Sequence[UUID]) -> None:
        """Queue rows that are not already queued or being worked on."""
        await connection.execute(self._sql.open, list(row_ids))

    async def wake(self, connection: asyncpg.Connection, tenant_id: UUID, why: str, limit: int = 10_000) -> int:
        """Make rows of a tenant that wait for this reason ready, and tell the workers; how many they were."""
        return int(await connection.fetchval(self._sql.wake, tenant_id, why, limit))

    async def overdue(self, connection: asyncpg.Connection, seconds: float) -> int:
        """How many rows are in Processing although their lease ended so long ago."""
        return int(await connection.fetchval(self._sql.overdue, seconds))

    async def is_busy(self, connection: asyncpg.Connection, horizon_seconds: float) -> bool:
        """Whether a row is ready, being worked on, or due within the horizon."""
        return bool(await connection.fetchval(self._sql.busy, horizon_seconds))

    @property
    def work_sql(self) -> str:
        """An expression: whether a claim or a sweep would find anything."""
        return self._sql.work

    @property
    def count_sql(self) -> str:
        """How many rows are ready, up to $1."""
        return self._sql.count

    def _watermark(self) -> int:
        # Dead index entries pile up at the head while an old snapshot is open: start behind them, for a while.
        if time.monotonic() > self._low_until:
            self._low = BOTTOM
        return self._low

    def _note(self, rows: list[Claimed]) -> list[Claimed]:
        if not rows:
            self._low = BOTTOM
        else:
            if self._low == BOTTOM:
                self._low_until = time.monotonic() + WATERMARK_SECONDS
            self._low = max(row["order_key"] for row in rows)
        return rows

    def decode(self, row: Claimed) -> Claimed:
        """JSON columns arrive as text from the bare driver."""
        return _Decoded(row, self._decoders) if self._decoders else row  # type: ignore[return-value]


class _Decoded:
    def __init__(self, row: Claimed, decoders: dict[str, Callable[[str], Any]]) -> None:
        self._row, self._decoders = row, decoders

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._row, name)
        return self._decoders[name](value) if name in self._decoders and isinstance(value, str) else value

    __getitem__ = __getattr__


def _columns(done: Sequence[Settlement]) -> tuple[list[Any], ...]:
    done = sorted(done, key=lambda settlement: settlement.row_id)
    return (
        [settlement.row_id for settlement in done],
        [settlement.attempts for settlement in done],
        [settlement.outcome.status.value for settlement in done],
        [settlement.outcome.error for settlement in done],
        [settlement.outcome.wait_seconds for settlement in done],
        [settlement.outcome.counts for settlement in done],
        [settlement.outcome.error_type for settlement in done],
    )


def _json_decoders(workflow: Workflow[Any, Any, Any]) -> dict[str, Callable[[str], Any]]:
    columns = workflow.model.__table__.columns
    return {name: json.loads for name in workflow.reads if name in columns and isinstance(columns[name].type, JSON)}
