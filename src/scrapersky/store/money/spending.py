"""SQL about money: the cost of a search, of the month, and the places that wait for a budget."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import Status, WaitsFor
from scrapersky.models import Place
from scrapersky.providers.call_budget import MICROS_PER_CENT
from scrapersky.store.line.places import DETAILS_VALIDITY

Spent = tuple[str, str, int, float]  # provider, method, calls, and cents for people to read


async def search_cost(session: AsyncSession, search_id: UUID) -> dict[str, Any]:
    """Return the cost and the number of calls of a search, the share of details, and the calls without an answer."""
    row = (await session.execute(_COST, {"search": search_id})).one()
    return dict(row._mapping)


async def spent_this_month(session: AsyncSession) -> list[Spent]:
    """Return what all tenants together spent since the first of the month, in a session of the engine."""
    rows = await session.execute(_THIS_MONTH)
    return [(row.provider, row.method, row.calls, row.micros / MICROS_PER_CENT) for row in rows]


async def stale_places(session: AsyncSession, search_id: UUID) -> int:
    """Count the queued places of a search that need a call: their details are missing or too old."""
    return int(await session.scalar(_STALE, {"search": search_id, "validity": DETAILS_VALIDITY}) or 0)


async def wake_search(session: AsyncSession, search_id: UUID) -> None:
    """Make the places of a search that wait for money due, after a change of its budget or fresh details."""
    await _wake(session, Place.search_id == search_id)


async def wake_tenant(session: AsyncSession, tenant_id: UUID) -> None:
    """Make all places of a tenant that wait for money due, after a change of its quota."""
    await _wake(session, Place.tenant_id == tenant_id)


async def _wake(session: AsyncSession, owner: ColumnElement[bool]) -> None:
    """Make waiting places due, and notify the workers once if there are any."""
    place = Place.__table__
    woken = (
        update(Place)
        .where(
            owner,
            Place.deep_scan_status == Status.QUEUED,
            Place.deep_scan_due_at.is_not(None),
            Place.deep_scan_waits_for == WaitsFor.MONEY,
        )
        .values(deep_scan_due_at=func.now(), deep_scan_waits_for=None)
        .returning(place.c.id)
        .cte("woken")
    )
    await session.execute(select(func.pg_notify("scrapersky", "place.deep_scan")).select_from(woken).limit(1))


_COST = text("""
SELECT cost_cents, budget_cents, call_count, details_count, details_cents,
    (SELECT count(*)::integer FROM unanswered_call c WHERE c.search_id = s.id) AS unanswered_calls
FROM search s WHERE id = :search""")

_THIS_MONTH = text("""
SELECT provider, method, sum(calls)::integer AS calls, sum(micros)::bigint AS micros FROM spending
WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
GROUP BY provider, method ORDER BY provider, method""")

_STALE = text("""
SELECT count(*) FROM place p WHERE search_id = :search AND deep_scan_status = 'Queued'
    AND (details IS NULL OR fetched_at IS NULL OR fetched_at < now() - cast(:validity AS interval))""")
