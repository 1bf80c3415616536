"""`scrapersky destination`: where contacts are delivered to. Secrets are asked for, never typed as words."""

import getpass
import sys
from typing import Annotated, Any

import typer
import uvloop

from scrapersky.api.deliveries.destinations import NotReachable
from scrapersky.cli.shared.actor import TenantName, acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json, print_table
from scrapersky.destinations.errors import NotDelivered
from scrapersky.destinations.kind import MAX_SECRET_LENGTH
from scrapersky.destinations.registry import KINDS, KindName
from scrapersky.models import Destination
from scrapersky.store.accounts import tenants
from scrapersky.store.deliveries import destinations
from scrapersky.store.deliveries.destinations import DestinationDraft
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.paginate import Sort
from scrapersky.store.listing.resources import DESTINATIONS

group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

MAX_SHOWN = 1_000
Name = Annotated[str, typer.Argument(help="The destination's name.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@group.callback()
def destination() -> None:
    """Add, list, test and remove the web hooks and CRMs that contacts are delivered to.

    Example: scrapersky destination add crm --kind hubspot < token.txt

    Example: scrapersky destination add hook --kind webhook --url https://example.com/leads --auto

    Exit codes: 0 done, 1 a test failed, 2 wrong usage, unknown name, or database.
    """


@group.command()
def add(
    name: Name,
    kind: Annotated[KindName, typer.Option(help="The kind of receiver.")],
    url: Annotated[str | None, typer.Option(help="Of the web hook; of a CRM only where it is not its own.")] = None,
    auto: Annotated[
        bool, typer.Option("--auto", help="Selected contacts go there once they are found deliverable.")
    ] = False,
    tenant: TenantName = tenants.DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Add one. A key is asked for, or read from standard input; a web hook's secret is made and shown once."""
    rule = KINDS[kind].secret
    secret = None if rule.generate else _ask_secret(name, is_needed=rule.is_required)
    wanted = DestinationDraft(name, kind, url, secret, rule={"auto": True} if auto else {})
    made = uvloop.run(_add(wanted, tenant))
    if as_json:
        print_json(made)
        return
    typer.echo(f"{name} is added.")
    if made["signing_secret"]:
        typer.echo(f"It signs with {made['signing_secret']} — give it to the receiver; it is not shown again.")


@group.command("list")
def list_(tenant: TenantName = tenants.DEFAULT, as_json: AsJson = False) -> None:
    """Show the destinations of a tenant; their secrets are shown to nobody."""
    found = uvloop.run(_list(tenant))
    if as_json:
        print_json(found)
        return
    rows = [(each["name"], each["kind"], each["url"] or "-", each["by_itself"], each["state"]) for each in found]
    print_table(["name", "kind", "url", "by itself", "state"], rows)


@group.command("test")
def try_out(name: Name, tenant: TenantName = tenants.DEFAULT, as_json: AsJson = False) -> None:
    """Send a test event, or ask a CRM whether it knows the key; no contact is sent."""
    ok, said = uvloop.run(_test(name, tenant))
    if as_json:
        print_json({"name": name, "ok": ok, "said": said})
    else:
        typer.echo(f"{name}: {said}")
    raise typer.Exit(0 if ok else 1)


@group.command()
def remove(name: Name, tenant: TenantName = tenants.DEFAULT) -> None:
    """Remove one, with all that is known of its deliveries."""
    uvloop.run(_remove(name, tenant))
    typer.echo(f"{name} is removed.")


def _ask_secret(name: str, is_needed: bool) -> str | None:
    if sys.stdin.isatty():
        given = getpass.getpass(f"Key of {name}{'' if is_needed else ' (empty for none)'}: ")
    else:
        given = sys.stdin.readline(MAX_SECRET_LENGTH + 2).rstrip("\r\n")
    return given or None


async def _add(wanted: DestinationDraft, tenant: str) -> dict[str, Any]:
    async with opened() as application:
        actor = await acting(application, tenant)
        if wanted.url is not None and not await application.adapters.may_reach(wanted.url):
            raise NotReachable("Use the http(s) address of a host on the public internet, without a user name.")
        async with application.database.session(actor.tenant_id) as session:
            made, secret = await destinations.create(session, actor, application.vault, wanted)
            return {"id": made.id, **destinations.shown(made), "signing_secret": secret}


async def _list(tenant: str) -> list[dict[str, Any]]:
    columns = ["id", "name", "kind", "url", "rule", "disabled_at", "disabled_reason", "failing_since"]
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            found = await lists.page(
                session, DESTINATIONS, actor.tenant_id, columns, {}, sort=Sort("updated_at"), limit=MAX_SHOWN
            )
    return [_line(row) for row, _ in found]


def _line(row: Any) -> dict[str, Any]:
    state = "enabled"
    if row.disabled_at is not None:
        state = f"disabled: {row.disabled_reason}"
    elif row.failing_since is not None:
        state = f"failing since {row.failing_since:%Y-%m-%d %H:%M}"
    by_itself = "yes" if row.rule.get("auto") else "no"
    return {"id": row.id, "name": row.name, "kind": row.kind, "url": row.url, "by_itself": by_itself, "state": state}


async def _test(name: str, tenant: str) -> tuple[bool, str]:
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            found: Destination = await destinations.by_name(session, actor.tenant_id, name)
        try:
            return True, await application.adapters.test(destinations.endpoint_of(found, application.vault))
        except NotDelivered as error:
            return False, str(error)


async def _remove(name: str, tenant: str) -> None:
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            found = await destinations.by_name(session, actor.tenant_id, name)
            await destinations.remove(session, actor, found.id)
