"""`scrapersky export NOUN`: every row of a noun, or the leads of a search, into a file."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import typer
import uvloop
from pydantic import ValidationError

from scrapersky.api.resources.models import set_filters
from scrapersky.api.transfer.exports import FILTERS
from scrapersky.cli.shared.actor import TenantName, acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json
from scrapersky.core.errors import BadRequest, UnknownName
from scrapersky.destinations.files import LeadFile
from scrapersky.store.accounts import tenants
from scrapersky.store.leads.read import columns_of, leads
from scrapersky.store.listing import export as exports
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.export import EXPORTED
from scrapersky.store.listing.resources import SEARCHES, Resource

LEADS = "leads"
NUMBERS = ("rating", "confidence")  # the columns that are numbers in a parquet file


class UnknownExport(UnknownName):
    """This cannot be exported."""


class WrongFilter(BadRequest):
    """Rows cannot be chosen like this."""


def export(
    noun: Annotated[
        str, typer.Argument(help="places, businesses, domains, sitemaps, pages, contacts, suppressions or leads.")
    ],
    search: Annotated[UUID | None, typer.Option(help="Only rows of this search; leads need one.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file: .csv, .xlsx, .jsonl or .parquet; NOUN.csv if empty.")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(metavar="FIELD=VALUE", help="Only rows that match, as in the lists of the API.")
    ] = None,
    per: Annotated[Literal["business", "contact"], typer.Option(help="What one row of leads is.")] = "business",
    tenant: TenantName = tenants.DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Export places, businesses, domains, sitemaps, pages, contacts, or the leads of a search, into a file.

    Example: scrapersky export contacts --where has_email=true --out contacts.xlsx

    Example: scrapersky export leads --search 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa --out leads.csv

    Exit codes: 0 rows were written, 1 there were none, 2 wrong usage, unwritable file, or database.
    """
    if noun not in (*EXPORTED, LEADS):
        raise UnknownExport(f"{noun[:60]!r} is none of {', '.join((*EXPORTED, LEADS))}.")
    path = out or Path(f"{noun}.csv")
    if noun == LEADS:
        if search is None or where:
            raise WrongFilter("Leads are those of one search: give --search ID, and no --where.")
        written = uvloop.run(_export_leads(path, search, per, tenant))
    else:
        chosen = filters_of(EXPORTED[noun], [*(where or ()), *([f"search_id={search}"] if search else ())])
        written = uvloop.run(_export(EXPORTED[noun], path, chosen, tenant))
    if as_json:
        print_json({"noun": noun, "rows": written, "file": str(path)})
    else:
        typer.echo(f"{written:,} rows in {path}.")
    raise typer.Exit(0 if written else 1)


def filters_of(noun: Resource, written: Sequence[str]) -> dict[str, Any]:
    """What `FIELD=VALUE` says, each; WrongFilter for what no list of this noun understands."""
    asked = {}
    for pair in written:
        name, parted, value = pair.partition("=")
        if not parted or name not in noun.filters:
            raise WrongFilter(f"{pair[:60]!r} is not FIELD=VALUE with one of {', '.join(noun.filters)}.")
        asked[name] = value
    try:
        return dict(set_filters(FILTERS[noun.name].model_validate(asked), noun))
    except ValidationError as error:
        wrong = error.errors()[0]
        raise WrongFilter(f"{wrong['loc'][0]}: {wrong['msg']}.") from None


async def _export(noun: Resource, path: Path, chosen: Mapping[str, Any], tenant: str) -> int:
    with LeadFile(path, exports.columns_of(noun)) as file:
        async with opened() as application:
            actor = await acting(application, tenant)
            async with application.database.session(actor.tenant_id) as session:
                await exports.note(session, actor, noun.name, chosen, path.suffix[1:])
            async with application.database.session(actor.tenant_id) as session:
                is_flat = path.suffix != ".jsonl"
                found = exports.rows(session, noun, actor.tenant_id, chosen, flat=is_flat)
                return await file.write(_as_text(found) if path.suffix == ".parquet" else found)


async def _export_leads(path: Path, search_id: UUID, per: Literal["business", "contact"], tenant: str) -> int:
    with LeadFile(path, list(columns_of(per))) as file:
        async with opened() as application:
            actor = await acting(application, tenant)
            async with application.database.session(actor.tenant_id) as session:
                await lists.get(session, SEARCHES, actor.tenant_id, search_id)
                await exports.note(session, actor, f"leads of search {search_id}", {"per": per}, path.suffix[1:])
            async with application.database.session(actor.tenant_id) as session:
                return await file.write(leads(session, search_id, per))


async def _as_text(rows: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """Columns of a parquet file have one type each: text, or a number where leads have one too."""
    async for row in rows:
        yield {
            name: value if value is None or name in NUMBERS else str(value)  # a status is its word
            for name, value in row.items()
        }
