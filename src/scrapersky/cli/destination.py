"""`scrapersky destination`: the webhooks and CRMs that contacts are delivered to."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scrapersky.cli.shared.application import cli_actor, opened, run_async, tenant_session
from scrapersky.cli.shared.arguments import prompt_secret
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import print_json, print_table
from scrapersky.core.errors import UnknownName

if TYPE_CHECKING:
    from scrapersky.store.deliveries.destinations import DestinationDraft

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

MAX_SHOWN = 1_000
Name = Annotated[str, typer.Argument(help="The name of the destination.")]


class UnknownKind(UnknownName):
    """There is no such kind of destination."""


@group.callback()
def destination() -> None:
    """Add, list, test and remove the webhooks and CRMs that contacts are delivered to.

    Example: scrapersky destination add crm --kind hubspot < token.txt

    Example: scrapersky destination add hook --kind webhook --url https://example.com/leads --auto

    Exit codes: 0 success, 1 a test failed, 2 wrong usage, unknown name, or database error.
    """


@group.command()
def add(
    name: Name,
    kind: Annotated[str, typer.Option(help="The API of the destination; an unknown name lists those that exist.")],
    url: Annotated[str | None, typer.Option(help="The URL of a webhook, or of a CRM if it is not the default.")] = None,
    auto: Annotated[
        bool, typer.Option("--auto", help="Deliver selected contacts automatically once they are deliverable.")
    ] = False,
    alarms: Annotated[
        bool, typer.Option("--alarms", help="Send alarms of the engine: of the operator tenant, webhook or n8n.")
    ] = False,
    completions: Annotated[
        bool, typer.Option("--completions", help="Send an event when a run of a search ends: webhook or n8n.")
    ] = False,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Add a destination. Its key is prompted for, or read from standard input; a webhook's secret is generated."""
    from scrapersky.destinations.kind import MAX_SECRET_LENGTH
    from scrapersky.destinations.registry import KINDS
    from scrapersky.store.deliveries.destinations import DestinationDraft

    if kind not in KINDS:
        raise UnknownKind(f"{kind!r} is not one of {', '.join(KINDS)}.")
    secret_rule, secret = KINDS[kind].secret, None
    if not secret_rule.generate:
        optional = "" if secret_rule.is_required else " (empty for none)"
        secret = prompt_secret(f"Key of {name}{optional}: ", MAX_SECRET_LENGTH) or None
    wanted = {"auto": auto, "alarms": alarms, "completions": completions}
    rule = {name: True for name, is_wanted in wanted.items() if is_wanted}
    created = run_async(_add(DestinationDraft(name, kind, url, secret, rule=rule), tenant))
    if as_json:
        print_json(created)
        return
    typer.echo(f"{name} was added.")
    if created["signing_secret"]:
        typer.echo(f"Its signing secret for the receiver, which is not shown again: {created['signing_secret']}")


@group.command("list")
def list_(tenant: TenantName = DEFAULT_TENANT, as_json: AsJson = False) -> None:
    """List the destinations of a tenant, without their secrets."""
    rows = run_async(_list(tenant))
    if as_json:
        print_json(rows)
        return
    cells = [(row["name"], row["kind"], row["url"] or "-", row["auto"], row["state"]) for row in rows]
    print_table(["name", "kind", "url", "auto", "state"], cells)


@group.command("test")
def try_(name: Name, tenant: TenantName = DEFAULT_TENANT, as_json: AsJson = False) -> None:
    """Send a test event to a webhook, or check the key of a CRM; no contact is sent."""
    ok, message = run_async(_test(name, tenant))
    if as_json:
        print_json({"name": name, "ok": ok, "message": message})
    else:
        typer.echo(f"{name}: {message}")
    raise typer.Exit(0 if ok else 1)


@group.command()
def remove(name: Name, tenant: TenantName = DEFAULT_TENANT) -> None:
    """Remove a destination with the history of its deliveries."""
    run_async(_remove(name, tenant))
    typer.echo(f"{name} was removed.")


async def _add(wanted: "DestinationDraft", tenant: str) -> dict[str, Any]:
    from scrapersky.store.deliveries import destinations

    async with opened() as application:
        actor = await cli_actor(application, tenant)
        await application.adapters.check_url(wanted.url)
        async with application.database.session(actor.tenant_id) as session:
            created, secret = await destinations.create(session, actor, application.vault, wanted)
            return {"id": created.id, **destinations.shown(created), "signing_secret": secret}


async def _list(tenant: str) -> list[dict[str, Any]]:
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import DESTINATIONS

    columns = ["id", "name", "kind", "url", "rule", "disabled_at", "disabled_reason", "failing_since"]
    order = paginate.Sort("updated_at")
    async with tenant_session(tenant) as (_, session, actor):
        page = await paginate.page(session, DESTINATIONS, actor.tenant_id, columns, {}, sort=order, limit=MAX_SHOWN)
    return [_summary(row) for row, _ in page]


def _summary(row: Any) -> dict[str, Any]:
    state = "enabled"
    if row.disabled_at is not None:
        state = f"disabled: {row.disabled_reason}"
    elif row.failing_since is not None:
        state = f"failing since {row.failing_since:%Y-%m-%d %H:%M}"
    auto = "yes" if row.rule.get("auto") else "no"
    return {"id": row.id, "name": row.name, "kind": row.kind, "url": row.url, "auto": auto, "state": state}


async def _test(name: str, tenant: str) -> tuple[bool, str]:
    from scrapersky.destinations.errors import NotDelivered
    from scrapersky.store.deliveries import destinations

    async with opened() as application:
        actor = await cli_actor(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            found = await destinations.by_name(session, actor.tenant_id, name)
            await destinations.note_test(session, actor, found)
        address = destinations.endpoint_of(found, application.vault)
        try:
            return True, await application.adapters.test(address)
        except NotDelivered as error:
            return False, str(error)


async def _remove(name: str, tenant: str) -> None:
    from scrapersky.store.deliveries import destinations

    async with tenant_session(tenant) as (_, session, actor):
        found = await destinations.by_name(session, actor.tenant_id, name)
        await destinations.remove(session, actor, found.id)
