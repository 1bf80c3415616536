"""SQL about the runs of searches: begin one explicitly, find those that are open, end one."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import UnknownName
from scrapersky.models import Search, SearchRun

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


async def of_search(session: AsyncSession, search_id: UUID, limit: int = 100) -> list[SearchRun]:
    """Return the runs of a search, the latest first."""
    wanted = select(SearchRun).where(SearchRun.search_id == search_id).order_by(SearchRun.number.desc())
    return list(await session.scalars(wanted.limit(limit)))


async def lock_open(session: AsyncSession, run_id: UUID) -> SearchRun | None:
    """Lock an open run; None if it has ended, or if another process ends it now."""
    wanted = select(SearchRun).where(SearchRun.id == run_id, SearchRun.ended_at.is_(None))
    return await session.scalar(wanted.with_for_update(skip_locked=True))


async def end(session: AsyncSession, run: SearchRun, is_whole: bool, counts: Mapping[str, Any] | None) -> None:
    """End a run of which no work is left."""
    run.ended_at = (await session.execute(select(func.now()))).scalar_one()
    run.is_complete, run.is_whole, run.counts = True, is_whole, dict(counts) if counts is not None else None
    await session.flush()


async def is_whole(session: AsyncSession, search_id: UUID) -> bool:
    """Return whether the search, and each search of a campaign, found all that its provider has."""
    return bool(await session.scalar(_IS_WHOLE, {"search": search_id}))


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
_IS_WHOLE = text("""
SELECT coalesce(bool_and(s.place_search_status = 'Completed' AND NOT s.is_partial), false) FROM search s
WHERE s.provider <> 'campaign' AND s.id IN (
    SELECT search_id FROM campaign_search WHERE campaign_id = :search UNION ALL SELECT cast(:search AS uuid))""")
