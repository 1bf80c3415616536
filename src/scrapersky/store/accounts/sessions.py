"""Named queries about logins: begun with a password, kept alive by a token that changes at every use, ended at will."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import asyncpg
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock, tokens
from scrapersky.core.database import Database
from scrapersky.core.errors import Conflict, NotAuthenticated, UnknownName
from scrapersky.core.uuid7 import new_id
from scrapersky.models import LoginSession, User
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor

IDLE = timedelta(days=14)  # without a refresh
LONGEST = timedelta(days=90)  # with however many
GRACE = timedelta(seconds=10)  # for a second click on the same token

_USER = """
SELECT u.id, u.tenant_id, u.name, u.role, u.password_hash, t.name AS tenant, t.is_operator
FROM "user" u JOIN tenant t ON t.id = u.tenant_id
WHERE t.name = $1 AND u.name = $2 AND u.disabled_at IS NULL AND t.disabled_at IS NULL AND NOT u.is_system"""
_FIND = """
SELECT s.id, s.tenant_id, s.user_id, s.token_hash = $1 AS is_present,
    coalesce(s.previous_token_hash = $1, false) AND s.updated_at > now() - $3::interval AS is_second_click
FROM session s JOIN "user" u ON u.id = s.user_id AND u.tenant_id = s.tenant_id JOIN tenant t ON t.id = s.tenant_id
WHERE s.family_hash = $2 AND s.revoked_at IS NULL AND s.expires_at > now()
    AND u.disabled_at IS NULL AND t.disabled_at IS NULL"""


class UnknownSession(UnknownName):
    """There is no such login."""


class JustUsed(Conflict):
    """This token was used a moment ago."""


@dataclass(frozen=True)
class Candidate:
    """Somebody who says to be a user."""

    id: UUID
    tenant_id: UUID
    name: str
    role: str
    password_hash: str | None
    tenant: str
    is_operator: bool


@dataclass(frozen=True)
class Begun:
    """A login and its token, which is shown this once."""

    id: UUID
    user_id: UUID
    refresh_token: str


async def candidate(connection: asyncpg.Connection, tenant: str, name: str) -> Candidate | None:
    """The user of this name in that tenant, if both are in force."""
    row = await connection.fetchrow(_USER, tenant, name)
    return Candidate(**row) if row else None


async def begin(
    session: AsyncSession,
    actor: Actor,
    user_id: UUID,
    password_hash: str,
    origin: str,
    user_agent: str | None,
    most: int,
) -> Begun:
    """Somebody has shown the password of this hash: a login of its own, whatever was sent before.

    NotKnown if it was changed or they were disabled meanwhile: what ends all logins must not miss one on its way.
    """
    as_shown = update(User).where(User.id == user_id, User.password_hash == password_hash, User.disabled_at.is_(None))
    if await session.scalar(as_shown.values(last_login_at=func.now()).returning(User.id)) is None:
        raise NotAuthenticated("The name or the password is wrong.")
    token = tokens.new_refresh_token()
    row = LoginSession(
        id=new_id(),
        tenant_id=actor.tenant_id,
        user_id=user_id,
        token_hash=tokens.hash_secret(token),
        family_hash=tokens.hash_secret(tokens.family_of(token)),
        expires_at=clock.now() + IDLE,
        seen_at=clock.now(),
        origin=origin,
        user_agent=user_agent,
    )
    session.add(row)
    await audit.record(session, actor, "login", f"session {row.id}")
    await _end_beyond(session, actor, row, most)
    return Begun(row.id, user_id, token)


async def _end_beyond(session: AsyncSession, actor: Actor, begun: LoginSession, most: int) -> None:
    """Of the others the most lately used stay; the lock on the user lets nobody slip through beside."""
    others = (
        LoginSession.user_id == begun.user_id,
        LoginSession.id != begun.id,
        LoginSession.revoked_at.is_(None),
        LoginSession.expires_at > func.now(),
    )
    latest = select(LoginSession.id).where(*others).order_by(LoginSession.seen_at.desc(), LoginSession.id.desc())
    ended = update(LoginSession).where(*others, LoginSession.id.not_in(latest.limit(most - 1)))
    for session_id in await session.scalars(ended.values(revoked_at=func.now()).returning(LoginSession.id)):
        await audit.record(session, actor, "end", f"session {session_id}", None, {"why": f"more than {most} logins"})


async def renew(database: Database, token: str) -> Begun:
    """The login goes on with another token. Any that was replaced before ends it: one of two has stolen it."""
    old, family = tokens.hash_secret(token), tokens.family_of(token)
    async with database.engine_connection() as connection:
        found = await connection.fetchrow(_FIND, old, tokens.hash_secret(family), GRACE)
    if found is None:
        raise NotAuthenticated("The refresh token is none of ours, or not valid any more. Log in again.")
    if not found["is_present"] and not found["is_second_click"]:
        await _end_stolen(database, found["tenant_id"], found["id"])
        raise NotAuthenticated("The refresh token was used before, so this login has been ended. Log in again.")
    fresh = tokens.new_refresh_token(family)
    async with database.session(found["tenant_id"]) as session:
        renewed = update(LoginSession).where(
            LoginSession.id == found["id"], LoginSession.token_hash == old, LoginSession.revoked_at.is_(None)
        )
        end = func.least(func.now() + IDLE, LoginSession.created_at + LONGEST)
        values = {
            "token_hash": tokens.hash_secret(fresh),
            "previous_token_hash": old,
            "seen_at": func.now(),
            "expires_at": end,
        }
        if await session.scalar(renewed.values(values).returning(LoginSession.id)) is None:
            raise JustUsed("Use the tokens of the other answer.")
    return Begun(found["id"], found["user_id"], fresh)


async def of_user(session: AsyncSession, user_id: UUID) -> list[LoginSession]:
    """The logins of a user that are in force, the latest first."""
    wanted = select(LoginSession).where(
        LoginSession.user_id == user_id, LoginSession.revoked_at.is_(None), LoginSession.expires_at > func.now()
    )
    return list(await session.scalars(wanted.order_by(LoginSession.seen_at.desc(), LoginSession.id).limit(200)))


async def end(session: AsyncSession, actor: Actor, session_id: UUID | None) -> None:
    """One of the actor's own logins opens nothing any more, at once."""
    ended = update(LoginSession).where(
        LoginSession.id == session_id, LoginSession.user_id == actor.user_id, LoginSession.revoked_at.is_(None)
    )
    if await session.scalar(ended.values(revoked_at=func.now()).returning(LoginSession.id)) is None:
        raise UnknownSession("This id is none of a login of yours that is in force.")
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
