"""SQL that reads the audit, page by page or whole."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Audit

COLUMNS = ("id", "at", "actor", "actor_id", "origin", "request_id", "action", "subject", "before", "after")
CHUNK_ROWS = 500


@dataclass(frozen=True)
class AuditSelection:
    """Which entries are selected; without values all of the tenant."""

    actor: str | None = None
    actions: Sequence[str] = ()
    subject: str | None = None
    channel: str | None = None  # api, cli or console
    since: datetime | None = None
    until: datetime | None = None


async def page(
    session: AsyncSession,
    tenant_id: UUID,
    selection: AuditSelection,
    *,
    before: tuple[datetime, int] | None = None,
    limit: int = 50,
) -> list[Audit]:
    """Return a page, newest first; `before` is the time and id of the last entry of the page before."""
    query = matching(select(Audit), tenant_id, selection)
    if before is not None:
        query = query.where(tuple_(Audit.at, Audit.id) < before)
    return list(await session.scalars(query.order_by(Audit.at.desc(), Audit.id.desc()).limit(limit)))


async def rows(session: AsyncSession, tenant_id: UUID, selection: AuditSelection) -> AsyncGenerator[dict[str, Any]]:
    """Yield every selected entry by a server-side cursor, oldest first."""
    query = matching(select(*(getattr(Audit, name) for name in COLUMNS)), tenant_id, selection)
    found = await session.stream(query.order_by(Audit.at, Audit.id).execution_options(yield_per=CHUNK_ROWS))
    async for row in found.mappings():
        yield dict(row)


def matching(query: Select[Any], tenant_id: UUID, selection: AuditSelection) -> Select[Any]:
    """Add the conditions of the tenant and of the selection to a query."""
    query = query.where(Audit.tenant_id == tenant_id)
    same = {
        Audit.actor: selection.actor,
        Audit.subject: selection.subject,
        Audit.channel: selection.channel,
    }
    for column, value in same.items():
        if value is not None:
            query = query.where(column == value)
    if selection.actions:
        query = query.where(Audit.action.in_(selection.actions))
    if selection.since is not None:
        query = query.where(Audit.at >= selection.since)
    if selection.until is not None:
        query = query.where(Audit.at < selection.until)
    return query
