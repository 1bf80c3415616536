"""`scrapersky audit`: the audit log."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scrapersky.cli.shared.application import run_async, tenant_session
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from scrapersky.models import Audit

HEADINGS = ["at", "actor", "origin", "action", "subject", "before", "after"]
MAX_STATE_LENGTH = 60  # characters of a state in a table
FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]

Since = Annotated[datetime | None, typer.Option(formats=FORMATS, help="Only entries since this time, in UTC.")]
Until = Annotated[datetime | None, typer.Option(formats=FORMATS, help="Only entries before this time, in UTC.")]


def audit(
    since: Since = None,
    until: Until = None,
    subject: Annotated[str | None, typer.Option(help='Only this subject: "contact 0190...", deep_scan.')] = None,
    actor: Annotated[str | None, typer.Option(help="Only entries of this actor.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this action: create, change, curate, export ...")] = None,
    origin: Annotated[Literal["api", "cli", "console"] | None, typer.Option(help="Only from this origin.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of entries.")] = 50,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Show the audit log, the latest entries first.

    Example: scrapersky audit --since 2026-11-01 --action export --json

    Exit codes: 0 entries were found, 1 none were found, 2 wrong usage, unknown tenant, or database error.
    """
    filters = (actor, (action,) if action else (), subject, origin, _in_utc(since), _in_utc(until))
    entries = run_async(_read(filters, limit, tenant))
    if as_json:
        from scrapersky.store.audit.log import COLUMNS

        print_json([{name: getattr(entry, name) for name in COLUMNS} for entry in entries])
    elif entries:
        print_table(HEADINGS, [_cells(entry) for entry in entries])
    else:
        typer.echo("No entry matches, or it is deleted already (`scrapersky retention`).")
    raise typer.Exit(0 if entries else 1)


async def _read(filters: tuple[Any, ...], limit: int, tenant: str) -> "list[Audit]":
    from scrapersky.store.audit import log as audit_log

    async with tenant_session(tenant) as (_, session, actor):
        return await audit_log.page(session, actor.tenant_id, audit_log.AuditSelection(*filters), limit=limit)


def _in_utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)


def _cells(entry: "Audit") -> list[str]:
    at = f"{entry.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    return [at, entry.actor, entry.origin, entry.action, entry.subject, _state(entry.before), _state(entry.after)]


def _state(state: dict[str, Any] | None) -> str:
    text = ", ".join(f"{name}: {value}" for name, value in (state or {}).items())
    return text if len(text) <= MAX_STATE_LENGTH else f"{text[:MAX_STATE_LENGTH]}…"
