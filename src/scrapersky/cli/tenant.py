"""`scrapersky tenant`: tenants, their quotas, and which of them operate the engine."""

from typing import Annotated, Any

import typer

from scrapersky.cli.shared.application import cli_actor, engine_session, opened, run_async
from scrapersky.cli.shared.options import AsJson
from scrapersky.cli.shared.output import print_json, print_table
from scrapersky.core import clock
from scrapersky.core.errors import BadRequest
from scrapersky.core.text_rules import clean_name

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

NONE = "none"
QUOTAS = ("searches_per_day", "pages_per_day", "cents_per_month")
Quota = Annotated[str | None, typer.Option(metavar="N|none", help="The maximum; none removes the limit.")]
Name = Annotated[str, typer.Argument(help="The name of the tenant.")]


class BadQuota(BadRequest):
    """A quota is invalid."""


@group.callback()
def tenant() -> None:
    """Create, list, change and disable tenants, and set their quotas.

    Example: scrapersky tenant create acme --searches-per-day 50

    Example: scrapersky tenant set acme --pages-per-day none --disable

    Exit codes: 0 success, 2 wrong usage, unknown name, or database error.
    """


@group.command()
def create(
    name: Name, searches_per_day: Quota = None, pages_per_day: Quota = None, cents_per_month: Quota = None
) -> None:
    """Create a tenant; `scrapersky user create NAME --tenant` creates its users."""
    quotas = _quotas(searches_per_day, pages_per_day, cents_per_month)
    name = clean_name(name)
    run_async(_create(name, quotas))
    typer.echo(f"{name} was created. Create its first admin: scrapersky user create NAME --role admin --tenant {name}")


@group.command("list")
def list_(as_json: AsJson = False) -> None:
    """List all tenants and their quotas."""
    rows = run_async(_list())
    if as_json:
        print_json(rows)
        return
    print_table(
        ["name", "operator", "state", "searches a day#", "pages a day#", "cents a month#"],
        [
            (
                row["name"],
                "yes" if row["is_operator"] else "",
                "disabled" if row["disabled"] else "active",
                *("-" if row[quota] is None else row[quota] for quota in QUOTAS),
            )
            for row in rows
        ],
    )


@group.command("set")
def set_(
    name: Name,
    searches_per_day: Quota = None,
    pages_per_day: Quota = None,
    cents_per_month: Quota = None,
    disable: Annotated[
        bool | None, typer.Option("--disable/--enable", help="Reject its users and do not claim its rows; or undo it.")
    ] = None,
    operator: Annotated[
        bool | None, typer.Option("--operator/--no-operator", help="Whether its operators control the engine.")
    ] = None,
) -> None:
    """Change the quotas, the state or the operator flag of a tenant, effective at the next request."""
    changes: dict[str, Any] = _quotas(searches_per_day, pages_per_day, cents_per_month)
    if operator is not None:
        changes["is_operator"] = operator
    if disable is not None:
        changes["disabled_at"] = clock.now() if disable else None
    changed = run_async(_change(name, changes))
    typer.echo(", ".join(f"{key.replace('_', ' ')} {_format(value)}" for key, value in changed.items()))


async def _create(name: str, quotas: dict[str, int | None]) -> None:
    from scrapersky.store.accounts import tenants

    async with engine_session() as (_, session, actor):
        await tenants.create(session, actor, name, quotas)


async def _list() -> list[dict[str, Any]]:
    from scrapersky.store.accounts import tenants

    async with engine_session() as (_, session, _actor):
        return [tenants.shown(row) for row in await tenants.page(session)]


async def _change(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    from scrapersky.store.accounts import tenants

    async with opened() as application:
        actor = await cli_actor(application)
        async with application.database.engine_session() as session:
            changed = await tenants.change(session, actor, name, changes)
            shown, tenant_id = tenants.shown(changed), changed.id
        if changes.get("disabled_at", True) is None:
            await tenants.resume_rows(application.database, application.pipeline.queues.values(), tenant_id)
        return shown


def _quotas(*given: str | None) -> dict[str, int | None]:
    """Return the quotas that were given. Raises BadQuota for a value that is not a number."""
    return {name: _number(name, value) for name, value in zip(QUOTAS, given, strict=True) if value is not None}


def _number(name: str, value: str) -> int | None:
    if value == NONE:
        return None
    if not (value.isascii() and value.isdigit() and int(value) < 2**31):
        raise BadQuota(f"--{name.replace('_', '-')} {value} is not a whole number below {2**31}. Give one, or {NONE}.")
    return int(value)


def _format(value: object) -> str:
    return {"None": "unlimited", "True": "yes", "False": "no"}.get(str(value), str(value))
