"""Named queries about the rows of a queue: list them, queue them, try them again.

The session is the tenant's; row level security and the explicit tenant are two walls, not one.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Select, Uuid, any_, func, literal, select, true, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import Status
from scrapersky.engine.queue import QueueMetrics
from scrapersky.engine.queue_sql import PRIORITY_WORTH
from scrapersky.engine.workflow import Workflow
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor

AnyWorkflow = Workflow[Any, Any, Any]
Key = datetime | int | None

UNKNOWN = "unknown"  # the state of an id that is no row of the tenant
IN_HAND = (Status.QUEUED, Status.PROCESSING)
DEAD = (Status.ERROR, Status.SKIPPED)  # what may be tried again
NAMED = 100  # rows that the audit names one by one
COUNT_CAP = 100_000  # nobody counts further than this


@dataclass(frozen=True)
class Position:
    """Where a list of items was left off."""

    shelf: str
    key: Key
    id: UUID


@dataclass(frozen=True)
class Item:
    """A row as its queue sees it."""

    id: UUID
    status: Status
    error: str | None
    attempts: int
    tries: int
    due_at: datetime | None
    priority: int
    updated_at: datetime
    position: Position


@dataclass(frozen=True)
class Queued:
    """What became of the ids: rows now queued, rows that were in the queue already, ids that are no rows."""

    queued: int
    already: int
    unknown: int


@dataclass(frozen=True)
class Retried:
    """The rows that will be tried again, and for the others the state that forbids it."""

    retried: list[UUID]
    refused: Mapping[UUID, str]


async def items(
    session: AsyncSession,
    workflow: AnyWorkflow,
    tenant_id: UUID,
    *,
    status: Status | None = None,
    after: Position | None = None,
    limit: int = 50,
) -> list[Item]:
    """Rows shelf by shelf (being worked on, ready in their order, waiting, then at rest), each read from an index."""
    found: list[Item] = []
    left_off = SHELVES.index(after.shelf) if after else 0
    for shelf in SHELVES[left_off:]:
        if status in (None, STATUS_OF[shelf]) and len(found) < limit:
            start = after if after and after.shelf == shelf else None
            wanted = _read_shelf(workflow, tenant_id, shelf, start).limit(limit - len(found))
            found += [_item(shelf, row) for row in await session.execute(wanted)]
    return found


async def oldest_seconds(session: AsyncSession, workflow: AnyWorkflow, tenant_id: UUID | None = None) -> float:
    """How long the first ready row has waited: of a tenant, or in a session of the engine of any. It counts nothing."""
    table, queue = workflow.model.__table__, workflow.queue
    status, due_at, order = (table.c[f"{queue}_{part}"] for part in ("status", "due_at", "order"))
    queued_at = (order + table.c.priority * literal(PRIORITY_WORTH, BigInteger())) / 1e6
    wanted = (
        select(func.extract("epoch", func.now()) - queued_at)
        .where(status == literal(Status.QUEUED.value, literal_execute=True), due_at.is_(None))
        .order_by(order)
        .limit(1)
    )
    waited = await session.scalar(wanted if tenant_id is None else wanted.where(table.c.tenant_id == tenant_id))
    return max(0.0, float(waited or 0))


async def measures(session: AsyncSession, workflow: AnyWorkflow, tenant_id: UUID) -> QueueMetrics:
    """The same as the engine measures of a queue, of one tenant's rows only."""
    counts = [
        select(func.count()).select_from(
            _read_shelf(workflow, tenant_id, shelf, None).order_by(None).limit(COUNT_CAP).subquery()
        )
        for shelf in ("ready", "waiting", "processing", "error")
    ]
    row = (await session.execute(select(*(count.scalar_subquery() for count in counts)))).one()
    ready, waiting, processing, dead = row
    return QueueMetrics(ready, waiting, processing, dead, await oldest_seconds(session, workflow, tenant_id))


async def queue_rows(
    session: AsyncSession, workflow: AnyWorkflow, actor: Actor, ids: Sequence[UUID], priority: int | None = None
) -> Queued:
    """Queue rows that are at rest. With a priority, rows in the queue already are moved to it as well."""
    states = await lock_states(session, workflow, actor.tenant_id, ids)
    resting = [row_id for row_id, state in states.items() if state not in IN_HAND]
    changes: dict[str, Any] = {} if priority is None else {"priority": priority}
    await set_columns(session, workflow, resting, {f"{workflow.queue}_status": Status.QUEUED.value, **changes})
    if changes:
        waiting = [row_id for row_id, state in states.items() if state is Status.QUEUED]
        await set_columns(session, workflow, waiting, changes)
    await _want_again(session, workflow, [row_id for row_id, state in states.items() if state is Status.PROCESSING])
    if states:
        after = {"status": Status.QUEUED.value, **changes}
        await audit.record(session, actor, "queue", workflow.name, by_state(states), after)
    return Queued(len(resting), len(states) - len(resting), len(set(ids)) - len(states))


