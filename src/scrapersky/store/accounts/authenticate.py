"""Named queries about who knocks: one statement for a key or a login, with its user and its tenant as they are now.

Asked on a connection of the engine, because the tenant is not known before.
"""

from dataclasses import dataclass
from uuid import UUID

import asyncpg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

# Whoever was disabled, revoked or has run out is not found: it is effective at the next request.
_WHO = """
    u.id AS user_id, u.name, u.role, t.id AS tenant_id, t.name AS tenant, t.is_operator
FROM {table} k JOIN "user" u ON u.id = k.user_id AND u.tenant_id = k.tenant_id JOIN tenant t ON t.id = k.tenant_id
WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    AND u.disabled_at IS NULL AND t.disabled_at IS NULL AND NOT u.is_system"""
_UNSEEN = "coalesce({column} < now() - interval '1 minute', true) AS unseen"

BY_KEY = (
    f"SELECT k.id AS key_id, k.prefix, k.secret_hash, k.scopes, {_UNSEEN.format(column='k.last_used_at')},"
    f"{_WHO.format(table='api_key')} AND k.prefix = $1"
)
BY_SESSION = (
    f"SELECT k.id AS session_id, {_UNSEEN.format(column='k.seen_at')},"
    f"{_WHO.format(table='session')} AND k.id = $1 AND k.user_id = $2"
)

# At most once a minute, and nobody waits for somebody who does it in this moment.
_SEE = "UPDATE {table} SET {column} = now() WHERE id = (SELECT id FROM {table} WHERE id = :id FOR UPDATE SKIP LOCKED)"
SEE_KEY = text(_SEE.format(table="api_key", column="last_used_at"))
SEE_SESSION = text(_SEE.format(table="session", column="seen_at"))


@dataclass(frozen=True)
class Identity:
    """A user of a tenant, and by what they are known."""

    user_id: UUID
    name: str
    role: str
    tenant_id: UUID
    tenant: str
    is_operator: bool
    unseen: bool  # for more than a minute
    session_id: UUID | None = None
    key_id: UUID | None = None
    prefix: str | None = None
    secret_hash: str = ""
    scopes: tuple[str, ...] | None = None  # what a key is for; a login is for everything


async def by_key(connection: asyncpg.Connection, prefix: str) -> Identity | None:
    """Whose key this is, if it and its user and their tenant are in force."""
    row = await connection.fetchrow(BY_KEY, prefix)
    return Identity(**{**row, "scopes": tuple(row["scopes"])}) if row else None


async def by_session(connection: asyncpg.Connection, session_id: UUID, user_id: UUID) -> Identity | None:
    """Who is logged in, if the login and its user and their tenant are in force."""
    row = await connection.fetchrow(BY_SESSION, session_id, user_id)
    return Identity(**row) if row else None


async def see(session: AsyncSession, known: Identity) -> None:
    """Write down that the key or the login was used."""
    await session.execute(SEE_KEY if known.key_id else SEE_SESSION, {"id": known.key_id or known.session_id})
