"""`scrapersky user`: users, their roles, passwords and API keys."""

from datetime import timedelta
from typing import Annotated, Any

import typer

from scrapersky.cli.shared.application import run_async, tenant_session
from scrapersky.cli.shared.arguments import prompt_password
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import print_json, print_table
from scrapersky.core import clock
from scrapersky.core.roles import Role, Scope
from scrapersky.core.text_rules import clean_name

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

MAX_SHOWN = 10_000
UserName = Annotated[str, typer.Argument(help="The name of the user, unique within the tenant.")]


@group.callback()
def user() -> None:
    """Create, list, change and disable users, and create API keys.

    Example: scrapersky user create ada --role admin

    Example: pass show ada | scrapersky user password ada

    Exit codes: 0 success, 2 wrong usage, unknown name, or database error.
    """


@group.command()
def create(
    name: UserName,
    role: Annotated[Role, typer.Option(help="The role of the user in the tenant.")] = Role.VIEWER,
    tenant: TenantName = DEFAULT_TENANT,
    no_password: Annotated[bool, typer.Option("--no-password", help="For programs: API keys only, no login.")] = False,
) -> None:
    """Create a user. The password is prompted for, or read as one line from standard input."""
    name = clean_name(name)
    run_async(_create(tenant, name, role, None if no_password else prompt_password(name)))
    typer.echo(f"{name} is {role} of {tenant}.")


@group.command("list")
def list_(tenant: TenantName = DEFAULT_TENANT, as_json: AsJson = False) -> None:
    """List the users of a tenant."""
    rows = run_async(_list(tenant))
    if as_json:
        print_json(rows)
        return
    cells = [(row["name"], row["role"], row["state"], row["last_login"] or "-", row["keys"]) for row in rows]
    print_table(["name", "role", "state", "last login", "keys#"], cells)


@group.command()
def role(
    name: UserName,
    role: Annotated[Role, typer.Argument(help="The new role.")],
    tenant: TenantName = DEFAULT_TENANT,
) -> None:
    """Change the role of a user, effective at their next request."""
    run_async(_change(tenant, name, role=role))
    typer.echo(f"{name} is {role} of {tenant}.")


@group.command()
def disable(
    name: UserName,
    tenant: TenantName = DEFAULT_TENANT,
    undo: Annotated[bool, typer.Option("--undo", help="Enable the user again.")] = False,
) -> None:
    """Disable a user: their sessions end and their API keys are rejected, at once."""
    run_async(_change(tenant, name, disabled=not undo))
    typer.echo(f"{name} is {'enabled' if undo else 'disabled'}.")


@group.command()
def password(name: UserName, tenant: TenantName = DEFAULT_TENANT) -> None:
    """Set a password, prompted for or read from standard input; all sessions of the user end."""
    run_async(_set_password(tenant, name, prompt_password(name)))
    typer.echo(f"{name} has a new password.")


@group.command()
def key(
    name: UserName,
    label: Annotated[str, typer.Option(help="A label that identifies the key.")] = "created at the command line",
    scope: Annotated[list[Scope] | None, typer.Option(help="A scope of the key; default: all of the role.")] = None,
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="Days until the key expires.")] = None,
    tenant: TenantName = DEFAULT_TENANT,
) -> None:
    """Create an API key for a user and print it once."""
    typer.echo(run_async(_create_key(tenant, name, clean_name(label), scope, days)))


async def _create(tenant: str, name: str, role: Role, password: str | None) -> None:
    from scrapersky.store.accounts import users

    hashed = await _hash(password) if password is not None else None
    async with tenant_session(tenant) as (_, session, actor):
        await users.create(session, actor, name, role, hashed)


async def _list(tenant: str) -> list[dict[str, Any]]:
    from scrapersky.store.accounts import api_keys, users

    async with tenant_session(tenant) as (_, session, actor):
        found = await users.of_tenant(session, actor.tenant_id, None, MAX_SHOWN)
        keys = await api_keys.count_by_user(session, actor.tenant_id)
    return [
        {
            "name": row.name,
            "role": row.role,
            "state": "disabled" if row.disabled_at else "active",
            "last_login": row.last_login_at,
            "keys": keys.get(row.id, 0),
        }
        for row in found
    ]


async def _change(tenant: str, name: str, role: Role | None = None, disabled: bool | None = None) -> None:
    from scrapersky.store.accounts import users

    async with tenant_session(tenant) as (_, session, actor):
        found = await users.by_name(session, actor.tenant_id, name)
        await users.change(session, actor, found.id, role, disabled)


async def _set_password(tenant: str, name: str, password: str) -> None:
    from scrapersky.store.accounts import users

    hashed = await _hash(password)
    async with tenant_session(tenant) as (_, session, actor):
        found = await users.by_name(session, actor.tenant_id, name)
        await users.set_password(session, actor, found.id, hashed)


async def _create_key(tenant: str, name: str, label: str, scopes: list[Scope] | None, days: int | None) -> str:
    from scrapersky.store.accounts import api_keys, users

    expires_at = clock.now() + timedelta(days=days) if days else None
    async with tenant_session(tenant) as (_, session, actor):
        found = await users.by_name(session, actor.tenant_id, name)
        wanted = [str(scope) for scope in scopes] if scopes else None
        return (await api_keys.create(session, actor, found, label, wanted, expires_at))[1]


async def _hash(password: str) -> str:
    from contextlib import closing

    from scrapersky.core.secrets.passwords import Passwords

    with closing(Passwords()) as passwords:
        return await passwords.hash(password)
