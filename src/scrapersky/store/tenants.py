"""Named queries about tenants."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import UnknownName
from scrapersky.models import Tenant

DEFAULT = "default"  # made by the first migration


class UnknownTenant(UnknownName):
    """There is no tenant of this name."""


async def id_of(session: AsyncSession, name: str = DEFAULT) -> UUID:
    """The id of the tenant of this name, asked in a session of the engine, which sees all of them."""
    found = await session.scalar(select(Tenant.id).where(Tenant.name == name))
    if found is None:
        raise UnknownTenant(f"{name!r} is none of the tenants of this database.")
    return found
