"""SQL about the rows of a queue: list, queue and retry them.

The session is the tenant's. Row level security and the explicit tenant condition both separate the tenants.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Select,
    TextClause,
    Uuid,
    any_,
    func,
    literal,
    select,
    text,
    true,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import Status
from scrapersky.engine.queue_sql import PRIORITY_WORTH
from scrapersky.engine.workflow import Workflow
from scrapersky.models import DeadLetter, Tenant
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.steps import ROWS_OF_SEARCH

AnyWorkflow = Workflow[Any, Any, Any]
Key = datetime | int | None

UNKNOWN = "unknown"  # the state of an id without a row of the tenant
IN_QUEUE = (Status.QUEUED, Status.PROCESSING)
RETRYABLE = (Status.ERROR, Status.SKIPPED)
MAX_AUDITED_IDS = 100  # of more rows the audit stores only the number
MAX_COUNT = 100_000  # larger counts are cut off here


@dataclass(frozen=True)
class QueuePosition:
    """The last row of a page: its section, its key in the order of the section, and its id."""

    section: str
    key: Key
    id: UUID


@dataclass(frozen=True)
class QueueRow:
    """The queue columns of a row."""

    id: UUID
    status: Status
    error: str | None
    attempts: int
    tries: int
    due_at: datetime | None
    priority: int
    updated_at: datetime
    tenant_id: UUID
    tenant: str | None  # its name, in a list of all tenants
    position: QueuePosition


@dataclass(frozen=True)
class QueuedRows:
    """The number of rows queued by the request, of rows in the queue before, and of ids without a row."""

    queued: int
    already: int
    unknown: int


@dataclass(frozen=True)
class RetriedRows:
    """The rows that were queued again, and the states of the other ids."""

    retried: list[UUID]
    refused: Mapping[UUID, str]


async def items(
    session: AsyncSession,
    workflow: AnyWorkflow,
    tenant_id: UUID | None,
    *,
    sections: Collection[str] = (),
    search_id: UUID | None = None,
    after: QueuePosition | None = None,
    limit: int = 50,
) -> list[QueueRow]:
    """Return a page of rows by section: processing, ready in order, waiting, then idle; each is read from an index.

    Without a tenant, in a session of the engine, the rows of all tenants in OPEN_SECTIONS.
    """
    found: list[QueueRow] = []
    first = SECTIONS.index(after.section) if after else 0
    for section in SECTIONS[first:]:
        if (not sections or section in sections) and len(found) < limit:
            start = after if after and after.section == section else None
            query = section_query(workflow, tenant_id, section, start).limit(limit - len(found))
            if search_id is not None:
                query = query.where(_of_search(workflow, search_id))
            found += [_item(section, row) for row in await session.execute(query)]
    return found


async def section_count(session: AsyncSession, workflow: AnyWorkflow, tenant_id: UUID, section: str, cap: int) -> int:
    """Count the rows of a section, up to the cap."""
    return int(await session.scalar(select(_count_of(workflow, tenant_id, section, cap))) or 0)


async def oldest_seconds(session: AsyncSession, workflow: AnyWorkflow, tenant_id: UUID | None = None) -> float:
    """Return how long the first ready row has waited, of a tenant or, in a session of the engine, of all tenants."""
    return max(0.0, float(await session.scalar(_oldest_query(workflow, tenant_id)) or 0))


def _oldest_query(workflow: AnyWorkflow, tenant_id: UUID | None) -> Select[Any]:
    table, queue = workflow.model.__table__, workflow.queue
    status, due_at, order = (table.c[f"{queue}_{part}"] for part in ("status", "due_at", "order"))
    queued_at = (order + table.c.priority * literal(PRIORITY_WORTH, BigInteger())) / 1e6
    query = (
        select(func.extract("epoch", func.now()) - queued_at)
        .where(status == literal(Status.QUEUED.value, literal_execute=True), due_at.is_(None))
        .order_by(order)
        .limit(1)
    )
    return query if tenant_id is None else query.where(table.c.tenant_id == tenant_id)


def metrics_of_tenant(workflows: Sequence[AnyWorkflow], tenant_id: UUID) -> Any:
    """Build the query of the metrics of queues for the rows of one tenant, a row per workflow."""
    parts = []
    for workflow in workflows:
        counts = [_count_of(workflow, tenant_id, section, MAX_COUNT) for section in MEASURED]
        values = (*counts, _oldest_query(workflow, tenant_id).scalar_subquery())
        named = (value.label(name) for name, value in zip(MEASURES, values, strict=True))
        parts.append(select(literal(workflow.name).label("workflow"), *named))
    return union_all(*parts)


def _count_of(workflow: AnyWorkflow, tenant_id: UUID, section: str, cap: int) -> Any:
    rows = section_query(workflow, tenant_id, section, None).order_by(None).limit(cap).subquery()
    return select(func.count()).select_from(rows).scalar_subquery()


async def queue_rows(
    session: AsyncSession, workflow: AnyWorkflow, actor: Actor, ids: Sequence[UUID], priority: int | None = None
) -> QueuedRows:
    """Queue idle rows. With a priority, rows that are in the queue get it as well."""
    states = await lock_states(session, workflow, actor.tenant_id, ids)
    idle = [row_id for row_id, state in states.items() if state not in IN_QUEUE]
    changes: dict[str, Any] = {} if priority is None else {"priority": priority}
    await set_columns(session, workflow, idle, {f"{workflow.queue}_status": Status.QUEUED.value, **changes})
    if changes:
        waiting = [row_id for row_id, state in states.items() if state is Status.QUEUED]
        await set_columns(session, workflow, waiting, changes)
    await _cancel_withdrawal(
        session, workflow, [row_id for row_id, state in states.items() if state is Status.PROCESSING]
    )
    after = {"status": Status.QUEUED.value, **changes}
    await audit.record(session, actor, "queue", workflow.name, by_state(states), after)
    return QueuedRows(len(idle), len(states) - len(idle), len(set(ids)) - len(states))


async def _cancel_withdrawal(session: AsyncSession, workflow: AnyWorkflow, in_flight: Sequence[UUID]) -> None:
    """Undo the withdrawal of rows in flight, so that they are retried if they fail."""
    table = workflow.model.__table__
    revert_to = table.c[f"{workflow.queue}_revert_to"]
    if in_flight:
        withdrawn = update(table).where(one_of(table.c.id, in_flight), revert_to.is_not(None))
        await session.execute(withdrawn.values({revert_to: None}))


async def retry_rows(session: AsyncSession, workflow: AnyWorkflow, actor: Actor, ids: Sequence[UUID]) -> RetriedRows:
    """Queue rows in Error or Skipped again with new attempts; return the other ids with their state."""
    states = await lock_states(session, workflow, actor.tenant_id, ids)
    dead = {row_id: state for row_id, state in states.items() if state in RETRYABLE}
    await set_columns(session, workflow, dead, {f"{workflow.queue}_status": Status.QUEUED.value})
    if dead:
        after = {"status": Status.QUEUED.value}
        await audit.record(session, actor, "retry", workflow.name, by_state(dead), after)
    refused = {row_id: str(states.get(row_id, UNKNOWN)) for row_id in ids if row_id not in dead}
    return RetriedRows(list(dead), refused)


async def release_rows(session: AsyncSession, workflow: AnyWorkflow, actor: Actor, ids: Sequence[UUID]) -> RetriedRows:
    """Queue rows in flight again: their worker has lost them and writes nothing more."""
    states = await lock_states(session, workflow, actor.tenant_id, ids)
    held = {row_id: state for row_id, state in states.items() if state is Status.PROCESSING}
    await set_columns(session, workflow, held, {f"{workflow.queue}_status": Status.QUEUED.value})
    if held:
        await audit.record(session, actor, "release", workflow.name, by_state(held), {"status": Status.QUEUED.value})
    refused = {row_id: str(states.get(row_id, UNKNOWN)) for row_id in ids if row_id not in held}
    return RetriedRows(list(held), refused)


async def lock_states(
    session: AsyncSession, workflow: AnyWorkflow, tenant_id: UUID, ids: Iterable[UUID]
) -> dict[UUID, Status]:
    """Lock rows of the tenant by id, so that two requests never deadlock; return their states."""
    table = workflow.model.__table__
    rows = await session.execute(
        select(table.c.id, table.c[f"{workflow.queue}_status"])
        .where(one_of(table.c.id, ids), table.c.tenant_id == tenant_id)
        .order_by(table.c.id)
        .with_for_update(key_share=True)
    )
    return {row_id: Status(state) for row_id, state in rows}


async def set_columns(
    session: AsyncSession, workflow: AnyWorkflow, ids: Iterable[UUID], values: Mapping[str, Any]
) -> None:
    """Change columns of locked rows; triggers update the other queue columns."""
    chosen = list(ids)
    if chosen:
        table = workflow.model.__table__
        await session.execute(
            update(table).where(one_of(table.c.id, chosen)).values({**values, "updated_at": func.now()})
        )


def one_of(column: Any, ids: Iterable[UUID]) -> ColumnElement[bool]:
    """Build the condition that the column is one of these ids, sent as one array parameter."""
    return column == any_(literal(list(ids), ARRAY(Uuid())))  # type: ignore[no-any-return]


def by_state(states: Mapping[UUID, StrEnum]) -> dict[str, list[str] | int]:
    """Group ids by state for the audit; of many rows return only the numbers."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for row_id, state in states.items():
        grouped[state.value].append(str(row_id))
    return {state: ids if len(states) <= MAX_AUDITED_IDS else len(ids) for state, ids in grouped.items()}


