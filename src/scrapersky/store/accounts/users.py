"""SQL about the users of a tenant."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import Conflict, UnknownName
from scrapersky.core.roles import Role
from scrapersky.core.uuid7 import new_id
from scrapersky.models import LoginSession, Tenant, User
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor


class UnknownUser(UnknownName):
    """There is no such user."""


class UserNameTaken(Conflict):
    """Another user of the tenant has this name."""


class LastAdmin(Conflict):
    """A tenant needs an active admin."""


async def create(session: AsyncSession, actor: Actor, name: str, role: Role, password_hash: str | None = None) -> User:
    """Create a user of the actor's tenant, or raise UserNameTaken."""
    values = {"id": new_id(), "tenant_id": actor.tenant_id, "name": name, "role": role.value}
    if password_hash:
        values |= {"password_hash": password_hash, "password_changed_at": func.now()}
    user_id = await session.scalar(insert(User).values(values).on_conflict_do_nothing().returning(User.id))
    if user_id is None:
        raise UserNameTaken(f"The name {name!r} is in use. Choose another name.")
    user = await get(session, actor.tenant_id, user_id)
    await audit.record(session, actor, "create", f"user {user_id}", None, shown(user))
    return user


async def get(session: AsyncSession, tenant_id: UUID, user_id: UUID, lock: bool = False) -> User:
    """Return a user of the tenant, or raise UnknownUser."""
    query = select(User).where(User.id == user_id, User.tenant_id == tenant_id)
    found = await session.scalar(query.with_for_update() if lock else query)
    if found is None:
        raise UnknownUser(f"The tenant has no user with the id {user_id}.")
    return found


async def by_name(session: AsyncSession, tenant_id: UUID, name: str) -> User:
    """Return the user of this name, or raise UnknownUser."""
    found = await session.scalar(select(User).where(User.name == name, User.tenant_id == tenant_id))
    if found is None:
        raise UnknownUser(f"The tenant has no user named {name!r}.")
    return found


async def name_of(session: AsyncSession, user_id: UUID) -> str | None:
    """Return the name of a user; None if there is no such user any more."""
    return await session.scalar(select(User.name).where(User.id == user_id))


async def of_tenant(session: AsyncSession, tenant_id: UUID, after: str | None, limit: int) -> list[User]:
    """Return the users of a tenant by name, disabled ones included."""
    query = select(User).where(User.tenant_id == tenant_id).order_by(User.name).limit(limit)
    return list(await session.scalars(query.where(User.name > after) if after is not None else query))


async def system_user_id(session: AsyncSession, configured: UUID | None) -> UUID | None:
    """Return the user that workflows act as: the configured one if active and of an operator, or the built-in."""
    query = select(User.id).where(User.is_system).order_by(User.created_at).limit(1)
    if configured is not None:
        query = select(User.id).join(Tenant, Tenant.id == User.tenant_id)
        query = query.where(User.id == configured, User.disabled_at.is_(None))
        query = query.where(Tenant.disabled_at.is_(None), Tenant.is_operator)
    found: UUID | None = await session.scalar(query)
    return found


async def change(session: AsyncSession, actor: Actor, user_id: UUID, role: Role | None, disabled: bool | None) -> User:
    """Change the role or the disabled state. Raise LastAdmin if no active admin would remain."""
    await _lock_admins(session, actor.tenant_id)
    user = await get(session, actor.tenant_id, user_id, lock=True)
    before = shown(user)
    if role is not None:
        user.role = role.value
    if disabled is not None and disabled != (user.disabled_at is not None):
        user.disabled_at = await session.scalar(select(func.now())) if disabled else None
    await session.flush()
    if before["role"] == Role.ADMIN and not await _has_admin(session, actor.tenant_id):
        raise LastAdmin(f"{user.name} is the last admin. Make another user admin first.")
    if user.disabled_at is not None:
        await end_sessions(session, user_id)
    await audit.record(session, actor, "change", f"user {user_id}", before, shown(user))
    return user


async def set_password(
    session: AsyncSession, actor: Actor, user_id: UUID, password_hash: str, keep_session: UUID | None = None
) -> None:
    """Set a new password; end every session but `keep_session`."""
    user = await get(session, actor.tenant_id, user_id, lock=True)
    user.password_hash, user.password_changed_at = password_hash, await session.scalar(select(func.now()))
    await end_sessions(session, user_id, keep_session)
    await audit.record(session, actor, "change password", f"user {user_id}")


async def set_preferences(session: AsyncSession, tenant_id: UUID, user_id: UUID, chosen: Mapping[str, Any]) -> User:
    """Keep the choices of a user; others stay as they are. Raise UnknownUser."""
    user = await get(session, tenant_id, user_id, lock=True)
    user.preferences = {**user.preferences, **chosen}
    return user


async def replace_hash(session: AsyncSession, user_id: UUID, former: str, renewed: str) -> None:
    """Store the same password, hashed with the present parameters."""
    await session.execute(
        update(User).where(User.id == user_id, User.password_hash == former).values(password_hash=renewed)
    )


async def end_sessions(session: AsyncSession, user_id: UUID, keep: UUID | None = None) -> int:
    """End every session of a user but `keep`; return how many."""
    ended = update(LoginSession).where(LoginSession.user_id == user_id, LoginSession.revoked_at.is_(None))
    if keep is not None:
        ended = ended.where(LoginSession.id != keep)
    found = await session.scalars(ended.values(revoked_at=func.now()).returning(LoginSession.id))
    return len(list(found))


async def log_out(session: AsyncSession, actor: Actor, user_id: UUID) -> int:
    """End every session of a user of the tenant but the actor's own; return how many. Raise UnknownUser."""
    await get(session, actor.tenant_id, user_id, lock=True)
    ended = await end_sessions(session, user_id, actor.session_id)
    await audit.record(session, actor, "end sessions", f"user {user_id}", None, {"ended": ended})
    return ended


def shown(user: User) -> Mapping[str, Any]:
    """Return what the audit keeps of a user."""
    return {"name": user.name, "role": user.role, "disabled": user.disabled_at is not None}


async def _lock_admins(session: AsyncSession, tenant_id: UUID) -> None:
    """Lock the admins, so that two admins cannot demote each other at the same time."""
    admins = select(User.id).where(User.tenant_id == tenant_id, User.role == Role.ADMIN.value)
    await session.execute(admins.order_by(User.id).with_for_update())


async def _has_admin(session: AsyncSession, tenant_id: UUID) -> bool:
    admins = select(User.id).where(
        User.tenant_id == tenant_id, User.role == Role.ADMIN.value, User.disabled_at.is_(None)
    )
    return await session.scalar(admins.limit(1)) is not None
