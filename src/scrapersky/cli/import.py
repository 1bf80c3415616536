"""`scrapersky import RESOURCE FILE`: rows from a file of any length."""

# ruff: noqa: N999 - the module is named like the command

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scrapersky.cli.shared.application import cli_actor, opened, run_async
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import print_json, printable
from scrapersky.core.errors import BadRequest

if TYPE_CHECKING:
    from scrapersky.actions.imports.run import ImportRequest, Report

PROGRESS_SECONDS = 2.0
MAX_ERRORS_SHOWN = 20
DRY_RUN = " Nothing was stored: this was a dry run."


class UnreadableImport(BadRequest):
    """The file cannot be imported."""


def import_file(
    resource: Annotated[str, typer.Argument(help="places, domains, sitemaps, pages, contacts or suppressions.")],
    file: Annotated[Path, typer.Argument(help="A CSV file, or .jsonl with one object per line.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Validate every row, store nothing.")] = False,
    queue: Annotated[bool, typer.Option("--queue", help="Queue the next step of each row.")] = False,
    mapping: Annotated[
        list[str] | None, typer.Option("--map", metavar="COLUMN=FIELD", help="The field of a column of the file.")
    ] = None,
    country: Annotated[
        str, typer.Option(help="The country of rows that name none, by code or name.", show_default="none")
    ] = "",
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Import places, domains, sitemaps, pages, contacts or suppressions from a file; idempotent.

    Exports of Apollo, HubSpot, Salesforce, Pipedrive, Outscraper and Google Contacts are understood. A wrong cell is
    left out of its row, and columns that are not read are listed.

    Example: scrapersky import domains sites.csv --queue

    Example: scrapersky import contacts people.csv --map "Work mail=email" --dry-run

    Exit codes: 0 every row was stored, 1 some rows were not, 2 the file cannot be used, or database error.
    """
    from scrapersky.actions.imports.column_mapping import ColumnMapping, parse_mapping
    from scrapersky.actions.imports.run import ImportRequest

    request = ImportRequest(resource, file.name, dry_run, queue, parse_mapping(mapping or ()), country)
    ColumnMapping(resource, request.mapping)  # raises on a wrong mapping, before the database is opened
    report = run_async(_import(request, file, tenant))
    if as_json:
        print_json(asdict(report))
    else:
        _print(report)
    raise typer.Exit(1 if report.failed else 0)


globals()["import"] = import_file  # `import` is a keyword of Python


async def _import(request: "ImportRequest", file: Path, tenant: str) -> "Report":
    from scrapersky.actions.imports import run as imports
    from scrapersky.extract.tabular.rows import read_table

    if file.suffix.lower() == ".json":
        raise UnreadableImport(f"{file} is one JSON document; write one object per line into a .jsonl file.")
    form: Literal["jsonl", "csv"] = "jsonl" if file.suffix.lower() in (".jsonl", ".ndjson") else "csv"
    try:
        stream = file.open("rb")
    except OSError as error:
        raise UnreadableImport(f"{file} cannot be read: {error.strerror}.") from None
    with stream:
        async with opened() as application:
            actor = await cli_actor(application, tenant)
            return await imports.run(application.database, actor, request, read_table(stream, form), _Progress().show)


class _Progress:
    """Prints a line to standard error every two seconds."""

    def __init__(self) -> None:
        self._shown_at = time.monotonic()

    def show(self, report: "Report") -> None:
        """Print the progress unless it was printed a moment ago."""
        if time.monotonic() - self._shown_at > PROGRESS_SECONDS:
            self._shown_at = time.monotonic()
            print(f"{report.rows:,} rows, {report.failed:,} of them not stored", file=sys.stderr)  # noqa: T201


def _print(report: "Report") -> None:
    queued = f", {report.queued:,} queued" if report.queued else ""
    typer.echo(
        f"{report.noun}: {report.created:,} created, {report.updated:,} updated, {report.unchanged:,} unchanged"
        f"{queued}, {report.failed:,} failed.{_incomplete(report)}{DRY_RUN if report.dry_run else ''}"
    )
    if report.ignored_columns:
        typer.echo(f"Columns that were not read: {printable(', '.join(report.ignored_columns))}.")
    for error in report.errors[:MAX_ERRORS_SHOWN]:
        typer.echo(f"line {error.line}: {printable(error.message)}", err=True)
    if report.failed > MAX_ERRORS_SHOWN:
        typer.echo(f"and {report.failed - MAX_ERRORS_SHOWN:,} more; --json lists the first thousand.", err=True)
    for cell in report.cells[:MAX_ERRORS_SHOWN]:
        typer.echo(f"line {cell.line}, {printable(cell.column)}: {printable(cell.message)}", err=True)
    if len(report.cells) > MAX_ERRORS_SHOWN:
        typer.echo(f"and further cells; --json lists the first {len(report.cells):,}.", err=True)


def _incomplete(report: "Report") -> str:
    if not report.incomplete:
        return ""
    return f" {report.incomplete:,} of them {'is' if report.incomplete == 1 else 'are'} stored without a wrong cell."
