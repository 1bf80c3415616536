"""A queue: claim, settle, renew leases, sweep, measure. It knows a table and a column prefix only."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
from sqlalchemy import JSON

from scrapersky.core.vocabularies import Status, WaitsFor
from scrapersky.engine.outcomes import COMPLETED, Outcome
from scrapersky.engine.queue_sql import QUEUE_PARTS, QueueStatements
from scrapersky.engine.workflow import Claimed, Workflow

MIN_ORDER_KEY = -(2**63)  # below every order key
WATERMARK_SECONDS = 1.0  # how long claims may start after the last claimed row instead of at the head


class Settlement(NamedTuple):
    """A row, the attempt it was claimed with, and its outcome."""

    row_id: UUID
    attempts: int
    outcome: Outcome


@dataclass(frozen=True)
class ClaimResult:
    """The claimed rows, and the ids of settlements that the fence refused."""

    claimed: list[Claimed]
    lost: list[UUID]
    may_have_more: bool = False  # no claim was made although rows may be ready


@dataclass(frozen=True)
class Focus:
    """The flow whose rows a process claims before all others, and the places it keeps free for them."""

    tenant_id: UUID
    flow: UUID
    reserve: int = 0


@dataclass(frozen=True)
class SweepResult:
    """Counts of a sweep: rows whose wait ended, and rows whose lease expired."""

    ready: int
    rescued: int
    died: int


@dataclass(frozen=True)
class QueueMetrics:
    """The state of a queue. Counts stop at a cap."""

    ready: int
    waiting: int
    processing: int
    dead: int
    oldest_seconds: float


class Queue:
    """The queue of one workflow. Every method runs one statement on the given connection."""

    def __init__(self, workflow: Workflow[Any, Any, Any]) -> None:
        self.name = f"{workflow.table}.{workflow.queue}"
        self._low = MIN_ORDER_KEY
        self._low_until = 0.0
        self._decoders = _json_decoders(workflow)
        columns = workflow.model.__table__.columns
        needed = (*(f"{workflow.queue}_{part}" for part in QUEUE_PARTS), *workflow.reads, workflow.reason_code_column)
        for column in filter(None, needed):
            if column not in columns:
                raise TypeError(f"{workflow.name} needs the column {workflow.table}.{column}; is a migration missing?")
        self._sql = QueueStatements.of(workflow)

    async def claim(
        self,
        connection: asyncpg.Connection,
        count: int,
        lease_seconds: float,
        *,
        is_probe: bool = False,
        focus: Focus | None = None,
        renotify: bool = False,
    ) -> list[Claimed]:
        """Claim up to `count` ready rows for a lease, in queue order; a probe prefers rows that have not failed.

        With `renotify` the next row that is queued sends a notification, however short ago the last one was sent.
        """
        if is_probe:
            return list(await connection.fetch(self._sql.claim_probe, count, lease_seconds, record_class=Claimed))
        if focus is not None:
            return await self._claim_focused(connection, count, lease_seconds, focus, renotify)
        low, statement = self._watermark(), self._sql.claim_renotified if renotify else self._sql.claim
        rows = await connection.fetch(statement, count, lease_seconds, low, record_class=Claimed)
        if not rows and low != MIN_ORDER_KEY:
            rows = await connection.fetch(self._sql.claim, count, lease_seconds, MIN_ORDER_KEY, record_class=Claimed)
        return self._remember_position(rows)

    async def settle_and_claim(
        self,
        connection: asyncpg.Connection,
        done: Sequence[Settlement],
        count: int,
        lease_seconds: float,
        *,
        is_probe: bool = False,
        focus: Focus | None = None,
        renotify: bool = False,
    ) -> ClaimResult:
        """Settle rows and claim new ones in one statement, so that a busy queue costs one commit per batch."""
        died = any(settlement.outcome.status is Status.ERROR for settlement in done)
        # A claim alone does not wait for the disk (_CLAIM_ALONE); a statement that may settle rows does.
        if not done or not count or is_probe or focus or died:
            lost = await self.settle(connection, done)
            options: dict[str, Any] = {"is_probe": is_probe, "focus": focus, "renotify": renotify}
            claimed = await self.claim(connection, count, lease_seconds, **options) if count else []
            return ClaimResult(claimed, lost)
        low = self._watermark()
        rows = await connection.fetch(self._sql.fused, *_columns(done), count, lease_seconds, low, record_class=Claimed)
        claimed = self._remember_position([row for row in rows if row["attempts"] is not None])
        lost = [row["id"] for row in rows if row["attempts"] is None]
        if (
            not claimed and low != MIN_ORDER_KEY
        ):  # nothing after the last claim; rows that were queued again may lie before it
            claimed = await self.claim(connection, count, lease_seconds)
        return ClaimResult(claimed, lost)

    async def _claim_focused(
        self, connection: asyncpg.Connection, count: int, lease_seconds: float, focus: Focus, renotify: bool
    ) -> list[Claimed]:
        """Claim rows of the flow in focus first; other rows leave `reserve` places free for further rows of it."""
        values = (count, lease_seconds, focus.tenant_id, focus.flow)
        own: list[Claimed] = await connection.fetch(self._sql.claim_flow, *values, record_class=Claimed)
        others = min(count - len(own), count - focus.reserve)
        return own + (await self.claim(connection, others, lease_seconds, renotify=renotify) if others > 0 else [])

    async def settle(self, connection: asyncpg.Connection, done: Sequence[Settlement]) -> list[UUID]:
        """Store the outcomes of rows whose lease is still valid. Return the ids of the others."""
        if not done:
            return []
        died = any(settlement.outcome.status is Status.ERROR for settlement in done)
        rows = await connection.fetch(self._sql.settle_dead if died else self._sql.settle, *_columns(done))
        return [row["id"] for row in rows]

    async def renew_leases(
        self, connection: asyncpg.Connection, held: Sequence[tuple[UUID, int]], lease_seconds: float
    ) -> dict[UUID, bool]:
        """Extend the leases that are still valid. Return their row ids, each with False if a lock prevented it."""
        rows = await connection.fetch(
            self._sql.renew_leases, [row_id for row_id, _ in held], [attempts for _, attempts in held], lease_seconds
        )
        return {row["id"]: row["renewed"] for row in rows}

    async def sweep(self, connection: asyncpg.Connection, max_attempts: int, limit: int = 1000) -> SweepResult:
        """Make due rows ready: those whose wait has ended, and those whose lease has expired."""
        row = await connection.fetchrow(self._sql.sweep, limit, max_attempts)
        return SweepResult(row["ready"], row["rescued"], row["died"])

    async def measure(self, connection: asyncpg.Connection) -> QueueMetrics:
        """Count the rows in each state, up to the cap."""
        row = await connection.fetchrow(self._sql.measure)
        return QueueMetrics(row["ready"], row["waiting"], row["processing"], row["dead"], float(row["oldest"] or 0))

    @property
    def measure_sql(self) -> str:
        """SQL query: one row with ready, waiting, processing, dead and oldest."""
        return self._sql.measure

    async def open(self, connection: asyncpg.Connection, row_ids: Sequence[UUID]) -> None:
        """Queue rows that are neither queued nor in flight."""
        await connection.execute(self._sql.open, list(row_ids))

    async def wake(
        self, connection: asyncpg.Connection, tenant_id: UUID, waits_for: WaitsFor, limit: int = 10_000
    ) -> int:
        """Make the rows of a tenant that wait for this due, notify the workers, and return their number."""
        return int(await connection.fetchval(self._sql.wake, tenant_id, waits_for, limit))

    async def overdue(self, connection: asyncpg.Connection, seconds: float) -> int:
        """Count rows that are in Processing although their lease ended that long ago."""
        return int(await connection.fetchval(self._sql.overdue, seconds))

    @property
    def busy_sql(self) -> str:
        """SQL query: whether a row is ready, in flight, or due within $1 seconds."""
        return self._sql.busy

    @property
    def work_sql(self) -> str:
        """SQL expression: whether a claim or a sweep would find anything."""
        return self._sql.work

    @property
    def count_sql(self) -> str:
        """SQL statement: the number of ready rows, up to $1."""
        return self._sql.count

    def _watermark(self) -> int:
        # Dead index entries accumulate at the head while an old snapshot is open: skip them for a while.
        if time.monotonic() > self._low_until:
            self._low = MIN_ORDER_KEY
        return self._low

    def _remember_position(self, rows: list[Claimed]) -> list[Claimed]:
        if not rows:
            self._low = MIN_ORDER_KEY
        else:
            if self._low == MIN_ORDER_KEY:
                self._low_until = time.monotonic() + WATERMARK_SECONDS
            self._low = max(row["order_key"] for row in rows)
        return rows

    def decode(self, row: Claimed) -> Claimed:
        """Decode JSON columns, which the driver returns as text."""
        return _Decoded(row, self._decoders) if self._decoders else row  # type: ignore[return-value]


class _Decoded:
    def __init__(self, row: Claimed, decoders: dict[str, Callable[[str], Any]]) -> None:
        self._row, self._decoders = row, decoders

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._row, name)
        return self._decoders[name](value) if name in self._decoders and isinstance(value, str) else value

    __getitem__ = __getattr__


def _columns(done: Sequence[Settlement]) -> tuple[list[Any], ...]:
    """Return the parameters of a settlement; rows that are all Completed send their ids and attempts only."""
    done = sorted(done, key=lambda settlement: settlement.row_id)
    keys = [settlement.row_id for settlement in done], [settlement.attempts for settlement in done]
    if all(settlement.outcome is COMPLETED for settlement in done):
        return (*keys, [], [], [], [], [], [], [])
    return (
        *keys,
        [settlement.outcome.status.value for settlement in done],
        [settlement.outcome.error for settlement in done],
        [settlement.outcome.wait_seconds for settlement in done],
        [settlement.outcome.counts for settlement in done],
        [settlement.outcome.error_type for settlement in done],
        [settlement.outcome.waits_for for settlement in done],
        [settlement.outcome.reason_code for settlement in done],
    )


def _json_decoders(workflow: Workflow[Any, Any, Any]) -> dict[str, Callable[[str], Any]]:
    columns = workflow.model.__table__.columns
    return {name: json.loads for name in workflow.reads if name in columns and isinstance(columns[name].type, JSON)}
