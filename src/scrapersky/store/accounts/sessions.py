"""SQL about sessions: started with a password; renewed with a refresh token, or by each use of a browser's cookie."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import asyncpg
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock
from scrapersky.core.database import Database
from scrapersky.core.errors import Conflict, NotAuthenticated, UnknownName
from scrapersky.core.secrets import tokens
from scrapersky.core.uuid7 import new_id
from scrapersky.models import LoginSession, User
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor

IDLE_TIMEOUT = timedelta(days=14)  # without a renewal
MAX_AGE = timedelta(days=90)
BROWSER_IDLE_TIMEOUT = timedelta(days=7)  # without a request; store/accounts/authenticate.py extends it
REUSE_GRACE = timedelta(seconds=10)  # two renewals with the same token, as by a double click
_ACTIVE = (LoginSession.revoked_at.is_(None), LoginSession.expires_at > func.now())

_USER = """
SELECT u.id, u.tenant_id, u.name, u.role, u.password_hash, t.name AS tenant, t.is_operator
FROM "user" u JOIN tenant t ON t.id = u.tenant_id
WHERE t.name = $1 AND u.name = $2 AND u.disabled_at IS NULL AND t.disabled_at IS NULL AND NOT u.is_system"""
_FIND = """
SELECT s.id, s.tenant_id, s.user_id, s.token_hash = $1 AS is_current,
    coalesce(s.previous_token_hash = $1, false) AND s.updated_at > now() - $3::interval AS is_double_click
FROM session s JOIN "user" u ON u.id = s.user_id AND u.tenant_id = s.tenant_id JOIN tenant t ON t.id = s.tenant_id
WHERE s.family_hash = $2 AND s.revoked_at IS NULL AND s.expires_at > now()
    AND u.disabled_at IS NULL AND t.disabled_at IS NULL"""


class UnknownSession(UnknownName):
    """There is no such session."""


class TokenJustUsed(Conflict):
    """The refresh token was used a moment ago."""


@dataclass(frozen=True)
class LoginUser:
    """A user whose password is to be checked."""

    id: UUID
    tenant_id: UUID
    name: str
    role: str
    password_hash: str | None
    tenant: str
    is_operator: bool


@dataclass(frozen=True)
class StartedSession:
    """A session and its refresh token, which is not stored."""

    id: UUID
    user_id: UUID
    refresh_token: str


async def login_user(connection: asyncpg.Connection, tenant: str, name: str) -> LoginUser | None:
    """Return the user of this name if user and tenant are active, else None."""
    row = await connection.fetchrow(_USER, tenant, name)
    return LoginUser(**row) if row else None


async def start(
    session: AsyncSession,
    actor: Actor,
    user_id: UUID,
    password_hash: str,
    origin: str,
    user_agent: str | None,
    max_sessions: int,
    browser_secret: str | None = None,
) -> StartedSession:
    """Start a session of a user whose password was checked against this hash; end the oldest beyond `max_sessions`.

    With a secret it is the session of a browser, whose cookie has that secret. Raise NotAuthenticated if the password
    was changed or the user disabled meanwhile.
    """
    unchanged = update(User).where(User.id == user_id, User.password_hash == password_hash, User.disabled_at.is_(None))
    if await session.scalar(unchanged.values(last_login_at=func.now()).returning(User.id)) is None:
        raise NotAuthenticated("The name or the password is wrong.")
    token = tokens.new_refresh_token()
    row = LoginSession(
        id=new_id(),
        tenant_id=actor.tenant_id,
        user_id=user_id,
        token_hash=tokens.hash_secret(token),
        family_hash=tokens.hash_secret(tokens.family_of(token)),
        browser_hash=tokens.hash_secret(browser_secret) if browser_secret else None,
        expires_at=clock.now() + (BROWSER_IDLE_TIMEOUT if browser_secret else IDLE_TIMEOUT),
        seen_at=clock.now(),
        origin=origin,
        user_agent=user_agent,
    )
    session.add(row)
    await audit.record(session, actor, "login", f"session {row.id}")
    await _end_beyond(session, actor, row, max_sessions)
    return StartedSession(row.id, user_id, token)


async def _end_beyond(session: AsyncSession, actor: Actor, started: LoginSession, max_sessions: int) -> None:
    """End the least recently used sessions beyond the maximum; the user's row is locked by `start`."""
    others = (LoginSession.user_id == started.user_id, LoginSession.id != started.id, *_ACTIVE)
    latest = select(LoginSession.id).where(*others).order_by(LoginSession.seen_at.desc(), LoginSession.id.desc())
    ended = update(LoginSession).where(*others, LoginSession.id.not_in(latest.limit(max_sessions - 1)))
    for session_id in await session.scalars(ended.values(revoked_at=func.now()).returning(LoginSession.id)):
        await audit.record(
            session, actor, "end", f"session {session_id}", None, {"why": f"more than {max_sessions} sessions"}
        )


async def renew(database: Database, token: str) -> StartedSession:
    """Continue a session with a new refresh token. A token that was replaced before ends the session: it was stolen."""
    old, family = tokens.hash_secret(token), tokens.family_of(token)
    async with database.engine_connection() as connection:
        found = await connection.fetchrow(_FIND, old, tokens.hash_secret(family), REUSE_GRACE)
    if found is None:
        raise NotAuthenticated("The refresh token is unknown or expired. Log in again.")
    if not found["is_current"] and not found["is_double_click"]:
        await _end_stolen(database, found["tenant_id"], found["id"])
        raise NotAuthenticated("The refresh token was used before, so this session was ended. Log in again.")
    fresh = tokens.new_refresh_token(family)
    async with database.session(found["tenant_id"]) as session:
        renewed = update(LoginSession).where(
            LoginSession.id == found["id"], LoginSession.token_hash == old, LoginSession.revoked_at.is_(None)
        )
        end = func.least(func.now() + IDLE_TIMEOUT, LoginSession.created_at + MAX_AGE)
        values = {
            "token_hash": tokens.hash_secret(fresh),
            "previous_token_hash": old,
            "seen_at": func.now(),
            "expires_at": end,
        }
        if await session.scalar(renewed.values(values).returning(LoginSession.id)) is None:
            raise TokenJustUsed("Use the tokens of the other response.")
    return StartedSession(found["id"], found["user_id"], fresh)


async def of_user(session: AsyncSession, user_id: UUID) -> list[LoginSession]:
    """Return the active sessions of a user, most recently used first."""
    query = select(LoginSession).where(LoginSession.user_id == user_id, *_ACTIVE)
    return list(await session.scalars(query.order_by(LoginSession.seen_at.desc(), LoginSession.id).limit(200)))


async def end(session: AsyncSession, actor: Actor, session_id: UUID | None) -> None:
    """End an active session of the actor, or raise UnknownSession."""
    ended = update(LoginSession).where(
        LoginSession.id == session_id, LoginSession.user_id == actor.user_id, LoginSession.revoked_at.is_(None)
    )
    if await session.scalar(ended.values(revoked_at=func.now()).returning(LoginSession.id)) is None:
        raise UnknownSession(f"You have no active session with the id {session_id}.")
    await audit.record(session, actor, "logout", f"session {session_id}")


async def _end_stolen(database: Database, tenant_id: UUID, session_id: UUID) -> None:
    async with database.session(tenant_id) as session:
        await session.execute(
            update(LoginSession)
            .where(LoginSession.id == session_id, LoginSession.revoked_at.is_(None))
            .values(revoked_at=func.now())
        )
        actor = Actor("system", tenant_id, "admin", "api")
        await audit.record(session, actor, "end", f"session {session_id}", None, {"why": "an old token was used again"})
