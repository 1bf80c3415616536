"""`scrapersky export RESOURCE`: all rows of a resource, or the leads of a search, to a file."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer

from scrapersky.cli.shared.application import cli_actor, opened, run_async
from scrapersky.cli.shared.filters import BadFilter, Where, parse_filters
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, PhoneFormatName, PreferredFunctions, TenantName
from scrapersky.cli.shared.output import print_json
from scrapersky.core.errors import UnknownName

if TYPE_CHECKING:
    from scrapersky.extract.phones.spelling import PhoneFormat

LEADS = "leads"
NUMBERS = ("rating", "confidence")  # the columns that are numbers in a Parquet file

Per = Literal["business", "contact"]


class UnknownExport(UnknownName):
    """This cannot be exported."""


def export(
    resource: Annotated[
        str, typer.Argument(help="places, businesses, domains, sitemaps, pages, contacts, suppressions or leads.")
    ],
    search: Annotated[UUID | None, typer.Option(help="Only rows of this search; required for leads.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file: .csv, .xlsx, .jsonl or .parquet.", show_default="RESOURCE.csv"),
    ] = None,
    where: Where = None,
    per: Annotated[Per, typer.Option(help="What one row of leads is.")] = "business",
    prefer: PreferredFunctions = None,
    phone_format: PhoneFormatName = None,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Export places, businesses, domains, sitemaps, pages, contacts, or the leads of a search, to a file.

    Example: scrapersky export contacts --where has_email=true --out contacts.xlsx

    Example: scrapersky export leads --search 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa --out leads.csv

    Exit codes: 0 rows were written, 1 there were none, 2 wrong usage, unwritable file, or database error.
    """
    path = out or Path(f"{resource}.csv")
    if resource == LEADS:
        if search is None or where:
            raise BadFilter("Leads belong to one search: use --search ID, without --where.")
        rows = run_async(_export_leads(path, search, per, tenant, phone_format, prefer))
    else:
        rows = run_async(_export(resource, path, where, search, tenant, phone_format))
    if as_json:
        print_json({"resource": resource, "rows": rows, "file": str(path)})
    else:
        typer.echo(f"{rows:,} rows in {path}.")
    raise typer.Exit(0 if rows else 1)


async def _export(
    name: str,
    path: Path,
    where: list[str] | None,
    search: UUID | None,
    tenant: str,
    phone_format: "PhoneFormat | None",
) -> int:
    from scrapersky.destinations.files import LeadFile
    from scrapersky.store.listing import export as exports

    if name not in exports.EXPORTED:
        raise UnknownExport(f"{name[:60]!r} is none of {', '.join((*exports.EXPORTED, LEADS))}.")
    resource = exports.EXPORTED[name]
    filters = parse_filters(resource, where, search)
    with LeadFile(path, exports.columns_of(resource), phone_format) as file:
        async with opened() as application:
            actor = await cli_actor(application, tenant)
            async with application.database.session(actor.tenant_id) as session:
                await exports.note(session, actor, resource.name, filters, path.suffix[1:])
            async with application.database.session(actor.tenant_id) as session:
                is_flat = path.suffix != ".jsonl"
                rows = exports.rows(session, resource, actor.tenant_id, filters, flat=is_flat)
                return await file.write(_as_text(rows) if path.suffix == ".parquet" else rows)


async def _export_leads(
    path: Path, search_id: UUID, per: Per, tenant: str, phone_format: "PhoneFormat | None", prefer: str | None
) -> int:
    from scrapersky.destinations.files import LeadFile
    from scrapersky.store.leads.read import columns_of, leads, preferred_functions
    from scrapersky.store.listing import export as exports
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import SEARCHES

    with LeadFile(path, list(columns_of(per)), phone_format) as file:
        async with opened() as application:
            preferred = preferred_functions(prefer, application.settings.preferred_functions)
            actor = await cli_actor(application, tenant)
            async with application.database.session(actor.tenant_id) as session:
                await paginate.get(session, SEARCHES, actor.tenant_id, search_id)
                await exports.note(session, actor, f"leads of search {search_id}", {"per": per}, path.suffix[1:])
            async with application.database.session(actor.tenant_id) as session:
                return await file.write(leads(session, search_id, per, preferred))


async def _as_text(rows: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """Convert values to text except numbers: a column of a Parquet file has one type."""
    async for row in rows:
        yield {name: value if value is None or name in NUMBERS else str(value) for name, value in row.items()}
