"""`scrapersky restore`: replace the database by a backup."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scrapersky.cli.shared.application import opened_as_owner, record_for_database, run_async
from scrapersky.cli.shared.options import AsJson
from scrapersky.cli.shared.output import print_json, show_progress

if TYPE_CHECKING:
    from scrapersky.core.postgres_tools import PostgresTools


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `scrapersky backup` wrote.")],
    force: Annotated[bool, typer.Option("--force", help="Drop what the database holds now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty database, in one transaction.

    The two roles of the schema are created if the server lacks them. Rows that were being processed when the backup was
    made are processed again when their lease ends.

    Example: scrapersky restore line.dump

    Exit codes: 0 restored, 2 wrong usage or setting, no backup, the database is in use or not empty, or database error.
    """
    from scrapersky.actions.backup_file import read_content
    from scrapersky.actions.restore_backup import restore_backup
    from scrapersky.core.errors import BadRequest

    if not file.is_file():
        raise BadRequest(f"There is no file {file}.")
    tools, version = run_async(_prepare(force))
    content = read_content(tools, file)
    with show_progress("Restoring") as report:
        restore_backup(tools, version, file, content, report)
    revision, head = run_async(_finish(file))
    if as_json:
        print_json({"file": str(file), "revision": revision, "up_to_date": revision == head})
        return
    typer.echo(f"Restored {file}, revision {revision}.")
    if revision != head:
        typer.echo(f"This version has revision {head}: run `scrapersky migrate`.")


async def _prepare(force: bool) -> "tuple[PostgresTools, int]":
    from scrapersky.actions.restore_backup import prepare_restore

    async with opened_as_owner() as database:
        return await prepare_restore(database, force)


async def _finish(file: Path) -> tuple[str | None, str]:
    from scrapersky.actions.restore_backup import finish_restore
    from scrapersky.core.schema.migrations import current_revision, head_revision

    async with opened_as_owner() as database:
        await finish_restore(database)
        revision, head = await current_revision(database), head_revision()
        if revision == head:  # the audit table of an older revision is not known to this version
            await record_for_database(database, "restore", file)
        return revision, head
