"""What a search waits for: rows that are queued for a later moment, how long, and why."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.searches.searches import PARTS

UNSAID = "it is booked for a later day: a quota of the tenant"  # the calendar of quotas leaves no reason


@dataclass(frozen=True)
class Wait:
    """The rows of one step that pause: how many, until when the first of them, and what was said about that one."""

    workflow: str
    rows: int
    until: datetime
    seconds: float
    reason: str


async def waits(session: AsyncSession, search_id: UUID) -> list[Wait]:
    """Step by step, the soonest first."""
    found = await session.execute(_WAITS, {"search": search_id})
    return [Wait(row.workflow, row.rows, row.until, float(row.seconds), row.reason or UNSAID) for row in found]


def _waits_of(workflow: str, table: str, queue: str, mine: str) -> str:
    due, why = f"t.{queue}_due_at", f"t.{queue}_error"
    return (
        f"SELECT '{workflow}' AS workflow, count(*) AS rows, min({due}) AS until, "  # noqa: S608 - our own names
        f"greatest(0, extract(epoch FROM min({due}) - now())) AS seconds, "
        f"(array_agg({why} ORDER BY {due}))[1] AS reason "
        f"FROM {table} t WHERE {mine} AND t.{queue}_status = 'Queued' AND {due} > now() HAVING count(*) > 0"
    )


_WAITS = text(" UNION ALL ".join(_waits_of(*part) for part in PARTS) + " ORDER BY until")
