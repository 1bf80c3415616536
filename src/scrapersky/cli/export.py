"""`scrapersky export RESOURCE`: all rows of a resource, or the leads of a search, to a file."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer

from scrapersky.cli.shared.application import cli_actor, opened, run_async
from scrapersky.cli.shared.filters import BadFilter, Where, parse_filters
from scrapersky.cli.shared.lead_options import (
    FILE_HELP,
    ColumnNames,
    FilterOptions,
    FormatName,
    LeadOptions,
    SortKeys,
    with_lead_filters,
)
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, PhoneFormatName, PreferredFunctions, TenantName
from scrapersky.cli.shared.output import print_json
from scrapersky.core.errors import UnknownName

if TYPE_CHECKING:
    from scrapersky.extract.phones.spelling import PhoneFormat

LEADS = "leads"

Per = Literal["business", "contact"]


class UnknownExport(UnknownName):
    """This cannot be exported."""


@with_lead_filters
def export(
    resource: Annotated[
        str, typer.Argument(help="places, businesses, domains, sitemaps, pages, contacts, suppressions or leads.")
    ],
    search: Annotated[UUID | None, typer.Option(help="Only rows of this search; required for leads.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help=FILE_HELP, show_default="RESOURCE.csv"),
    ] = None,
    where: Where = None,
    per: Annotated[Per, typer.Option(help="What one row of leads is.")] = "business",
    prefer: PreferredFunctions = None,
    columns: ColumnNames = None,
    sort: SortKeys = None,
    form: FormatName = None,
    phone_format: PhoneFormatName = None,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
    *,
    filters: FilterOptions,
) -> None:
    """Export places, businesses, domains, sitemaps, pages, contacts, or the leads of a search, to a file.

    Example: scrapersky export contacts --where has_email=true --out contacts.xlsx

    Example: scrapersky export leads --search 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa --out leads.csv

    Example: scrapersky export leads --search 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa --verdict deliverable --not-exported
    --columns business,email,city --sort -rating

    Exit codes: 0 rows were written, 1 there were none, 2 wrong usage, unwritable file, or database error.
    """
    path = out or Path(f"{resource}.csv")
    if resource == LEADS:
        if search is None or where:
            raise BadFilter("Leads belong to one search: use --search ID, without --where.")
        wanted = LeadOptions(path, per, prefer, phone_format, filters, columns, sort, form)
        rows = run_async(_export_leads(search, tenant, wanted))
    else:
        if filters or columns or sort:
            raise BadFilter("Filters, --columns and --sort are of leads; for other rows use --where FIELD=VALUE.")
        rows = run_async(_export(resource, path, where, search, tenant, phone_format, form))
    counted = "1 row" if rows == 1 else f"{rows:,} rows"
    if path == Path("-"):
        typer.echo(f"{counted}.", err=True)
    elif as_json:
        print_json({"resource": resource, "rows": rows, "file": str(path)})
    else:
        typer.echo(f"{counted} in {path}.")
    raise typer.Exit(0 if rows else 1)


async def _export(
    name: str,
    path: Path,
    where: list[str] | None,
    search: UUID | None,
    tenant: str,
    phone_format: "PhoneFormat | None",
    form: str | None,
) -> int:
    from scrapersky.destinations.files.lead_file import LeadFile
    from scrapersky.store.listing import export as exports

    if name not in exports.EXPORTED:
        raise UnknownExport(f"{name[:60]!r} is not one of {', '.join((*exports.EXPORTED, LEADS))}.")
    resource = exports.EXPORTED[name]
    filters = parse_filters(resource, where, search)
    with LeadFile(path, exports.columns_of(resource), phone_format, form) as file:
        async with opened() as application:
            actor = await cli_actor(application, tenant)
            async with application.database.session(actor.tenant_id) as session:
                await exports.note(session, actor, resource.name, filters, file.suffix[1:])
            async with application.database.session(actor.tenant_id) as session:
                is_flat = file.suffix not in (".json", ".jsonl")
                rows = exports.rows(session, resource, actor.tenant_id, filters, flat=is_flat)
                return await file.write(_as_text(rows) if file.suffix == ".parquet" else rows)


async def _export_leads(search_id: UUID, tenant: str, wanted: LeadOptions) -> int:
    from scrapersky.store.leads.exported import recorded_leads
    from scrapersky.store.listing import export as exports
    from scrapersky.store.listing import paginate
    from scrapersky.store.listing.resources import SEARCHES

    with wanted.file() as file:
        async with opened() as application:
            query = wanted.query(application.settings, (search_id,))
            actor = await cli_actor(application, tenant)
            async with application.database.session(actor.tenant_id) as session:
                await paginate.get(session, SEARCHES, actor.tenant_id, search_id)
                about = {"per": query.per, **query.filters}
                await exports.note(session, actor, f"leads of search {search_id}", about, file.suffix[1:])
            async with application.database.session(actor.tenant_id) as session:
                return await file.write(recorded_leads(session, query, wanted.out.name))


async def _as_text(rows: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """Convert values to text except numbers: a column of a Parquet file has one type."""
    from scrapersky.destinations.files.lead_file import NUMBERS

    async for row in rows:
        yield {name: value if value is None or name in NUMBERS else str(value) for name, value in row.items()}
