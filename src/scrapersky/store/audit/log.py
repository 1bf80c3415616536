"""Named queries about what the audit has written down: look it up, page by page or whole."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Audit

COLUMNS = ("id", "at", "actor", "actor_id", "origin", "request_id", "action", "subject", "before", "after")
ROWS_AT_ONCE = 500


@dataclass(frozen=True)
class Filter:
    """Which changes are meant; nothing set means all of the tenant's."""

    actor: str | None = None
    action: str | None = None
    subject: str | None = None
    channel: str | None = None  # api, cli or console
    since: datetime | None = None
    until: datetime | None = None


async def page(
    session: AsyncSession,
    tenant_id: UUID,
    wanted: Filter,
    *,
    before: tuple[datetime, int] | None = None,
    limit: int = 50,
) -> list[Audit]:
    """The latest first; `before` is the moment and number of the last one already seen."""
    query = matching(select(Audit), tenant_id, wanted)
    if before is not None:
        query = query.where(tuple_(Audit.at, Audit.id) < before)
    return list(await session.scalars(query.order_by(Audit.at.desc(), Audit.id.desc()).limit(limit)))


async def rows(session: AsyncSession, tenant_id: UUID, wanted: Filter) -> AsyncGenerator[dict[str, Any]]:
    """Every change that matches by a server-side cursor, the oldest first."""
    query = matching(select(*(getattr(Audit, name) for name in COLUMNS)), tenant_id, wanted)
    found = await session.stream(query.order_by(Audit.at, Audit.id).execution_options(yield_per=ROWS_AT_ONCE))
    async for row in found.mappings():
        yield dict(row)


def matching(query: Select[Any], tenant_id: UUID, wanted: Filter) -> Select[Any]:
    """The query with the tenant and what was set."""
    query = query.where(Audit.tenant_id == tenant_id)
    same = {
        Audit.actor: wanted.actor,
        Audit.action: wanted.action,
        Audit.subject: wanted.subject,
        Audit.channel: wanted.channel,
    }
    for column, value in same.items():
        if value is not None:
            query = query.where(column == value)
    if wanted.since is not None:
        query = query.where(Audit.at >= wanted.since)
    if wanted.until is not None:
        query = query.where(Audit.at < wanted.until)
    return query
