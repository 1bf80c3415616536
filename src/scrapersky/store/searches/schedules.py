"""SQL about schedules: those that are due, the lock of one, and its next time."""

from collections.abc import Collection
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

import asyncpg
from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import UnknownName
from scrapersky.models import Schedule, Search
from scrapersky.store.searches.recurrence import Recurrence

DUE_AT_ONCE = 100  # schedules of one look; the next look finds the others
Outcome = Literal["started", "skipped", "refused"]

_DUE = """
SELECT s.id, s.tenant_id, s.search_id, s.next_run_at FROM schedule s JOIN tenant t ON t.id = s.tenant_id
WHERE s.paused_at IS NULL AND s.next_run_at <= now() AND t.disabled_at IS NULL ORDER BY s.next_run_at, s.id LIMIT $1"""


class UnknownSchedule(UnknownName):
    """There is no such schedule."""


class DueRun(NamedTuple):
    """A run that is due."""

    schedule_id: UUID
    tenant_id: UUID
    search_id: UUID
    due_at: datetime


async def due_runs(connection: asyncpg.Connection) -> list[DueRun]:
    """Return the runs that are due by the clock of the database, the oldest first; not those of disabled tenants."""
    return [DueRun(*row) for row in await connection.fetch(_DUE, DUE_AT_ONCE)]


async def claim(session: AsyncSession, run: DueRun) -> Schedule | None:
    """Lock the schedule of a run; None if another process has it, or if it was started, changed or paused meanwhile."""
    wanted = select(Schedule).where(
        Schedule.id == run.schedule_id, Schedule.next_run_at == run.due_at, Schedule.paused_at.is_(None)
    )
    return await session.scalar(wanted.with_for_update(skip_locked=True))


async def settle(session: AsyncSession, schedule: Schedule, outcome: Outcome, reason: str | None = None) -> None:
    """Store what became of the run that was due, and the time of the next one, by the clock of the database."""
    now = (await session.execute(select(func.now()))).scalar_one()
    schedule.next_run_at = recurrence_of(schedule).next_after(now, schedule.next_run_at)
    schedule.last_run_at, schedule.last_outcome, schedule.last_reason = now, outcome, reason
    schedule.run_count += outcome == "started"
    await session.flush()


async def find(session: AsyncSession, tenant_id: UUID, row_id: UUID, *, lock: bool = False) -> Schedule:
    """Return a schedule by its own id or by that of its search. Raises UnknownSchedule."""
    wanted = select(Schedule).where(
        Schedule.tenant_id == tenant_id, or_(Schedule.id == row_id, Schedule.search_id == row_id)
    )
    found = await session.scalar(wanted.with_for_update() if lock else wanted)
    if found is None:
        raise UnknownSchedule(f"You have no schedule, and no search with a schedule, with the id {row_id}.")
    return found


async def with_searches(session: AsyncSession, tenant_id: UUID, limit: int) -> list[tuple[Schedule, Search]]:
    """Return the schedules of a tenant with their searches, the latest changed first."""
    wanted = (
        select(Schedule, Search)
        .join(Search, Search.id == Schedule.search_id)
        .where(Schedule.tenant_id == tenant_id)
        .order_by(Schedule.updated_at.desc(), Schedule.id.desc())
        .limit(limit)
    )
    return [(row[0], row[1]) for row in await session.execute(wanted)]


async def searches_of(session: AsyncSession, tenant_id: UUID, search_ids: Collection[UUID]) -> dict[UUID, Search]:
    """Return the searches and campaigns of these schedules by their ids."""
    wanted = select(Search).where(Search.tenant_id == tenant_id, Search.id.in_(search_ids))
    return {one.id: one for one in await session.scalars(wanted)}


async def of_search(session: AsyncSession, search_id: UUID, *, lock: bool = False) -> Schedule | None:
    """Return the schedule of a search, if it has one."""
    wanted = select(Schedule).where(Schedule.search_id == search_id)
    return await session.scalar(wanted.with_for_update() if lock else wanted)


def recurrence_of(schedule: Schedule) -> Recurrence:
    """Return the times of a schedule."""
    return Recurrence(schedule.every_seconds, schedule.cron, schedule.time_zone)
