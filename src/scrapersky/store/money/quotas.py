"""SQL about quotas: limits, usage, and whether one more search fits.

Triggers schedule every queued search or page for the first day below the quota, and reschedule after a change of the
quota. These statements can run in a session of the tenant.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock
from scrapersky.core.errors import RateLimited

LIMITS = {"searches": "searches_per_day", "pages": "pages_per_day", "cents": "cents_per_month"}


@dataclass(frozen=True)
class Usage:
    """One quota of a tenant and its usage."""

    kind: str
    limit: int | None  # None: unlimited
    used: int  # today; money: this month
    ahead: int  # scheduled for later days; money: reserved by open searches
    free_at: datetime | None  # when the quota is free again; None: now

    @property
    def name(self) -> str:
        """The name of the limit."""
        return LIMITS[self.kind]


class QuotaReached(RateLimited):
    """A quota of your tenant is used up."""

    def __init__(self, usage: Usage, detail: str) -> None:
        free_at = usage.free_at or next_month(clock.now().date())
        cure = f"Try again at {free_at:%Y-%m-%d %H:%M} UTC, or ask" if usage.limit else "Ask"
        message = f"{detail} {cure} an admin of the operator tenant to raise the quota."
        super().__init__(message, (free_at - clock.now()).total_seconds())
        self.members: Mapping[str, Any] = {
            "quota": usage.name,
            "limit": usage.limit,
            "used": usage.used,
            "free_at": free_at.isoformat(),
        }


async def usage(session: AsyncSession, tenant_id: UUID) -> list[Usage]:
    """Return the usage of each quota of the tenant."""
    row = (await session.execute(_USAGE, {"tenant": tenant_id})).one()
    days = [_of_days(kind, row) for kind in ("searches", "pages")]
    return [*days, _of_money(row)]


async def admit(session: AsyncSession, tenant_id: UUID, estimate_cents: int | None) -> bool:
    """Raise QuotaReached if one more search does not fit; return whether the tenant's money is limited.

    Holds the tenant's book until the end of the transaction: of two searches at the edge of a quota one gets in.
    """
    limits = (await session.execute(_LIMITS, {"tenant": tenant_id})).one()
    if limits.searches_per_day is None and limits.cents_per_month is None:
        return False
    await session.execute(_HOLD, {"tenant": str(tenant_id)})
    searches, _, cents = await usage(session, tenant_id)
    if searches.limit is not None and searches.free_at is not None:
        raise QuotaReached(searches, f"Of {searches.limit} searches a day {searches.used} are used.")
    if cents.limit is None:
        return False
    if cents.used + cents.ahead + (estimate_cents or 0) > cents.limit:
        raise QuotaReached(cents, _too_dear(cents, estimate_cents or 0))
    return True


def _too_dear(cents: Usage, estimate: int) -> str:
    spent = f"Of {(cents.limit or 0) / 100:.2f} a month {cents.used / 100:.2f} are spent"
    reserved = f" and {cents.ahead / 100:.2f} are reserved by open searches" if cents.ahead else ""
    return f"{spent}{reserved}; this search may cost {estimate / 100:.2f}."


def _of_days(kind: str, row: Row[Any]) -> Usage:
    limit, used, ahead = row._mapping[LIMITS[kind]], row._mapping[f"{kind}_used"], row._mapping[f"{kind}_ahead"]
    free = _free_day(row.today, limit, row._mapping[f"{kind}_day"], row._mapping[f"{kind}_last"])
    return Usage(kind, limit, used, ahead, _midnight(free) if free > row.today else None)


def _free_day(today: date, limit: int | None, last_day: date | None, last_used: int | None) -> date:
    """Return the first day below the quota: the last scheduled day, or the day after it."""
    if limit is None:
        return today
    day, used = (last_day, last_used or 0) if last_day else (today, 0)
    return day + timedelta(days=1) if used >= limit else day


def _of_money(row: Row[Any]) -> Usage:
    is_full = row.cents_per_month is not None and row.cents_used + row.cents_ahead >= row.cents_per_month
    free_at = next_month(row.today) if is_full else None
    return Usage("cents", row.cents_per_month, row.cents_used, row.cents_ahead, free_at)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def next_month(today: date) -> datetime:
    """Return the begin of the next month."""
    return _midnight((today.replace(day=1) + timedelta(days=32)).replace(day=1))


_LIMITS = text("SELECT searches_per_day, cents_per_month FROM tenant WHERE id = :tenant")
# In the order in which the triggers of a search take them.
_HOLD = text("""
SELECT pg_advisory_xact_lock(hashtextextended('cents of ' || :tenant, 0)),
    pg_advisory_xact_lock(hashtextextended('searches of ' || :tenant, 0))""")
_USAGE = text("""
WITH book AS (
    SELECT kind, day, used, day > (now() AT TIME ZONE 'UTC')::date AS is_ahead FROM quota_usage
    WHERE tenant_id = :tenant AND kind <> 'cents' AND day >= (now() AT TIME ZONE 'UTC')::date
), stood AS (
    SELECT kind, coalesce(sum(used) FILTER (WHERE NOT is_ahead), 0)::integer AS used,
        coalesce(sum(used) FILTER (WHERE is_ahead), 0)::integer AS ahead,
        max(day) AS day, (array_agg(used ORDER BY day DESC))[1] AS last FROM book GROUP BY kind
)
SELECT (now() AT TIME ZONE 'UTC')::date AS today,
    CASE WHEN t.disabled_at IS NULL THEN t.searches_per_day ELSE 0 END AS searches_per_day,
    CASE WHEN t.disabled_at IS NULL THEN t.pages_per_day ELSE 0 END AS pages_per_day, t.cents_per_month,
    coalesce(s.used, 0) AS searches_used, coalesce(s.ahead, 0) AS searches_ahead,
    s.day AS searches_day, s.last AS searches_last,
    coalesce(p.used, 0) AS pages_used, coalesce(p.ahead, 0) AS pages_ahead, p.day AS pages_day, p.last AS pages_last,
    spent_cents(t.id)::integer AS cents_used, reserved_cents(t.id, NULL)::integer AS cents_ahead
FROM tenant t LEFT JOIN stood s ON s.kind = 'searches' LEFT JOIN stood p ON p.kind = 'pages'
WHERE t.id = :tenant""")
