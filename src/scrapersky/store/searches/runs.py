"""SQL about the runs of searches: begin one explicitly, find those that are open, end those that are complete."""

from collections.abc import Sequence
from typing import Literal, NamedTuple
from uuid import UUID

import asyncpg
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import UnknownName
from scrapersky.models import Search, SearchRun
from scrapersky.store.searches import changes, snapshot

RunState = Literal["under way", "complete", "complete, not all places", "ended by the next"]
LOOKED_AT = 500  # open runs of one look, in any order, so that none waits for others


class UnknownSearchRun(UnknownName):
    """There is no such run."""


class OpenRun(NamedTuple):
    """A run that has not ended."""

    run_id: UUID
    tenant_id: UUID
    search_id: UUID


async def begin(session: AsyncSession, search: Search) -> None:
    """Begin a run that no change of a queue begins: of a campaign that is made again, or of a list of web sites."""
    await session.flush()
    await session.execute(select(func.begin_search_run(search.tenant_id, search.id, True)))


async def open_runs(connection: asyncpg.Connection) -> list[OpenRun]:
    """Return runs that have not ended."""
    return [OpenRun(*row) for row in await connection.fetch(_OPEN, LOOKED_AT)]


async def open_of(session: AsyncSession, search_id: UUID) -> list[OpenRun]:
    """Return the open run of a search or campaign, and those of the searches of a campaign."""
    return [OpenRun(*row) for row in await session.execute(_OPEN_OF, {"search": search_id})]


async def notify(session: AsyncSession, search_id: UUID, destination_id: UUID) -> bool:
    """Let the open run of a search notify a destination of its end, besides those whose rule says so."""
    done = await session.execute(_NOTIFY, {"search": search_id, "destination": destination_id})
    return done.first() is not None


async def of_search(session: AsyncSession, search_id: UUID, limit: int = 100) -> list[SearchRun]:
    """Return the runs of a search, the latest first."""
    wanted = select(SearchRun).where(SearchRun.search_id == search_id).order_by(SearchRun.number.desc())
    return list(await session.scalars(wanted.limit(limit)))


async def note_searched(session: AsyncSession, search_id: UUID) -> None:
    """Note in the open run of a search that its provider showed all places, and in those of its campaigns.

    The row of the search is not Completed yet: a campaign's other searches have to be.
    """
    await session.flush()
    await session.execute(_NOTE_SEARCHED, {"search": search_id})


async def complete(session: AsyncSession, run: OpenRun) -> SearchRun | None:
    """End a run if no work of its search is left; None if some is, or if another process ends the run now."""
    wanted = select(SearchRun).where(SearchRun.id == run.run_id, SearchRun.ended_at.is_(None))
    locked = await session.scalar(wanted.with_for_update(skip_locked=True))
    if locked is None:
        return None
    counted = await snapshot.current(session, await session.get_one(Search, run.search_id))
    if not counted.is_done or counted.counted_at < locked.began_at:
        return None
    locked.is_whole = bool(await session.scalar(_IS_WHOLE, {"search": run.search_id}))
    failed = sum(step.failed for step in counted.steps)
    locked.found = {**counted.found, "failed": failed}
    locked.is_complete, locked.ended_at = True, (await session.execute(select(func.now()))).scalar_one()
    known = await of_search(session, run.search_id, limit=10_000)
    former = next((one for one in known if one.number < locked.number), None)
    if former is not None:
        locked.counts = (await changes.between(session, run.search_id, former, locked, known)).counts
    await session.flush()
    return locked


def state_of(run: SearchRun) -> RunState:
    """Return the state of a run in words."""
    if run.ended_at is None:
        return "under way"
    if not run.is_complete:
        return "ended by the next"
    return "complete" if run.is_whole else "complete, not all places"


async def pair(
    session: AsyncSession, search_id: UUID, former: int | None = None, latter: int | None = None
) -> tuple[SearchRun, SearchRun, Sequence[SearchRun]]:
    """Return two runs by their numbers, else the last two, and all runs. Raises UnknownSearchRun."""
    known = await of_search(session, search_id, limit=10_000)
    by_number = {run.number: run for run in known}
    if len(known) < 2:
        raise UnknownSearchRun(
            f"The search has {len(known)} run{'s' * (len(known) != 1)}: two are needed to compare them."
        )
    second = known[0].number if latter is None else latter
    first = max((number for number in by_number if number < second), default=0) if former is None else former
    for number in (first, second):
        if number not in by_number:
            raise UnknownSearchRun(
                f"The search has no run {number}; its runs are {known[-1].number} to {known[0].number}."
            )
    if first >= second:
        raise UnknownSearchRun(f"Run {first} is not before run {second}.")
    return by_number[first], by_number[second], known


_OPEN = """
SELECT r.id, r.tenant_id, r.search_id FROM search_run r JOIN tenant t ON t.id = r.tenant_id
WHERE r.ended_at IS NULL AND t.disabled_at IS NULL ORDER BY random() LIMIT $1"""
_NOTIFY = text("""
UPDATE search_run SET notified = notified || cast(:destination AS uuid)
WHERE search_id = :search AND ended_at IS NULL RETURNING id""")
_OPEN_OF = text("""
SELECT id, tenant_id, search_id FROM search_run WHERE ended_at IS NULL AND (search_id = :search
    OR search_id IN (SELECT search_id FROM campaign_search WHERE campaign_id = :search))
ORDER BY search_id <> :search""")
_NOTE_SEARCHED = text("""
UPDATE search_run r SET is_whole = true
WHERE r.ended_at IS NULL AND NOT r.is_whole
    AND (r.search_id = :search OR r.search_id IN (SELECT campaign_id FROM campaign_search WHERE search_id = :search))
    AND NOT EXISTS (SELECT FROM search s WHERE (s.id = r.search_id AND s.id = :search
        OR s.id IN (SELECT search_id FROM campaign_search WHERE campaign_id = r.search_id))
        AND (s.is_partial OR (s.place_search_status <> 'Completed' AND s.id <> :search)))""")
_IS_WHOLE = text("""
SELECT coalesce(bool_and(s.place_search_status = 'Completed' AND NOT s.is_partial), false) FROM search s
WHERE s.provider <> 'campaign' AND s.id IN (
    SELECT search_id FROM campaign_search WHERE campaign_id = :search UNION ALL SELECT cast(:search AS uuid))""")