async def _want_again(session: AsyncSession, workflow: AnyWorkflow, in_hand: Sequence[UUID]) -> None:
    """Undo the withdrawal of rows in flight: they are retried again if they fail."""
    table = workflow.model.__table__
    revert_to = table.c[f"{workflow.queue}_revert_to"]
    if in_hand:
        withdrawn = update(table).where(among(table.c.id, in_hand), revert_to.is_not(None))
        await session.execute(withdrawn.values({revert_to: None}))


async def retry_rows(session: AsyncSession, workflow: AnyWorkflow, actor: Actor, ids: Sequence[UUID]) -> Retried:
    """Queue rows in Error or Skipped again, afresh; every other id comes back with its state."""
    states = await lock_states(session, workflow, actor.tenant_id, ids)
    dead = {row_id: state for row_id, state in states.items() if state in DEAD}
    await set_columns(session, workflow, dead, {f"{workflow.queue}_status": Status.QUEUED.value})
    if dead:
        after = {"status": Status.QUEUED.value}
        await audit.record(session, actor, "retry", workflow.name, by_state(dead), after)
    refused = {row_id: str(states.get(row_id, UNKNOWN)) for row_id in ids if row_id not in dead}
    return Retried(list(dead), refused)


async def lock_states(
    session: AsyncSession, workflow: AnyWorkflow, tenant_id: UUID, ids: Iterable[UUID]
) -> dict[UUID, Status]:
    """The state of each row of the tenant, locked in one order for all, so that two requests never wait in a ring."""
    table = workflow.model.__table__
    rows = await session.execute(
        select(table.c.id, table.c[f"{workflow.queue}_status"])
        .where(among(table.c.id, ids), table.c.tenant_id == tenant_id)
        .order_by(table.c.id)
        .with_for_update(key_share=True)
    )
    return {row_id: Status(state) for row_id, state in rows}


async def set_columns(
    session: AsyncSession, workflow: AnyWorkflow, ids: Iterable[UUID], values: Mapping[str, Any]
) -> None:
    """Change columns of rows that were locked before; the database's triggers do the rest."""
    chosen = list(ids)
    if chosen:
        table = workflow.model.__table__
        await session.execute(
            update(table).where(among(table.c.id, chosen)).values({**values, "updated_at": func.now()})
        )


def among(column: Any, ids: Iterable[UUID]) -> ColumnElement[bool]:
    """The column is one of these, sent as one array whatever their number."""
    return column == any_(literal(list(ids), ARRAY(Uuid())))  # type: ignore[no-any-return]


def by_state(states: Mapping[UUID, StrEnum]) -> dict[str, list[str] | int]:
    """The ids under each state, as the audit keeps them; of many rows only how many they are."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for row_id, state in states.items():
        grouped[state.value].append(str(row_id))
    return {state: ids if len(states) <= NAMED else len(ids) for state, ids in grouped.items()}


# -- shelves -----------------------------------------------------------------------------------------------------------

# A shelf is a part of a queue that has an order and an index of its own.
STATUS_OF = {
    "processing": Status.PROCESSING,
    "ready": Status.QUEUED,
    "waiting": Status.QUEUED,
    "error": Status.ERROR,
    "skipped": Status.SKIPPED,
    "completed": Status.COMPLETED,
    "new": Status.NEW,
}
SHELVES = list(STATUS_OF)
CLOCKED = ("processing", "waiting")


def _read_shelf(workflow: AnyWorkflow, tenant_id: UUID, shelf: str, after: Position | None) -> Select[Any]:
    table, queue = workflow.model.__table__, workflow.queue
    status, due_at, order = (table.c[f"{queue}_{part}"] for part in ("status", "due_at", "order"))
    attempts, allowance = table.c[f"{queue}_attempts"], table.c[f"{queue}_allowance"]
    key: ColumnElement[Any] | None = due_at if shelf in CLOCKED else order if shelf == "ready" else None
    # Written into the statement, not sent as a parameter: only so does the planner see that a partial index fits.
    is_here = status == literal(STATUS_OF[shelf].value, literal_execute=True)
    clock = due_at.is_not(None) if shelf in CLOCKED else due_at.is_(None) if shelf == "ready" else true()
    place = (key, table.c.id) if key is not None else (table.c.id,)
    wanted = (
        select(
            table.c.id,
            status.label("status"),
            table.c[f"{queue}_error"].label("error"),
            attempts.label("attempts"),
            (attempts - allowance).label("tries"),
            due_at.label("due_at"),
            table.c.priority,
            table.c.updated_at,
            (literal(None) if key is None else key).label("key"),
        )
        .where(table.c.tenant_id == tenant_id, is_here, clock)
        .order_by(*place)
    )
    if after is None:
        return wanted
    return wanted.where(tuple_(*place) > tuple_(*((after.key, after.id) if key is not None else (after.id,))))


def _item(shelf: str, row: Any) -> Item:
    return Item(
        row.id,
        Status(row.status),
        row.error,
        row.attempts,
        row.tries,
        row.due_at,
        row.priority,
        row.updated_at,
        Position(shelf, row.key, row.id),
    )
