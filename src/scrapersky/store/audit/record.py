"""Named queries about the audit: who changed what, in the transaction that changes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.roles import Role, scopes_cover
from scrapersky.models import Audit


@dataclass(frozen=True)
class Actor:
    """Who asks: a name, the tenant it acts for, what it may do, and where it comes from."""

    name: str
    tenant_id: UUID
    role: str
    origin: str
    user_id: UUID | None = None  # nobody's at the command line
    request_id: str | None = None
    session_id: UUID | None = None  # the login it came by, or
    key_id: UUID | None = None  # the key
    scopes: tuple[str, ...] | None = None  # what the key may be used for; a login has all
    is_operator: bool = False  # of the tenant whose operators run the engine

    def covers(self, needed: Role) -> bool:
        """Whether it may do, in its tenant, what needs this role; a key also needs the scope."""
        return Role(self.role).covers(needed) and (self.scopes is None or scopes_cover(self.scopes, needed))


async def record(
    session: AsyncSession,
    actor: Actor,
    action: str,
    subject: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Write down one change; it is kept or lost together with the change itself."""
    await session.execute(
        insert(Audit).values(
            tenant_id=actor.tenant_id,
            actor=actor.name,
            actor_id=actor.user_id,
            origin=actor.origin,
            request_id=actor.request_id,
            action=action,
            subject=subject,
            before=None if before is None else dict(before),
            after=None if after is None else dict(after),
        )
    )


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of two states only what differs: the audit keeps no more about people than it must."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return {name: before.get(name) for name in names}, {name: after.get(name) for name in names}
