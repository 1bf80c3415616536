"""Named queries about dead letters: look at them, retry them, drop them.

The session is the tenant's. A dead letter goes by itself when its row leaves Error, whoever moves it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Select, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.database import Database
from scrapersky.core.errors import UnknownName
from scrapersky.core.vocabularies import Status
from scrapersky.engine.outcomes import MAX_ERROR_LENGTH
from scrapersky.engine.pipeline import Pipeline
from scrapersky.models import DeadLetter
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.operations.queue_rows import UNKNOWN, AnyWorkflow, among, by_state, lock_states, set_columns

COUNT_CAP = 100_000  # nobody counts further than this
BITE = 1_000  # rows moved in one transaction when all that match are moved

Action = Literal["retry", "drop"]


class UnknownDeadLetter(UnknownName):
    """There is no dead letter of this id."""


@dataclass(frozen=True)
class Filter:
    """Which dead letters are meant; nothing set means all of the tenant's."""

    queue: str | None = None  # table.queue, as the pipeline names it
    error_type: str | None = None
    text: str | None = None  # how the message begins
    failed_until: datetime | None = None


@dataclass(frozen=True)
class Moved:
    """The dead letters that were retried or dropped, and for the others why they were not."""

    done: list[UUID]
    refused: Mapping[UUID, str]


async def page(
    session: AsyncSession,
    tenant_id: UUID,
    wanted: Filter,
    *,
    before: tuple[datetime, UUID] | None = None,
    limit: int = 50,
) -> list[DeadLetter]:
    """The latest death first; `before` is the death and id of the last one already seen."""
    query = _matching(select(DeadLetter), tenant_id, wanted)
    if before is not None:
        query = query.where(tuple_(DeadLetter.failed_at, DeadLetter.id) < before)
    return list(await session.scalars(query.order_by(DeadLetter.failed_at.desc(), DeadLetter.id.desc()).limit(limit)))


async def get(session: AsyncSession, tenant_id: UUID, letter_id: UUID) -> DeadLetter:
    """One dead letter of the tenant, or UnknownDeadLetter."""
    found = await session.scalar(
        select(DeadLetter).where(DeadLetter.id == letter_id, DeadLetter.tenant_id == tenant_id)
    )
    if found is None:
        raise UnknownDeadLetter(f"{letter_id} is none; it may have been retried or dropped.")
    return found


async def count(session: AsyncSession, tenant_id: UUID, wanted: Filter) -> int:
    """How many match, up to the cap."""
    capped = _matching(select(DeadLetter.id), tenant_id, wanted).limit(COUNT_CAP).subquery()
    return int(await session.scalar(select(func.count()).select_from(capped)) or 0)


async def move(session: AsyncSession, pipeline: Pipeline, actor: Actor, ids: Sequence[UUID], action: Action) -> Moved:
    """Retry: queue the rows behind these dead letters again, afresh. Drop: Skipped, with who gave them up and why."""
    letters = await session.scalars(
        select(DeadLetter).where(among(DeadLetter.id, ids), DeadLetter.tenant_id == actor.tenant_id)
    )
    by_queue: dict[str, dict[UUID, UUID]] = defaultdict(dict)
    for letter in letters:
        by_queue[letter.queue][letter.row_id] = letter.id
    done: list[UUID] = []
    refused: dict[UUID, str] = {}
    for queue, letter_of in sorted(by_queue.items()):
        workflow = pipeline.by_queue(queue)
        if workflow is None:
            refused |= dict.fromkeys(letter_of.values(), f"no workflow of this line works on {queue}")
            continue
        moved = await _move_rows(session, workflow, actor, letter_of, action)
        done += [letter_of[row_id] for row_id in moved]
    known = {*done, *refused}
    return Moved(done, {**refused, **{letter_id: UNKNOWN for letter_id in ids if letter_id not in known}})


async def move_matching(
    database: Database, pipeline: Pipeline, actor: Actor, wanted: Filter, action: Action, most: int = COUNT_CAP
) -> int:
    """Retry or drop all that match now, up to `most`, in bites of their own transactions; how many were moved.

    Rows that die again meanwhile are not moved twice, and dead letters of a queue that is not in this line stay.
    """
    moved = 0
    async with database.session(actor.tenant_id) as session:
        wanted = replace(wanted, failed_until=wanted.failed_until or await session.scalar(select(func.now())))
    for workflow in pipeline:
        queue = pipeline.queues[workflow.name].name
        bite = BITE
        while wanted.queue in (None, queue) and bite and moved < most:
            async with database.session(actor.tenant_id) as session:
                chosen = _matching(select(DeadLetter.id), actor.tenant_id, replace(wanted, queue=queue))
                ids = list(await session.scalars(chosen.limit(min(BITE, most - moved))))
                bite = len((await move(session, pipeline, actor, ids, action)).done)
            moved += bite
    return moved


async def _move_rows(
    session: AsyncSession, workflow: AnyWorkflow, actor: Actor, letter_of: Mapping[UUID, UUID], action: Action
) -> list[UUID]:
    states = await lock_states(session, workflow, actor.tenant_id, letter_of)
    # A row that left Error while we waited for its lock took its dead letter with it.
    dead = {row_id: state for row_id, state in states.items() if state is Status.ERROR}
    if dead:
        changes = _changes(workflow, actor, action)
        await set_columns(session, workflow, dead, changes)
        after = {"status": str(changes[f"{workflow.queue}_status"])}
        await audit.record(session, actor, action, workflow.name, by_state(dead), after)
    return list(dead)


def _changes(workflow: AnyWorkflow, actor: Actor, action: Action) -> dict[str, Any]:
    status, error = f"{workflow.queue}_status", f"{workflow.queue}_error"
    if action == "retry":
        return {status: Status.QUEUED.value}
    said = func.concat(f"dropped by {actor.name}: ", workflow.model.__table__.c[error])
    return {status: Status.SKIPPED.value, error: func.left(said, MAX_ERROR_LENGTH)}


def _matching(query: Select[Any], tenant_id: UUID, wanted: Filter) -> Select[Any]:
    query = query.where(DeadLetter.tenant_id == tenant_id)
    if wanted.queue is not None:
        query = query.where(DeadLetter.queue == wanted.queue)
    if wanted.error_type is not None:
        query = query.where(DeadLetter.error_type == wanted.error_type)
    if wanted.text is not None:
        query = query.where(func.starts_with(DeadLetter.message, wanted.text))
    if wanted.failed_until is not None:
        query = query.where(DeadLetter.failed_at <= wanted.failed_until)
    return query
