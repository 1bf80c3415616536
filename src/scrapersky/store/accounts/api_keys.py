"""Named queries about keys for programs: shown once, kept as a hash."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import tokens
from scrapersky.core.errors import Conflict, UnknownName
from scrapersky.core.roles import Role, scopes_of
from scrapersky.core.uuid7 import new_id
from scrapersky.models import ApiKey, User
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor

MOST = 50  # keys in force of one user
_IN_FORCE = (ApiKey.revoked_at.is_(None), ~func.coalesce(ApiKey.expires_at <= func.now(), False))


class UnknownKey(UnknownName):
    """There is no such key."""


class TooManyKeys(Conflict):
    """There are enough keys."""


class TooWide(Conflict):
    """A key cannot have more than its user."""


async def create(
    session: AsyncSession,
    actor: Actor,
    user: User,
    name: str,
    scopes: Sequence[str] | None,
    expires_at: datetime | None,
) -> tuple[ApiKey, str]:
    """A key for a user, and its text, which is shown this once; no scopes means all that the user's role has."""
    allowed = scopes_of(Role(user.role))
    wanted = allowed if scopes is None else list(dict.fromkeys(scopes))
    if excess := [scope for scope in wanted if scope not in allowed]:
        raise TooWide(f"{user.name} is {user.role}, which does not cover {', '.join(excess)}.")
    in_force = await session.scalar(select(func.count()).where(ApiKey.user_id == user.id, *_IN_FORCE))
    if (in_force or 0) >= MOST:
        raise TooManyKeys(f"{user.name} has {MOST} in force. Revoke one first.")
    made = tokens.new_key()
    key = ApiKey(
        id=new_id(),
        tenant_id=actor.tenant_id,
        user_id=user.id,
        name=name,
        prefix=made.prefix,
        secret_hash=made.secret_hash,
        scopes=wanted,
        expires_at=expires_at,
    )
    session.add(key)
    await session.flush()
    await session.refresh(key)
    await audit.record(session, actor, "create", f"api key {key.id}", None, shown(key))
    return key, made.shown


async def of_tenant(
    session: AsyncSession, tenant_id: UUID, user_id: UUID | None, after: UUID | None, limit: int
) -> list[ApiKey]:
    """Keys in the order they were made: of one user, or of all."""
    wanted = select(ApiKey).where(ApiKey.tenant_id == tenant_id).order_by(ApiKey.id).limit(limit)
    if user_id is not None:
        wanted = wanted.where(ApiKey.user_id == user_id)
    return list(await session.scalars(wanted.where(ApiKey.id > after) if after else wanted))


async def revoke(session: AsyncSession, actor: Actor, key_id: UUID, user_id: UUID | None) -> ApiKey:
    """Let a key open nothing any more, at once; of one user, or of anybody in the tenant. Twice is like once."""
    wanted = select(ApiKey).where(ApiKey.id == key_id, ApiKey.tenant_id == actor.tenant_id).with_for_update()
    key = await session.scalar(wanted if user_id is None else wanted.where(ApiKey.user_id == user_id))
    if key is None:
        raise UnknownKey("This id is none of a key of yours.")
    if key.revoked_at is None:
        key.revoked_at = await session.scalar(select(func.now()))
        await audit.record(session, actor, "revoke", f"api key {key.id}", shown(key))
    return key


async def count_by_user(session: AsyncSession, tenant_id: UUID) -> dict[UUID, int]:
    """How many keys in force each user of a tenant has."""
    counted = select(ApiKey.user_id, func.count()).where(ApiKey.tenant_id == tenant_id, *_IN_FORCE)
    found = await session.execute(counted.group_by(ApiKey.user_id))
    return {row.user_id: row[1] for row in found}


def shown(key: ApiKey) -> Mapping[str, Any]:
    """What the audit keeps of a key: never its secret, not even hashed."""
    return {
        "name": key.name,
        "prefix": key.prefix,
        "user_id": str(key.user_id),
        "scopes": list(key.scopes),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
    }
