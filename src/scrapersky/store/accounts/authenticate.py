"""SQL that authenticates a request: one statement for a key, a session or a cookie, with its user and its tenant.

It runs on a connection of the engine, because the tenant is not known before.
"""

from dataclasses import dataclass, field
from uuid import UUID

import asyncpg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.preferences import Preferences, read_preferences
from scrapersky.core.secrets import tokens

# A disabled user or tenant and a revoked or expired key are not found, from the next request on.
_IDENTITY = """
    u.id AS user_id, u.name, u.role, t.id AS tenant_id, t.name AS tenant, t.is_operator
FROM {table} k JOIN "user" u ON u.id = k.user_id AND u.tenant_id = k.tenant_id JOIN tenant t ON t.id = k.tenant_id
WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    AND u.disabled_at IS NULL AND t.disabled_at IS NULL AND NOT u.is_system"""
_IS_STALE = "coalesce({column} < now() - interval '1 minute', true) AS is_stale"

BY_KEY = (
    f"SELECT k.id AS key_id, k.prefix, k.secret_hash, k.scopes, {_IS_STALE.format(column='k.last_used_at')},"
    f"{_IDENTITY.format(table='api_key')} AND k.prefix = $1"
)
BY_SESSION = (
    f"SELECT k.id AS session_id, {_IS_STALE.format(column='k.seen_at')},"
    f"{_IDENTITY.format(table='session')} AND k.id = $1 AND k.user_id = $2"
)
BY_BROWSER = (
    f"SELECT k.id AS session_id, u.preferences, {_IS_STALE.format(column='k.seen_at')},"
    f"{_IDENTITY.format(table='session')} AND k.browser_hash = $1"
)

# At most once a minute; a row that another request updates at the moment is skipped.
_TOUCH = "UPDATE {table} SET {column} = now() WHERE id = (SELECT id FROM {table} WHERE id = :id FOR UPDATE SKIP LOCKED)"
TOUCH_KEY = text(_TOUCH.format(table="api_key", column="last_used_at"))
# A browser stays logged in for 7 days after its last request, and 30 days at most.
_BROWSER_END = "least(now() + interval '7 days', created_at + interval '30 days')"
TOUCH_SESSION = text(
    _TOUCH.format(
        table="session",
        column=f"expires_at = CASE WHEN browser_hash IS NULL THEN expires_at ELSE {_BROWSER_END} END, seen_at",
    )
)


@dataclass(frozen=True)
class Identity:
    """An authenticated user of a tenant, with the key or the session of the request."""

    user_id: UUID
    name: str
    role: str
    tenant_id: UUID
    tenant: str
    is_operator: bool
    is_stale: bool  # the last use was recorded more than a minute ago
    session_id: UUID | None = None
    key_id: UUID | None = None
    prefix: str | None = None
    secret_hash: str = ""
    scopes: tuple[str, ...] | None = None  # of a key; a session has all
    preferences: Preferences = field(default_factory=Preferences)  # read for a browser only


async def by_key(connection: asyncpg.Connection, prefix: str) -> Identity | None:
    """Return the identity of an active key with this prefix, or None."""
    row = await connection.fetchrow(BY_KEY, prefix)
    return Identity(**{**row, "scopes": tuple(row["scopes"])}) if row else None


async def by_session(connection: asyncpg.Connection, session_id: UUID, user_id: UUID) -> Identity | None:
    """Return the identity of an active session, or None."""
    row = await connection.fetchrow(BY_SESSION, session_id, user_id)
    return Identity(**row) if row else None


async def by_browser(connection: asyncpg.Connection, secret: str) -> Identity | None:
    """Return the identity of an active session with this cookie, or None."""
    row = await connection.fetchrow(BY_BROWSER, tokens.hash_secret(secret))
    if row is None:
        return None
    return Identity(**{**row, "preferences": read_preferences(row["preferences"])})


async def record_use(session: AsyncSession, identity: Identity) -> None:
    """Record that the key or the session was used."""
    await session.execute(
        TOUCH_KEY if identity.key_id else TOUCH_SESSION, {"id": identity.key_id or identity.session_id}
    )