# -- sections ----------------------------------------------------------------------------------------------------------

# A section is a part of a queue with its own order and index.
STATUS_OF = {
    "processing": Status.PROCESSING,
    "ready": Status.QUEUED,
    "waiting": Status.QUEUED,
    "error": Status.ERROR,
    "skipped": Status.SKIPPED,
    "completed": Status.COMPLETED,
    "new": Status.NEW,
}
SECTIONS = list(STATUS_OF)
MEASURED = ("ready", "waiting", "processing", "error")
MEASURES = ("ready", "waiting", "processing", "dead", "oldest")  # the columns of the metrics of a queue
OPEN_SECTIONS = ("processing", "ready", "waiting", "error")  # have an index over all tenants
TIMED = ("processing", "waiting")


def sections_of(statuses: Collection[Status]) -> list[str]:
    """Return the sections whose rows have one of these statuses; all sections without one."""
    return [section for section, status in STATUS_OF.items() if not statuses or status in statuses]


def section_query(
    workflow: AnyWorkflow, tenant_id: UUID | None, section: str, after: QueuePosition | None
) -> Select[Any]:
    """Build the query of a section from a position on; of all tenants without one."""
    table, queue = workflow.model.__table__, workflow.queue
    status, due_at, order = (table.c[f"{queue}_{part}"] for part in ("status", "due_at", "order"))
    attempts, allowance = table.c[f"{queue}_attempts"], table.c[f"{queue}_allowance"]
    key: ColumnElement[Any] | None = due_at if section in TIMED else order if section == "ready" else None
    # A literal, not a parameter: only then the planner uses the partial index.
    is_in_section = status == literal(STATUS_OF[section].value, literal_execute=True)
    clock = due_at.is_not(None) if section in TIMED else due_at.is_(None) if section == "ready" else true()
    # Over all tenants, only dead letters have an index for failed rows.
    row_id = DeadLetter.row_id if tenant_id is None and section == "error" else table.c.id
    place = (key, row_id) if key is not None else (row_id,)
    query = (
        select(
            table.c.id,
            status.label("status"),
            table.c[f"{queue}_error"].label("error"),
            attempts.label("attempts"),
            (attempts - allowance).label("tries"),
            due_at.label("due_at"),
            table.c.priority,
            table.c.updated_at,
            table.c.tenant_id,
            (literal(None) if tenant_id else Tenant.name).label("tenant"),
            (literal(None) if key is None else key).label("key"),
        )
        .where(is_in_section, clock)
        .order_by(*place)
    )
    if tenant_id is not None:
        query = query.where(table.c.tenant_id == tenant_id)
    else:
        query = query.join(Tenant, Tenant.id == table.c.tenant_id)
        if section == "error":
            query = query.join(
                DeadLetter, (DeadLetter.row_id == table.c.id) & (DeadLetter.queue == f"{table.name}.{queue}")
            )
    if after is None:
        return query
    if row_id is not table.c.id:
        query = query.where(table.c.id > after.id)  # the planner does not derive it from the equal column
    return query.where(tuple_(*place) > tuple_(*((after.key, after.id) if key is not None else (after.id,))))


def _of_search(workflow: AnyWorkflow, search_id: UUID) -> TextClause:
    """Build the condition that the search has found the row; rows of other tables belong to no search."""
    table = str(workflow.model.__tablename__)
    if table not in ROWS_OF_SEARCH:
        return text("false")
    return text(ROWS_OF_SEARCH[table].found.format(row=table)).bindparams(search=search_id)


def _item(section: str, row: Any) -> QueueRow:
    values = dict(row._mapping)
    position = QueuePosition(section, values.pop("key"), row.id)
    return QueueRow(**{**values, "status": Status(row.status)}, position=position)
