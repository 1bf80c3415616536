"""`scrapersky tenant`: who owns rows, how much they may use, and who runs the engine."""

from typing import Annotated, Any

import typer
import uvloop

from scrapersky.cli.shared.actor import acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json, print_table
from scrapersky.core import clock
from scrapersky.core.errors import BadRequest
from scrapersky.core.text_rules import clean_name
from scrapersky.store.accounts import tenants

group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

NONE = "none"
Quota = Annotated[str | None, typer.Option(metavar="N|none", help="At most so many; none is without limit.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Name = Annotated[str, typer.Argument(help="The tenant's name.")]


class BadQuota(BadRequest):
    """A quota is a number."""


@group.callback()
def tenant() -> None:
    """Make tenants, set what they may use, and let them go.

    Example: scrapersky tenant create acme --searches-per-day 50

    Example: scrapersky tenant set acme --pages-per-day none --disable

    Exit codes: 0 done, 2 wrong usage, unknown name, or database.
    """


@group.command()
def create(
    name: Name, searches_per_day: Quota = None, pages_per_day: Quota = None, cents_per_month: Quota = None
) -> None:
    """Make a tenant; `scrapersky user create NAME --tenant` makes its people."""
    quotas = _quotas(searches_per_day=searches_per_day, pages_per_day=pages_per_day, cents_per_month=cents_per_month)
    name = clean_name(name)
    uvloop.run(_create(name, quotas))
    typer.echo(f"{name} is there. Make its first admin: scrapersky user create NAME --role admin --tenant {name}")


@group.command("list")
def list_(as_json: AsJson = False) -> None:
    """Show all tenants and their quotas."""
    found = uvloop.run(_list())
    if as_json:
        print_json(found)
        return
    print_table(
        ["name", "house", "state", "searches a day#", "pages a day#", "cents a month#"],
        [
            (
                one["name"],
                "yes" if one["is_operator"] else "",
                "disabled" if one["disabled"] else "active",
                *(_limit(one[quota]) for quota in ("searches_per_day", "pages_per_day", "cents_per_month")),
            )
            for one in found
        ],
    )


@group.command("set")
def set_(
    name: Name,
    searches_per_day: Quota = None,
    pages_per_day: Quota = None,
    cents_per_month: Quota = None,
    disable: Annotated[
        bool | None, typer.Option("--disable/--enable", help="Nobody of it gets in, its work rests; or not.")
    ] = None,
    application: Annotated[
        bool | None, typer.Option("--operator/--no-operator", help="Whether its operators run the engine.")
    ] = None,
) -> None:
    """Change quotas, let a tenant out or in; effective at the next request."""
    quotas = _quotas(searches_per_day=searches_per_day, pages_per_day=pages_per_day, cents_per_month=cents_per_month)
    changes: dict[str, Any] = {**quotas, **({} if application is None else {"is_operator": application})}
    if disable is not None:
        changes["disabled_at"] = clock.now() if disable else None
    changed = uvloop.run(_change(name, changes))
    typer.echo(", ".join(f"{key.replace('_', ' ')} {_word(value)}" for key, value in changed.items()))


async def _create(name: str, quotas: dict[str, Any]) -> None:
    async with opened() as application:
        actor = await acting(application)
        async with application.database.engine_session() as session:
            await tenants.create(session, actor, name, quotas)


async def _list() -> list[dict[str, Any]]:
    async with opened() as application, application.database.engine_session() as session:
        return [tenants.shown(one) for one in await tenants.page(session)]


async def _change(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    async with opened() as application:
        actor = await acting(application)
        async with application.database.engine_session() as session:
            changed = await tenants.change(session, actor, name, changes)
            shown, tenant_id = tenants.shown(changed), changed.id
        if changes.get("disabled_at", True) is None:
            await tenants.resume_rows(application.database, application.pipeline.queues.values(), tenant_id)
        return shown


def _quotas(**given: str | None) -> dict[str, int | None]:
    return {name: _number(name, value) for name, value in given.items() if value is not None}


def _number(name: str, value: str) -> int | None:
    if value == NONE:
        return None
    if not (value.isascii() and value.isdigit() and int(value) < 2**31):
        raise BadQuota(f"--{name.replace('_', '-')} {value} is none. Give a whole number, or {NONE}.")
    return int(value)


def _limit(value: int | None) -> str:
    return "-" if value is None else str(value)


def _word(value: object) -> str:
    if value is None:
        return "without limit"
    return {"True": "yes", "False": "no"}.get(str(value), str(value))
