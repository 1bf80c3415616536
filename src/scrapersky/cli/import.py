"""`scrapersky import NOUN FILE`: rows one already has, from a file of any length."""

# ruff: noqa: N999 - the module is named like the word

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from scrapersky.actions.imports import run as imports
from scrapersky.actions.imports.columns import Fields, read_mapping
from scrapersky.actions.imports.run import ImportRequest, Report
from scrapersky.cli.shared.actor import TenantName, acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json, printable
from scrapersky.core.errors import BadRequest
from scrapersky.extract.tabular.rows import Form, read_table
from scrapersky.store.accounts import tenants

TOLD_SECONDS = 2.0
ERRORS_SHOWN = 20
FORMS: dict[str, Form] = {".jsonl": "jsonl", ".ndjson": "jsonl"}


class UnreadableFile(BadRequest):
    """The file cannot be imported."""


def import_file(
    noun: Annotated[str, typer.Argument(help="places, domains, sitemaps, pages, contacts or suppressions.")],
    file: Annotated[Path, typer.Argument(help="A CSV file, or .jsonl with one object a line.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check every row, keep nothing.")] = False,
    queue: Annotated[bool, typer.Option("--queue", help="Queue each row's next step.")] = False,
    mapping: Annotated[
        list[str] | None, typer.Option("--map", metavar="COLUMN=FIELD", help="What a column of the file is.")
    ] = None,
    tenant: TenantName = tenants.DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Import places, domains, sitemaps, pages, contacts or suppressions from a file; twice is like once.

    Example: scrapersky import domains sites.csv --queue

    Example: scrapersky import contacts people.csv --map "Work mail=email" --dry-run

    Exit codes: 0 every row was stored, 1 some rows were not, 2 the file cannot be used, or the database.
    """
    wish = ImportRequest(noun, file.name, dry_run, queue, read_mapping(mapping or ()))
    Fields(noun, wish.mapping)  # what cannot work is better known before the house is opened
    report = uvloop.run(_import(wish, file, tenant))
    if as_json:
        print_json(asdict(report))
    else:
        _say(report)
    raise typer.Exit(1 if report.failed else 0)


globals()["import"] = import_file  # the word is one of Python's own


async def _import(wish: ImportRequest, file: Path, tenant: str) -> Report:
    if file.suffix.lower() == ".json":
        raise UnreadableFile(f"{file} is one JSON document; write one object a line into a .jsonl file.")
    try:
        stream = file.open("rb")
    except OSError as error:
        raise UnreadableFile(f"{file} cannot be read: {error.strerror}.") from None
    with stream:
        async with opened() as application:
            actor = await acting(application, tenant)
            rows = read_table(stream, FORMS.get(file.suffix.lower(), "csv"))
            return await imports.run(application.database, actor, wish, rows, _Progress().tell)


class _Progress:
    """A line on standard error now and then."""

    def __init__(self) -> None:
        self._told_at = time.monotonic()

    def tell(self, report: Report) -> None:
        """How far it is."""
        if time.monotonic() - self._told_at > TOLD_SECONDS:
            self._told_at = time.monotonic()
            print(f"{report.rows:,} rows, {report.failed:,} of them not stored", file=sys.stderr)  # noqa: T201


def _say(report: Report) -> None:
    queued = f", {report.queued:,} queued" if report.queued else ""
    typer.echo(
        f"{report.noun}: {report.created:,} created, {report.updated:,} updated, {report.unchanged:,} unchanged"
        f"{queued}, {report.failed:,} failed.{' Nothing was kept: this was a dry run.' if report.dry_run else ''}"
    )
    for error in report.errors[:ERRORS_SHOWN]:
        typer.echo(f"line {error.line}: {printable(error.message)}", err=True)
    if report.failed > ERRORS_SHOWN:
        typer.echo(f"and {report.failed - ERRORS_SHOWN:,} more; --json names the first thousand.", err=True)
