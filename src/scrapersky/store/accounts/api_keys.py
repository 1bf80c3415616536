"""SQL about API keys: a key is shown once and stored as a hash."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import Conflict, UnknownName
from scrapersky.core.roles import Role, scopes_of
from scrapersky.core.secrets import tokens
from scrapersky.core.uuid7 import new_id
from scrapersky.models import ApiKey, User
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor

MAX_KEYS = 50  # active keys of one user
_ACTIVE = (ApiKey.revoked_at.is_(None), ~func.coalesce(ApiKey.expires_at <= func.now(), False))


class UnknownKey(UnknownName):
    """There is no such API key."""


class TooManyKeys(Conflict):
    """The user has the maximum number of API keys."""


class ScopesNotAllowed(Conflict):
    """An API key cannot have more scopes than the role of its user."""


async def create(
    session: AsyncSession,
    actor: Actor,
    user: User,
    name: str,
    scopes: Sequence[str] | None,
    expires_at: datetime | None,
) -> tuple[ApiKey, str]:
    """Create a key; return it and its text, which is not stored. Without scopes it has all of the user's role."""
    allowed = scopes_of(Role(user.role))
    chosen = allowed if scopes is None else list(dict.fromkeys(scopes))
    if excess := [scope for scope in chosen if scope not in allowed]:
        raise ScopesNotAllowed(f"{user.name} has the role {user.role}, which does not include {', '.join(excess)}.")
    active = await session.scalar(select(func.count()).where(ApiKey.user_id == user.id, *_ACTIVE))
    if (active or 0) >= MAX_KEYS:
        raise TooManyKeys(f"{user.name} has {MAX_KEYS} active keys. Revoke one first.")
    generated = tokens.new_key()
    key = ApiKey(
        id=new_id(),
        tenant_id=actor.tenant_id,
        user_id=user.id,
        name=name,
        prefix=generated.prefix,
        secret_hash=generated.secret_hash,
        scopes=chosen,
        expires_at=expires_at,
    )
    session.add(key)
    await session.flush()
    await session.refresh(key)
    await audit.record(session, actor, "create", f"api key {key.id}", None, shown(key))
    return key, generated.shown


async def of_tenant(
    session: AsyncSession, tenant_id: UUID, user_id: UUID | None, after: UUID | None, limit: int
) -> list[ApiKey]:
    """Return keys by age: of one user, or of all."""
    query = select(ApiKey).where(ApiKey.tenant_id == tenant_id).order_by(ApiKey.id).limit(limit)
    if user_id is not None:
        query = query.where(ApiKey.user_id == user_id)
    return list(await session.scalars(query.where(ApiKey.id > after) if after else query))


async def revoke(session: AsyncSession, actor: Actor, key_id: UUID, user_id: UUID | None) -> ApiKey:
    """Revoke a key of one user, or of any user of the tenant; a revoked key stays revoked. Raise UnknownKey."""
    query = select(ApiKey).where(ApiKey.id == key_id, ApiKey.tenant_id == actor.tenant_id).with_for_update()
    key = await session.scalar(query if user_id is None else query.where(ApiKey.user_id == user_id))
    if key is None:
        raise UnknownKey(f"There is no API key with the id {key_id}.")
    if key.revoked_at is None:
        key.revoked_at = await session.scalar(select(func.now()))
        await audit.record(session, actor, "revoke", f"api key {key.id}", shown(key))
    return key


async def count_by_user(session: AsyncSession, tenant_id: UUID) -> dict[UUID, int]:
    """Count the active keys of each user of a tenant."""
    counted = select(ApiKey.user_id, func.count()).where(ApiKey.tenant_id == tenant_id, *_ACTIVE)
    found = await session.execute(counted.group_by(ApiKey.user_id))
    return {row.user_id: row[1] for row in found}


def shown(key: ApiKey) -> Mapping[str, Any]:
    """Return what the audit keeps of a key: never its secret, not even hashed."""
    return {
        "name": key.name,
        "prefix": key.prefix,
        "user_id": str(key.user_id),
        "scopes": list(key.scopes),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
    }
