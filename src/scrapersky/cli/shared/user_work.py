"""What `scrapersky user` does in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from scrapersky.cli.shared.actor import acting
from scrapersky.cli.shared.application import opened
from scrapersky.core import clock
from scrapersky.core.passwords import Passwords
from scrapersky.core.roles import Role
from scrapersky.store.accounts import api_keys, users

MOST = 10_000  # users shown at once


@dataclass(frozen=True)
class UserRow:
    """A user as the list shows it."""

    name: str
    role: str
    state: str
    last_login: datetime | None
    keys: int


@dataclass(frozen=True)
class Change:
    """What shall be otherwise."""

    role: Role | None = None
    disabled: bool | None = None


async def create_user(tenant: str, name: str, role: Role, password: str | None) -> None:
    """A new user, or NameTaken."""
    hashed = await _hashed(password) if password is not None else None
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            await users.create(session, actor, name, role, hashed)


async def list_users(tenant: str) -> list[UserRow]:
    """The users of a tenant with how many keys they have in force."""
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            found = await users.of_tenant(session, actor.tenant_id, None, MOST)
            keys = await api_keys.count_by_user(session, actor.tenant_id)
    return [
        UserRow(one.name, one.role, "disabled" if one.disabled_at else "active", one.last_login_at, keys.get(one.id, 0))
        for one in found
    ]


async def change_user(tenant: str, name: str, change: Change) -> None:
    """Another role, in or out, or UnknownUser."""
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            found = await users.by_name(session, actor.tenant_id, name)
            await users.change(session, actor, found.id, change.role, change.disabled)


async def set_password(tenant: str, name: str, password: str) -> None:
    """A new password; all logins end."""
    hashed = await _hashed(password)
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            found = await users.by_name(session, actor.tenant_id, name)
            await users.set_password(session, actor, found.id, hashed)


async def make_key(tenant: str, name: str, label: str, scopes: Sequence[str] | None, days: int | None) -> str:
    """A key, as it is shown once."""
    expires_at = clock.now() + timedelta(days=days) if days else None
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            found = await users.by_name(session, actor.tenant_id, name)
            wanted = [str(scope) for scope in scopes] if scopes else None
            return (await api_keys.create(session, actor, found, label, wanted, expires_at))[1]


async def _hashed(password: str) -> str:
    passwords = Passwords()
    try:
        return await passwords.hash(password)
    finally:
        passwords.close()
