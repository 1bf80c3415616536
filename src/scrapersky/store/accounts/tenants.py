"""Named queries about tenants, in sessions of the engine, which sees all of them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import Conflict, UnknownName
from scrapersky.core.uuid7 import new_id
from scrapersky.models import Tenant
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.money import spending

DEFAULT = "default"  # made by the first migration


class UnknownTenant(UnknownName):
    """There is no tenant of this name."""


class TenantThere(Conflict):
    """There is a tenant of this name already."""


class LastOperator(Conflict):
    """Somebody must run the engine."""


async def id_of(session: AsyncSession, name: str = DEFAULT) -> UUID:
    """The id of the tenant of this name."""
    return (await by_name(session, name)).id


async def by_name(session: AsyncSession, name: str, lock: bool = False) -> Tenant:
    """The tenant of this name, or UnknownTenant."""
    wanted = select(Tenant).where(Tenant.name == name)
    found = await session.scalar(wanted.with_for_update() if lock else wanted)
    if found is None:
        raise UnknownTenant(f"{name!r} is none of the tenants of this database.")
    return found


async def name_of(session: AsyncSession, tenant_id: UUID) -> str:
    """The name of a tenant, which it may know itself."""
    return await session.scalar(select(Tenant.name).where(Tenant.id == tenant_id)) or ""


async def find_or_create(session: AsyncSession, name: str) -> UUID:
    """The id of the tenant of this name, new or not."""
    await session.execute(insert(Tenant).values(id=new_id(), name=name).on_conflict_do_nothing())
    return await id_of(session, name)


async def create(session: AsyncSession, actor: Actor, name: str, changes: Mapping[str, Any]) -> Tenant:
    """A new tenant, or TenantThere; the actor is one of the house."""
    made = insert(Tenant).values(id=new_id(), name=name, **changes).on_conflict_do_nothing()
    if await session.scalar(made.returning(Tenant.id)) is None:
        raise TenantThere(f"{name!r} is there. Choose another name.")
    tenant = await by_name(session, name)
    await audit.record(session, actor, "create", f"tenant {tenant.id}", None, shown(tenant))
    return tenant


async def change(session: AsyncSession, actor: Actor, name: str, changes: Mapping[str, Any]) -> Tenant:
    """Quotas, in or out, of the house or not; effective at the next request. LastHouse if nobody ran the engine."""
    tenant = await by_name(session, name, lock=True)
    before = shown(tenant)
    for column, value in changes.items():
        setattr(tenant, column, value)
    await session.flush()
    await spending.wake_tenant(session, tenant.id)
    if await session.scalar(select(Tenant.id).where(Tenant.is_operator, Tenant.disabled_at.is_(None)).limit(1)) is None:
        raise LastOperator(f"{name} is the last tenant whose operators run the engine.")
    await audit.record(session, actor, "change", f"tenant {tenant.id}", before, shown(tenant))
    return tenant


async def every(session: AsyncSession) -> list[Tenant]:
    """All tenants by name."""
    return list(await session.scalars(select(Tenant).order_by(Tenant.name)))


def shown(tenant: Tenant) -> dict[str, Any]:
    """What the audit keeps of a tenant."""
    return {
        "name": tenant.name,
        "is_operator": tenant.is_operator,
        "disabled": tenant.disabled_at is not None,
        "searches_per_day": tenant.searches_per_day,
        "pages_per_day": tenant.pages_per_day,
        "cents_per_month": tenant.cents_per_month,
    }
