"""The audit entry of a change, written in the transaction of the change."""

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
    """The user or program of a request: its name, tenant, role and origin."""

    name: str
    tenant_id: UUID
    role: str
    origin: str
    user_id: UUID | None = None  # None at the command line
    request_id: str | None = None
    session_id: UUID | None = None  # of a request with a session
    key_id: UUID | None = None  # of a request with an API key
    scopes: tuple[str, ...] | None = None  # of an API key; a session has all
    is_operator: bool = False  # of the operator tenant

    def covers(self, needed: Role) -> bool:
        """Return whether the actor has this role in its tenant; an API key also needs the scope."""
        return Role(self.role).covers(needed) and (self.scopes is None or scopes_cover(self.scopes, needed))


async def record(
    session: AsyncSession,
    actor: Actor,
    action: str,
    subject: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Write the entry of one change; it is committed or rolled back together with the change."""
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
    """Return what differs between two states: the audit stores no more personal data than needed."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return {name: before.get(name) for name in names}, {name: after.get(name) for name in names}
