"""SQL about web hosts and providers in a cooldown. The tables belong to no tenant: the session is one of the engine."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import HostLimit, ProviderCooldown


@dataclass(frozen=True)
class HostAtRest:
    """A web host that no worker visits before a time."""

    host: str
    until: datetime


async def hosts_at_rest(
    session: AsyncSession, limit: int, after: tuple[datetime, str] | None = None
) -> list[HostAtRest]:
    """Return the hosts whose pause has not ended, the longest first; `after` is the last one of the page before."""
    return [HostAtRest(*row) for row in await session.execute(hosts_query(after).limit(limit))]


def hosts_query(after: tuple[datetime, str] | None) -> Select[Any]:
    """Build the query of the hosts."""
    until, host = HostLimit.next_allowed_at, HostLimit.host
    query: Any = select(host, until).where(until > func.now()).order_by(until.desc(), host)
    if after is not None:
        query = query.where((until < after[0]) | ((until == after[0]) & (host > after[1])))
    return query  # type: ignore[no-any-return]


async def cooldowns(session: AsyncSession) -> list[ProviderCooldown]:
    """Return the cooldowns of providers that have not ended, by name."""
    query = select(ProviderCooldown).where(ProviderCooldown.until > func.now()).order_by(ProviderCooldown.name)
    return list(await session.scalars(query))
