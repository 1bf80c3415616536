"""The searches of a tenant that have work left, or rows that wait for a decision, with their latest progress.

A campaign stands for its searches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.searches import snapshot
from scrapersky.store.searches.progress import seconds_left
from scrapersky.store.searches.snapshot import COST_SECONDS, ProgressSnapshot

LOOKED_AT = 100  # of the tenant's searches, those that changed last
REFRESHED = 1  # searches that one reader counts anew


@dataclass(frozen=True)
class OpenSearch:
    """A search under way. Without a snapshot it was not counted yet."""

    id: UUID
    name: str | None
    provider: str
    text: str
    area: str | None
    created_at: datetime
    is_done: bool  # no work is left; rows may wait for a decision
    share_done: float | None
    listed: Mapping[str, int]
    undecided: Mapping[str, int]
    waiting: Sequence[str]  # the steps in which rows wait
    seconds_left: float | None  # if it goes on as it did so far


async def under_way(session: AsyncSession, tenant_id: UUID, limit: int = 5) -> list[OpenSearch]:
    """Return the searches under way, the latest first; of those whose progress is too old one is counted again."""
    rows = (await session.execute(_UNDER_WAY, {"tenant": tenant_id, "looked_at": LOOKED_AT, "limit": limit})).all()
    due = [row.id for row in rows if row.is_due]
    counted = await snapshot.of_list(session, due[:REFRESHED]) if due else {}
    return [_read(row, counted.get(row.id) or (snapshot.read(row) if row.snapshot else None)) for row in rows]


def _read(row: Any, counted: ProgressSnapshot | None) -> OpenSearch:
    until = [one.until for one in counted.waits] if counted else []
    return OpenSearch(
        row.id,
        row.name,
        row.provider,
        row.text,
        row.area,
        row.created_at,
        counted is not None and counted.is_done,
        counted.share_done if counted else None,
        counted.listed if counted else {},
        counted.undecided if counted else {},
        [step.workflow for step in counted.steps if step.waiting] if counted else [],
        seconds_left(row.created_at, counted.counted_at, counted.share_done, until) if counted else None,
    )


# The searches that changed last are read from an index; a search under way changes often.
_UNDER_WAY = text(f"""
SELECT s.id, s.name, s.provider, s.text, s.area, s.created_at, p.search_id, p.is_done, p.snapshot, p.counted_at,
    p.search_id IS NULL OR extract(epoch FROM clock_timestamp() - p.counted_at)
        > greatest(CASE WHEN p.is_done THEN 5 ELSE 1 END, {COST_SECONDS}) AS is_due
FROM (SELECT * FROM search WHERE tenant_id = :tenant AND campaign_id IS NULL
    ORDER BY updated_at DESC, id DESC LIMIT :looked_at) s
LEFT JOIN search_progress p ON p.search_id = s.id
WHERE s.cancelled_by IS NULL AND (p.search_id IS NULL OR NOT p.is_done OR p.snapshot -> 'undecided' <> '{{}}')
ORDER BY s.updated_at DESC, s.id DESC LIMIT :limit""")  # noqa: S608 - our own constants
