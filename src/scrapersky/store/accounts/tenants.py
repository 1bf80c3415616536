"""SQL about tenants, in sessions of the engine, which can read all of them."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.database import Database
from scrapersky.core.errors import Conflict, UnknownName
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import WaitsFor
from scrapersky.engine.queue import Queue
from scrapersky.models import Tenant
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.money import spending

DEFAULT = "default"  # created by the initial migration
CHUNK_ROWS = 10_000


class UnknownTenant(UnknownName):
    """There is no such tenant."""


class TenantNameTaken(Conflict):
    """Another tenant has this name."""


class LastOperator(Conflict):
    """One active tenant must be the operator of the engine."""


async def id_of(session: AsyncSession, name: str = DEFAULT) -> UUID:
    """Return the id of the tenant of this name, or raise UnknownTenant."""
    return (await by_name(session, name)).id


async def by_name(session: AsyncSession, name: str, lock: bool = False) -> Tenant:
    """Return the tenant of this name, or raise UnknownTenant."""
    return await _get(session, Tenant.name == name, repr(name), lock)


async def by_id(session: AsyncSession, tenant_id: UUID) -> Tenant:
    """Return the tenant of this id, or raise UnknownTenant."""
    return await _get(session, Tenant.id == tenant_id, str(tenant_id))


async def _get(session: AsyncSession, condition: ColumnElement[bool], shown_as: str, lock: bool = False) -> Tenant:
    query = select(Tenant).where(condition)
    found = await session.scalar(query.with_for_update() if lock else query)
    if found is None:
        raise UnknownTenant(f"This database has no tenant {shown_as}.")
    return found


async def page(session: AsyncSession, *, after: str | None = None, limit: int | None = None) -> list[Tenant]:
    """Return tenants by name; `after` is the last name of the page before."""
    query = select(Tenant).order_by(Tenant.name).limit(limit)
    return list(await session.scalars(query.where(Tenant.name > after) if after else query))


async def name_of(session: AsyncSession, tenant_id: UUID) -> str:
    """Return the name of a tenant; also works in a session of that tenant."""
    return await session.scalar(select(Tenant.name).where(Tenant.id == tenant_id)) or ""


async def create(session: AsyncSession, actor: Actor, name: str, values: Mapping[str, Any]) -> Tenant:
    """Create a tenant, or raise TenantNameTaken."""
    statement = insert(Tenant).values(id=new_id(), name=name, **values).on_conflict_do_nothing()
    if await session.scalar(statement.returning(Tenant.id)) is None:
        raise TenantNameTaken(f"The name {name!r} is in use. Choose another name.")
    tenant = await by_name(session, name)
    await audit.record(session, actor, "create", f"tenant {tenant.id}", None, shown(tenant))
    return tenant


async def change(session: AsyncSession, actor: Actor, name: str, changes: Mapping[str, Any]) -> Tenant:
    """Change quotas, disabled state or operator flag, in force from the next request.

    Raise LastOperator if no active operator tenant would remain.
    """
    tenant = await by_name(session, name, lock=True)
    before = shown(tenant)
    for column, value in changes.items():
        setattr(tenant, column, value)
    await session.flush()
    await spending.wake_tenant(session, tenant.id)
    if await session.scalar(select(Tenant.id).where(Tenant.is_operator, Tenant.disabled_at.is_(None)).limit(1)) is None:
        raise LastOperator(f"{name} is the last active operator tenant. Make another tenant the operator first.")
    await audit.record(session, actor, "change", f"tenant {tenant.id}", before, shown(tenant))
    return tenant


async def resume_rows(database: Database, queues: Iterable[Queue], tenant_id: UUID) -> None:
    """Make the rows that waited while the tenant was disabled due, in chunks with their own transactions."""
    for queue in queues:
        resumed = CHUNK_ROWS
        while resumed == CHUNK_ROWS:
            async with database.engine_connection() as connection:
                resumed = await queue.wake(connection, tenant_id, WaitsFor.TENANT, CHUNK_ROWS)


def shown(tenant: Tenant) -> dict[str, Any]:
    """Return what the audit keeps of a tenant."""
    return {
        "name": tenant.name,
        "is_operator": tenant.is_operator,
        "disabled": tenant.disabled_at is not None,
        "searches_per_day": tenant.searches_per_day,
        "pages_per_day": tenant.pages_per_day,
        "cents_per_month": tenant.cents_per_month,
    }
