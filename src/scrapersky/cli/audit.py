"""`scrapersky audit`: who changed what, when and from where."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import typer
import uvloop

from scrapersky.cli.shared.actor import TenantName, acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json, print_table
from scrapersky.models import Audit
from scrapersky.store.accounts.tenants import DEFAULT
from scrapersky.store.audit import log as audit_log
from scrapersky.store.audit.log import COLUMNS, Filter

SHOWN = ["at", "who", "from", "did", "what", "before", "after"]
WIDTH = 60  # characters of a state that a table shows

Since = Annotated[
    datetime | None, typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Only since then, in UTC.")
]
Until = Annotated[
    datetime | None, typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Only before then, in UTC.")
]


def audit(
    since: Since = None,
    until: Until = None,
    subject: Annotated[str | None, typer.Option(help='Only about this: "contact 0190...", places, deep_scan.')] = None,
    actor: Annotated[str | None, typer.Option(help="Only by this name.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this: create, change, curate, export ...")] = None,
    origin: Annotated[Literal["api", "cli", "console"] | None, typer.Option(help="Only from there.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The latest so many.")] = 50,
    tenant: TenantName = DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Show who changed what, when and from where, the latest first.

    Example: scrapersky audit --since 2026-11-01 --action export --json

    Exit codes: 0 there are changes, 1 there are none, 2 wrong usage, unknown tenant, or database.
    """
    wanted = Filter(actor, action, subject, origin, _aware(since), _aware(until))
    found = uvloop.run(_look(wanted, limit, tenant))
    if as_json:
        print_json([{name: getattr(line, name) for name in COLUMNS} for line in found])
    elif found:
        print_table(SHOWN, [_line(line) for line in found])
    else:
        typer.echo("Nothing like this was changed, or it is too long ago.")
    raise typer.Exit(0 if found else 1)


async def _look(wanted: Filter, limit: int, tenant: str) -> list[Audit]:
    async with opened() as application:
        tenant_id = (await acting(application, tenant)).tenant_id
        async with application.database.session(tenant_id) as session:
            return await audit_log.page(session, tenant_id, wanted, limit=limit)


def _aware(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)


def _line(line: Audit) -> list[str]:
    at = f"{line.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    return [at, line.actor, line.origin, line.action, line.subject, _state(line.before), _state(line.after)]


def _state(state: dict[str, Any] | None) -> str:
    told = ", ".join(f"{name}: {value}" for name, value in (state or {}).items())
    return told if len(told) <= WIDTH else f"{told[:WIDTH]}…"
