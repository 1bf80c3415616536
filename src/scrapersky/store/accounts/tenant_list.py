"""Named queries about the list of tenants, for those who run the house; the session is one of the engine."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Tenant
from scrapersky.store.accounts.tenants import UnknownTenant


async def page(session: AsyncSession, *, after: str | None = None, limit: int = 50) -> list[Tenant]:
    """By name; `after` is the last one already seen."""
    wanted = select(Tenant).order_by(Tenant.name).limit(limit)
    return list(await session.scalars(wanted.where(Tenant.name > after) if after else wanted))


async def by_id(session: AsyncSession, tenant_id: UUID) -> Tenant:
    """One tenant, or UnknownTenant."""
    found = await session.get(Tenant, tenant_id)
    if found is None:
        raise UnknownTenant(f"{tenant_id} is none of them.")
    return found
