"""The searches of a tenant that have work left, or rows that wait for a decision, with their latest progress.

A campaign stands for its searches.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.searches import snapshot

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
    found: Mapping[str, int]
    undecided: Mapping[str, int]
    seconds_left: float | None  # if it goes on as it did so far


async def under_way(session: AsyncSession, tenant_id: UUID, limit: int = 5) -> list[OpenSearch]:
    """Return the searches under way, the latest first; of those whose progress is too old one is counted again."""
    rows = (await session.execute(_UNDER_WAY, {"tenant": tenant_id, "looked_at": LOOKED_AT, "limit": limit})).all()
    due = [row.id for row in rows if row.is_due]
    if due:
        await snapshot.of_list(session, due[:REFRESHED])
    return [_read(row) for row in rows]


def _read(row: Any) -> OpenSearch:
    counted = row.snapshot or {"steps": [], "found": {}, "undecided": {}}
    steps = counted["steps"]
    left = sum(step["waiting"] + step["working"] for step in steps)
    settled = sum(step["completed"] + step["skipped"] + step["failed"] for step in steps)
    share = (settled / (settled + left) if left else 1.0) if row.snapshot else None
    pace = settled / row.age_seconds if row.age_seconds > 0 else 0
    return OpenSearch(
        row.id,
        row.name,
        row.provider,
        row.text,
        row.area,
        row.created_at,
        bool(row.is_done),
        share,
        counted["found"],
        counted["undecided"],
        left / pace if pace and left else None,
    )


# The searches that changed last are read from an index; a search under way changes often.
_UNDER_WAY = text("""
SELECT s.id, s.name, s.provider, s.text, s.area, s.created_at, p.is_done, p.snapshot,
    extract(epoch FROM now() - s.created_at)::float8 AS age_seconds,
    p.search_id IS NULL OR extract(epoch FROM clock_timestamp() - p.counted_at)
        > greatest(CASE WHEN p.is_done THEN 5 ELSE 1 END, 20 * p.seconds) AS is_due
FROM (SELECT * FROM search WHERE tenant_id = :tenant AND campaign_id IS NULL
    ORDER BY updated_at DESC, id DESC LIMIT :looked_at) s
LEFT JOIN search_progress p ON p.search_id = s.id
WHERE s.cancelled_by IS NULL AND (p.search_id IS NULL OR NOT p.is_done OR p.snapshot -> 'undecided' <> '{}')
ORDER BY s.updated_at DESC, s.id DESC LIMIT :limit""")
