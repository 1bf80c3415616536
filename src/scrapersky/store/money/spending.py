"""Named queries about money: what a search has cost, what a month has, and the places that wait for more of it."""

from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.money.detail_budget import WAITS


async def bill(session: AsyncSession, search_id: UUID) -> dict[str, Any]:
    """What a search has cost so far and how many calls were made, and what of it was for details."""
    row = (await session.execute(_BILL, {"search": search_id})).one()
    return dict(row._mapping)


Spent = tuple[str, str, int, int]  # provider, method, calls and cents


async def this_month(session: AsyncSession) -> list[Spent]:
    """Of all tenants together since the first of the month, where the engine asks."""
    rows = await session.execute(_THIS_MONTH)
    return [(row.provider, row.method, row.calls, row.cents) for row in rows]


async def stale_places(session: AsyncSession, search_id: UUID) -> int:
    """How many places of the search wait to be looked into and need a call for it: their details are a day old."""
    return int(await session.scalar(_STALE, {"search": search_id}) or 0)


async def wake_search(session: AsyncSession, search_id: UUID) -> None:
    """The search has another budget, or its places have fresh details: those that waited for money are taken up."""
    await session.execute(_WAKE_SEARCH, {"search": search_id, "waits": f"{WAITS}%"})


async def wake_tenant(session: AsyncSession, tenant_id: UUID) -> None:
    """The tenant has another quota: the same for all its places."""
    await session.execute(_WAKE_TENANT, {"tenant": tenant_id, "waits": f"{WAITS}%"})


_BILL = text("SELECT cost_cents, budget_cents, call_count, details_count, details_cents FROM search WHERE id = :search")

_THIS_MONTH = text("""
SELECT provider, method, sum(calls)::integer AS calls, sum(cents)::integer AS cents FROM spending
WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
GROUP BY provider, method ORDER BY provider, method""")

_STALE = text("""
SELECT count(*) FROM place p WHERE search_id = :search AND deep_scan_status = 'Queued'
    AND (details IS NULL OR fetched_at IS NULL OR fetched_at < now() - interval '1 day')""")

# A row that waits for nothing any more has no due time; whoever works is told once.
_WAKE_SEARCH = text("""
WITH woken AS (
    UPDATE place SET deep_scan_due_at = NULL WHERE search_id = :search AND deep_scan_status = 'Queued'
        AND deep_scan_due_at IS NOT NULL AND deep_scan_error LIKE :waits RETURNING id
)
SELECT pg_notify('scrapersky', 'place.deep_scan') FROM woken LIMIT 1""")
_WAKE_TENANT = text("""
WITH woken AS (
    UPDATE place SET deep_scan_due_at = NULL WHERE tenant_id = :tenant AND deep_scan_status = 'Queued'
        AND deep_scan_due_at IS NOT NULL AND deep_scan_error LIKE :waits RETURNING id
)
SELECT pg_notify('scrapersky', 'place.deep_scan') FROM woken LIMIT 1""")
