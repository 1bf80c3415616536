"""Undo a curation: restore the rows about which nobody has decided since, within a day."""

from dataclasses import astuple, dataclass
from operator import add
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import Conflict
from scrapersky.models import CurationAction, Job
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing.resources import CONTACTS, DELIVERIES, RESOURCES
from scrapersky.store.operations import curation_changes

MAX_ROWS = 10_000  # restored in one request; more are restored by a job
OPEN = ("pending", "processing")


class StillRunning(Conflict):
    """The action is still running."""


@dataclass(frozen=True)
class UndoCounts:
    """Counts of rows that an action had changed."""

    found: int = 0  # rows that were compared with what the action left
    restored: int = 0
    processed: int = 0  # of the restored rows those whose step ran since: its result stays
    delivered: int = 0  # deliveries that were made or tried since: they stay

    def __add__(self, other: "UndoCounts") -> "UndoCounts":
        return UndoCounts(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True)
class UndoChunk:
    """Rows that were restored together."""

    counts: UndoCounts
    last_id: UUID | None
    is_last: bool


async def claim(session: AsyncSession, actor: Actor, action_id: UUID) -> CurationAction:
    """Mark the action as undone and return it. Raises UnknownRow, AlreadyUndone or StillRunning."""
    action = await curation_changes.lock(session, actor.tenant_id, action_id)
    if await session.scalar(select(Job.id).where(Job.id == action_id, Job.state.in_(OPEN))):
        raise StillRunning("The job still changes rows: cancel it first, then undo it.")
    await curation_changes.mark_undone(session, actor, action_id)
    return action


async def undo(session: AsyncSession, actor: Actor, action: CurationAction) -> UndoCounts:
    """Restore the rows of a claimed action, and record it in the audit."""
    counts = (await restore_chunk(session, action.id, action.resource, None, MAX_ROWS)).counts
    before = {"action_id": str(action.id), "curation_status": action.curation_status, "rows": action.row_count}
    after = {
        "restored": counts.restored,
        "not_restored": max(action.row_count - counts.restored, 0),
        "processed": counts.processed,
        "delivered": counts.delivered,
    }
    await audit.record(session, actor, "undo", action.resource, before, after)
    return counts


async def restore_chunk(
    session: AsyncSession, action_id: UUID, resource: str, after: UUID | None, size: int
) -> UndoChunk:
    """Restore the next rows of the action, and at the end the deliveries of its contacts."""
    rows = await curation_changes.restore(session, RESOURCES[resource], action_id, after, size)
    is_last, delivered = rows.found < size, 0
    if is_last and resource == CONTACTS.name:
        last_id: UUID | None = None
        while (found := await curation_changes.restore(session, DELIVERIES, action_id, last_id, size)).found:
            last_id, delivered = found.last_id, delivered + found.processed
    return UndoChunk(UndoCounts(rows.found, rows.restored, rows.processed, delivered), rows.last_id, is_last)
