"""SQL about dead letters: list, retry and drop them.

The session is the tenant's. A trigger deletes a dead letter when its row leaves Error.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Select, func, select, text, tuple_
from sqlalchemy.dialects.postgresql import array
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.database import Database
from scrapersky.core.errors import UnknownName
from scrapersky.core.vocabularies import Status
from scrapersky.engine.outcomes import MAX_ERROR_LENGTH
from scrapersky.engine.pipeline import Pipeline
from scrapersky.models import DeadLetter
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing.labels import RowLabel, labels
from scrapersky.store.operations.queue_rows import UNKNOWN, AnyWorkflow, by_state, lock_states, one_of, set_columns

MAX_COUNT = 1_000_000  # larger counts are cut off here
DAY_PARTS = 12  # the last day of a group is counted in parts of two hours
CHUNK_ROWS = 1_000  # of one transaction when all matching rows are moved

Action = Literal["retry", "drop"]


class UnknownDeadLetter(UnknownName):
    """There is no dead letter of this id."""


@dataclass(frozen=True)
class DeadLetterQuery:
    """Which dead letters are selected; without values all of the tenant."""

    queue: str | None = None  # table.queue
    error_type: str | None = None
    text: str | None = None  # the begin of the message
    reason: str | None = None  # the message without names of sites and numbers
    failed_until: datetime | None = None
    excluded: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class LetterGroup:
    """Dead letters of one queue with the same type of error and the same reason."""

    queue: str
    error_type: str
    reason: str
    rows: int
    first_at: datetime
    last_at: datetime
    last_day: list[int]  # dead letters per two hours of the last day, the oldest first


@dataclass(frozen=True)
class LetterGroups:
    """The largest groups, and the numbers of all groups and of all their dead letters."""

    items: list[LetterGroup]
    group_count: int
    row_count: int
    as_of: datetime | None  # when the last of them failed; None without a group


@dataclass(frozen=True)
class MovedLetters:
    """The dead letters that were retried or dropped, and the reasons of the others."""

    done: list[UUID]
    refused: Mapping[UUID, str]


async def page(
    session: AsyncSession,
    tenant_id: UUID,
    selection: DeadLetterQuery,
    *,
    before: tuple[datetime, UUID] | None = None,
    limit: int = 50,
) -> list[DeadLetter]:
    """Return a page, newest first; `before` is the time and id of the last one of the page before."""
    query = _matching(select(DeadLetter), tenant_id, selection)
    if before is not None:
        query = query.where(tuple_(DeadLetter.failed_at, DeadLetter.id) < before)
    return list(await session.scalars(query.order_by(DeadLetter.failed_at.desc(), DeadLetter.id.desc()).limit(limit)))


async def groups(session: AsyncSession, tenant_id: UUID, selection: DeadLetterQuery, limit: int) -> LetterGroups:
    """Return the selected dead letters by queue, type of error and reason, the largest groups first."""
    rows = (await session.execute(groups_query(tenant_id, selection).limit(limit))).all()
    if not rows:
        return LetterGroups([], 0, 0, None)
    return LetterGroups(
        [LetterGroup(*row[:-3]) for row in rows], rows[0].group_count, int(rows[0].row_count), rows[0].as_of
    )


def groups_query(tenant_id: UUID, selection: DeadLetterQuery) -> Select[Any]:
    """Build the query of the groups."""
    columns = (DeadLetter.queue, DeadLetter.error_type, DeadLetter.reason)
    size, part = func.count(), timedelta(days=1) / DAY_PARTS
    last_at = func.max(DeadLetter.failed_at)
    last_day = [
        func.count().filter(
            DeadLetter.failed_at > func.now() - (n + 1) * part, DeadLetter.failed_at <= func.now() - n * part
        )
        for n in reversed(range(DAY_PARTS))
    ]
    grouped: Any = select(
        *columns,
        size.label("size"),
        func.min(DeadLetter.failed_at),
        last_at,
        array(last_day),
        func.count().over().label("group_count"),
        func.sum(size).over().label("row_count"),
        func.max(last_at).over().label("as_of"),
    )
    return _matching(grouped, tenant_id, selection).group_by(*columns).order_by(text("size DESC"), *columns)


async def labels_of(session: AsyncSession, letters: Iterable[DeadLetter]) -> dict[UUID, RowLabel]:
    """Return the labels of the rows of dead letters, by the id of the dead letter; one look-up per table."""
    by_table: dict[str, dict[UUID, UUID]] = defaultdict(dict)
    for letter in letters:
        by_table[letter.queue.partition(".")[0]][letter.id] = letter.row_id
    found: dict[UUID, RowLabel] = {}
    for table, row_of in by_table.items():
        known = await labels(session, table, set(row_of.values()))
        found |= {letter_id: known[row_id] for letter_id, row_id in row_of.items() if row_id in known}
    return found


async def get(session: AsyncSession, tenant_id: UUID, letter_id: UUID) -> DeadLetter:
    """Return a dead letter of the tenant, or raise UnknownDeadLetter."""
    found = await session.scalar(
        select(DeadLetter).where(DeadLetter.id == letter_id, DeadLetter.tenant_id == tenant_id)
    )
    if found is None:
        raise UnknownDeadLetter(f"The tenant has no dead letter {letter_id}; it may have been retried or dropped.")
    return found


async def count(session: AsyncSession, tenant_id: UUID, selection: DeadLetterQuery) -> int:
    """Count the selected dead letters, up to MAX_COUNT."""
    capped = _matching(select(DeadLetter.id), tenant_id, selection).limit(MAX_COUNT).subquery()
    return int(await session.scalar(select(func.count()).select_from(capped)) or 0)


async def next_letters(
    session: AsyncSession,
    tenant_id: UUID,
    selection: DeadLetterQuery,
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[tuple[datetime, UUID]]:
    """Return the time and id of the selected dead letters that follow `after`, the oldest first."""
    place = tuple_(DeadLetter.failed_at, DeadLetter.id)
    letters: Select[Any] = select(DeadLetter.failed_at, DeadLetter.id)  # type: ignore[assignment]
    chosen = _matching(letters, tenant_id, selection)
    rows = await session.execute(
        (chosen.where(place > after) if after else chosen).order_by(DeadLetter.failed_at, DeadLetter.id).limit(limit)
    )
    return [(failed_at, letter_id) for failed_at, letter_id in rows]


async def move(
    session: AsyncSession, pipeline: Pipeline, actor: Actor, ids: Sequence[UUID], action: Action
) -> MovedLetters:
    """Retry dead letters (queue the rows with new attempts), or drop them (mark the rows Skipped with the reason)."""
    letters = await session.scalars(
        select(DeadLetter).where(one_of(DeadLetter.id, ids), DeadLetter.tenant_id == actor.tenant_id)
    )
    by_queue: dict[str, dict[UUID, UUID]] = defaultdict(dict)
    for letter in letters:
        by_queue[letter.queue][letter.row_id] = letter.id
    done: list[UUID] = []
    refused: dict[UUID, str] = {}
    for queue, letter_of in sorted(by_queue.items()):
        workflow = pipeline.by_queue(queue)
        if workflow is None:
            refused |= dict.fromkeys(letter_of.values(), f"no workflow of this pipeline has the queue {queue}")
            continue
        moved = await _move_rows(session, workflow, actor, letter_of, action)
        done += [letter_of[row_id] for row_id in moved]
    known = {*done, *refused}
    return MovedLetters(done, {**refused, **{letter_id: UNKNOWN for letter_id in ids if letter_id not in known}})


async def move_matching(
    database: Database,
    pipeline: Pipeline,
    actor: Actor,
    selection: DeadLetterQuery,
    action: Action,
    max_rows: int = MAX_COUNT,
) -> int:
    """Retry or drop all selected ones, at most `max_rows`, in chunks with their own transactions; return how many.

    Rows that fail again meanwhile are not moved twice; dead letters of a queue outside this pipeline stay.
    """
    moved = 0
    async with database.session(actor.tenant_id) as session:
        selection = replace(selection, failed_until=selection.failed_until or await session.scalar(select(func.now())))
    for workflow in pipeline:
        queue = pipeline.queues[workflow.name].name
        chunk = CHUNK_ROWS
        while selection.queue in (None, queue) and chunk and moved < max_rows:
            async with database.session(actor.tenant_id) as session:
                chosen = _matching(select(DeadLetter.id), actor.tenant_id, replace(selection, queue=queue))
                ids = list(await session.scalars(chosen.limit(min(CHUNK_ROWS, max_rows - moved))))
                chunk = len((await move(session, pipeline, actor, ids, action)).done)
            moved += chunk
    if not moved:
        async with database.session(actor.tenant_id) as session:
            await audit.record(session, actor, action, "dead letters", None, {"rows": 0, "filter": _shown(selection)})
    return moved


async def _move_rows(
    session: AsyncSession, workflow: AnyWorkflow, actor: Actor, letter_of: Mapping[UUID, UUID], action: Action
) -> list[UUID]:
    states = await lock_states(session, workflow, actor.tenant_id, letter_of)
    # The dead letter of a row that left Error before it was locked does not exist any more.
    dead = {row_id: state for row_id, state in states.items() if state is Status.ERROR}
    if dead:
        changes = _changes(workflow, actor, action)
        await set_columns(session, workflow, dead, changes)
        after = {"status": str(changes[f"{workflow.queue}_status"])}
        await audit.record(session, actor, action, workflow.name, by_state(dead), after)
    return list(dead)


def _shown(selection: DeadLetterQuery) -> dict[str, str]:
    return {name: str(value) for name, value in vars(selection).items() if value not in (None, ())}


def _changes(workflow: AnyWorkflow, actor: Actor, action: Action) -> dict[str, Any]:
    status, error = f"{workflow.queue}_status", f"{workflow.queue}_error"
    if action == "retry":
        return {status: Status.QUEUED.value}
    error_text = func.concat(f"dropped by {actor.name}: ", workflow.model.__table__.c[error])
    return {status: Status.SKIPPED.value, error: func.left(error_text, MAX_ERROR_LENGTH)}


def _matching(query: Select[Any], tenant_id: UUID, selection: DeadLetterQuery) -> Select[Any]:
    query = query.where(DeadLetter.tenant_id == tenant_id)
    if selection.queue is not None:
        query = query.where(DeadLetter.queue == selection.queue)
    if selection.error_type is not None:
        query = query.where(DeadLetter.error_type == selection.error_type)
    if selection.text is not None:
        query = query.where(func.starts_with(DeadLetter.message, selection.text))
    if selection.reason is not None:
        query = query.where(DeadLetter.reason == selection.reason)
    if selection.failed_until is not None:
        query = query.where(DeadLetter.failed_at <= selection.failed_until)
    if selection.excluded:
        query = query.where(DeadLetter.id.not_in(selection.excluded))
    return query
