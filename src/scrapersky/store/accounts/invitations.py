"""SQL about invitations: a link with which one person can become a user."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock
from scrapersky.core.database import Database
from scrapersky.core.errors import UnknownName
from scrapersky.core.roles import Role
from scrapersky.core.secrets import tokens
from scrapersky.core.uuid7 import new_id
from scrapersky.models import Invitation
from scrapersky.store.accounts import tenants, users
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor

LIFETIME = timedelta(hours=24)
_OPEN = (Invitation.used_at.is_(None), Invitation.expires_at > func.now())

_HAS_USERS = 'SELECT EXISTS (SELECT FROM "user" WHERE NOT is_system)'
# An invitation is valid while its maker is an active admin; the link for the first admin, which has no maker, while
# there are no users.
_FIND = """
SELECT i.id, i.tenant_id, i.role, i.expires_at, t.name AS tenant FROM invitation i JOIN tenant t ON t.id = i.tenant_id
LEFT JOIN "user" m ON m.id = i.created_by
WHERE i.token_hash = $1 AND i.used_at IS NULL AND i.expires_at > now() AND t.disabled_at IS NULL
    AND CASE WHEN i.created_by IS NULL THEN NOT EXISTS (SELECT FROM "user" WHERE NOT is_system)
        ELSE m.disabled_at IS NULL AND m.role = 'admin' END"""


class UnknownInvitation(UnknownName):
    """There is no such invitation."""


@dataclass(frozen=True)
class OpenInvitation:
    """An invitation that can be accepted."""

    id: UUID
    tenant_id: UUID
    role: str
    expires_at: datetime
    tenant: str


async def create(session: AsyncSession, actor: Actor, role: Role) -> tuple[Invitation, str]:
    """Create an invitation to the actor's tenant; return it and its token, which is not stored."""
    token = tokens.new_secret()
    invitation = Invitation(
        id=new_id(),
        tenant_id=actor.tenant_id,
        role=role.value,
        token_hash=tokens.hash_secret(token),
        created_by=actor.user_id,
        expires_at=clock.now() + LIFETIME,
    )
    session.add(invitation)
    await session.flush()
    await session.refresh(invitation)
    await audit.record(session, actor, "invite", f"invitation {invitation.id}", None, {"role": invitation.role})
    return invitation, token


async def find(connection: asyncpg.Connection, token: str) -> OpenInvitation:
    """Return the open invitation of this token, or raise UnknownInvitation."""
    row = await connection.fetchrow(_FIND, tokens.hash_secret(token))
    if row is None:
        raise UnknownInvitation("The link was used, has expired or is wrong. Ask an admin for another one.")
    return OpenInvitation(**row)


async def accept(
    session: AsyncSession,
    invitation: OpenInvitation,
    name: str,
    password_hash: str,
    origin: str,
    request_id: str | None = None,
) -> UUID:
    """Use the invitation up and create its user; return the id of the user."""
    use = update(Invitation).where(Invitation.id == invitation.id, *_OPEN)
    if await session.scalar(use.values(used_at=func.now()).returning(Invitation.id)) is None:
        raise UnknownInvitation("The link was used a moment ago. Ask an admin for another one.")
    actor = Actor(name, invitation.tenant_id, invitation.role, origin, request_id=request_id)
    return (await users.create(session, actor, name, Role(invitation.role), password_hash)).id


async def of_tenant(session: AsyncSession, tenant_id: UUID) -> list[Invitation]:
    """Return the open invitations, newest first."""
    query = select(Invitation).where(Invitation.tenant_id == tenant_id, *_OPEN)
    return list(await session.scalars(query.order_by(Invitation.id.desc()).limit(200)))


async def withdraw(session: AsyncSession, actor: Actor, invitation_id: UUID) -> None:
    """Delete an open invitation, or raise UnknownInvitation."""
    gone = delete(Invitation).where(
        Invitation.id == invitation_id, Invitation.tenant_id == actor.tenant_id, Invitation.used_at.is_(None)
    )
    if await session.scalar(gone.returning(Invitation.id)) is None:
        raise UnknownInvitation(f"There is no open invitation with the id {invitation_id}.")
    await audit.record(session, actor, "withdraw", f"invitation {invitation_id}")


async def for_first_admin(database: Database) -> str | None:
    """Create an invitation for the first admin; return its token, or None if there are users."""
    async with database.engine_connection() as connection:
        if await connection.fetchval(_HAS_USERS):
            return None
    async with database.engine_session() as session:
        tenant_id = await tenants.id_of(session)
    actor = Actor("first start", tenant_id, Role.ADMIN.value, "serve")
    async with database.session(tenant_id) as session:
        await session.execute(delete(Invitation).where(Invitation.created_by.is_(None), Invitation.used_at.is_(None)))
        return (await create(session, actor, Role.ADMIN))[1]
