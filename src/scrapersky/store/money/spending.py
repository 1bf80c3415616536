"""SQL about money: the cost of a search, of the month, and the places that wait for a budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Uuid, any_, cast, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import Status, WaitsFor
from scrapersky.providers.call_budget import MICROS_PER_CENT
from scrapersky.store.line.places import DETAILS_VALIDITY
from scrapersky.store.steps import LineStep, step_named

Spent = tuple[str, str, int, float]  # provider, method, calls, and cents for people to read


@dataclass(frozen=True)
class MonthlySpending:
    """The calls to a provider in a month, and their cost."""

    month: date  # its first day
    provider: str
    calls: int
    cents: float


async def search_cost(session: AsyncSession, search_id: UUID) -> dict[str, Any]:
    """Return the cost and the number of calls of a search, the share of details, and the calls without an answer.

    The calls of the searches of a campaign are its own.
    """
    row = (await session.execute(_COST, {"search": search_id})).one()
    return dict(row._mapping)


async def spent_this_month(session: AsyncSession) -> list[Spent]:
    """Return what all tenants together spent since the first of the month, in a session of the engine."""
    rows = await session.execute(_THIS_MONTH)
    return [(row.provider, row.method, row.calls, row.micros / MICROS_PER_CENT) for row in rows]


async def spent_per_month(session: AsyncSession, months: int) -> list[MonthlySpending]:
    """Return what all tenants together spent per month and provider, in a session of the engine, in order of time."""
    rows = await session.execute(_PER_MONTH, {"months": months - 1})
    return [MonthlySpending(row.month, row.provider, row.calls, row.micros / MICROS_PER_CENT) for row in rows]


async def stale_places(session: AsyncSession, search_id: UUID) -> int:
    """Count the queued places of a search that need a call: their details are missing or too old."""
    return int(await session.scalar(_STALE, {"search": search_id, "validity": DETAILS_VALIDITY}) or 0)


async def wake_searches(session: AsyncSession, search_ids: Sequence[UUID]) -> None:
    """Make the rows of searches that wait for money due, after a change of the budget or fresh details."""
    for step in _PAYING:
        await _wake(session, step, step.model.search_id == any_(cast(list(search_ids), ARRAY(Uuid()))))


async def wake_tenant(session: AsyncSession, tenant_id: UUID) -> None:
    """Make all rows of a tenant that wait for money due, after a change of its quota."""
    for step in _PAYING:
        await _wake(session, step, step.model.tenant_id == tenant_id)


async def _wake(session: AsyncSession, step: LineStep, owner: ColumnElement[bool]) -> None:
    """Make waiting rows of a step due, and notify the workers once if there are any."""
    model, queue = step.model, step.queue
    status, due_at, waits_for = (getattr(model, f"{queue}_{part}") for part in ("status", "due_at", "waits_for"))
    woken = (
        update(model)
        .where(owner, status == Status.QUEUED, due_at.is_not(None), waits_for == WaitsFor.MONEY)
        .values({due_at: func.now(), waits_for: None})
        .returning(model.__table__.c.id)
        .cte("woken")
    )
    await session.execute(select(func.pg_notify("scrapersky", f"{step.table}.{queue}")).select_from(woken).limit(1))


_PAYING = (step_named("deep_scan"), step_named("site_search"))  # the steps that call paid services

_COST = text("""
SELECT cost_cents, budget_cents, call_count, details_count, details_cents,
    (SELECT count(*)::integer FROM unanswered_call c WHERE c.search_id IN (
        SELECT s.id UNION ALL SELECT m.search_id FROM campaign_search m WHERE m.campaign_id = s.id)) AS unanswered_calls
FROM search s WHERE id = :search""")

_THIS_MONTH = text("""
SELECT provider, method, sum(calls)::integer AS calls, sum(micros)::bigint AS micros FROM spending
WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
GROUP BY provider, method ORDER BY provider, method""")

_PER_MONTH = text("""
SELECT month, provider, sum(calls)::integer AS calls, sum(micros)::bigint AS micros FROM spending
WHERE month >= (date_trunc('month', now() AT TIME ZONE 'UTC') - :months * interval '1 month')::date
GROUP BY month, provider ORDER BY month, provider""")

_STALE = text("""
SELECT count(*) FROM place p WHERE search_id = :search AND deep_scan_status = 'Queued'
    AND (details IS NULL OR fetched_at IS NULL OR fetched_at < now() - cast(:validity AS interval))""")
