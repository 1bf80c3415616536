"""`scrapersky user`: who may log in, with which role, and keys for their programs."""

from typing import Annotated

import typer
import uvloop

from scrapersky.cli.shared.actor import TenantName
from scrapersky.cli.shared.output import print_json, print_table
from scrapersky.cli.shared.prompts import ask_password
from scrapersky.cli.shared.user_work import Change, change_user, create_user, list_users, make_key, set_password
from scrapersky.core.roles import Role, Scope
from scrapersky.core.text_rules import clean_name
from scrapersky.store.accounts import tenants

group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

UserName = Annotated[str, typer.Argument(help="The user's name, unique within the tenant.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@group.callback()
def user() -> None:
    """Make users, give them roles, passwords and keys, and let them go.

    Example: scrapersky user create ada --role admin

    Example: pass show ada | scrapersky user password ada

    Exit codes: 0 done, 2 wrong usage, unknown name, or database.
    """


@group.command()
def create(
    name: UserName,
    role: Annotated[Role, typer.Option(help="What they may do in their tenant.")] = Role.VIEWER,
    tenant: TenantName = tenants.DEFAULT,
    no_password: Annotated[bool, typer.Option("--no-password", help="For programs: keys only, no login.")] = False,
) -> None:
    """Make a user. The password is asked for, or read as one line from standard input."""
    name = clean_name(name)
    password = None if no_password else ask_password(name)
    uvloop.run(create_user(tenant, name, role, password))
    typer.echo(f"{name} is {role} of {tenant}.")


@group.command("list")
def list_(tenant: TenantName = tenants.DEFAULT, as_json: AsJson = False) -> None:
    """Show the users of a tenant."""
    found = uvloop.run(list_users(tenant))
    if as_json:
        print_json([vars(one) for one in found])
        return
    print_table(
        ["name", "role", "state", "last login", "keys#"],
        [(one.name, one.role, one.state, one.last_login or "-", one.keys) for one in found],
    )


@group.command()
def role(
    name: UserName,
    role: Annotated[Role, typer.Argument(help="What they may do from now on.")],
    tenant: TenantName = tenants.DEFAULT,
) -> None:
    """Give a user another role; effective at their next request."""
    uvloop.run(change_user(tenant, name, Change(role=role)))
    typer.echo(f"{name} is {role} of {tenant}.")


@group.command()
def disable(
    name: UserName,
    tenant: TenantName = tenants.DEFAULT,
    undo: Annotated[bool, typer.Option("--undo", help="Let them in again.")] = False,
) -> None:
    """Let a user in no more: their logins end and their keys open nothing, at once."""
    uvloop.run(change_user(tenant, name, Change(disabled=not undo)))
    typer.echo(f"{name} may log in again." if undo else f"{name} is out.")


@group.command()
def password(name: UserName, tenant: TenantName = tenants.DEFAULT) -> None:
    """Set a password, asked for or read from standard input; all logins of the user end."""
    uvloop.run(set_password(tenant, name, ask_password(name)))
    typer.echo(f"{name} has a new password.")


@group.command()
def key(
    name: UserName,
    label: Annotated[str, typer.Option(help="To know the key by.")] = "made at the command line",
    scope: Annotated[
        list[Scope] | None, typer.Option(help="What it may be used for; all of the role if left out.")
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="When it runs out.")] = None,
    tenant: TenantName = tenants.DEFAULT,
) -> None:
    """Make a key for a user's program and print it, this once."""
    typer.echo(uvloop.run(make_key(tenant, name, clean_name(label), scope, days)))
