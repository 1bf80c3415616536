"""`scrapersky backup`: write the whole database to a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scrapersky.cli.shared.application import opened_as_owner, record_for_database, run_async
from scrapersky.cli.shared.options import AsJson
from scrapersky.cli.shared.output import format_size, print_json, show_progress

if TYPE_CHECKING:
    from scrapersky.core.postgres_tools import PostgresTools


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, such as line.dump.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a backup of the whole database to a file, while workers run.

    The file is readable by you alone and appears when it is whole. It does not contain the secret key, with which the
    credentials of destinations are encrypted: keep SCRAPERSKY_SECRET_KEY, or the file secret-key of the data directory.

    Example: scrapersky backup line.dump

    Exit codes: 0 written, 2 wrong usage or setting, the file exists or cannot be written, or database error.
    """
    from scrapersky.actions.backup_file import write_backup
    from scrapersky.core.errors import Conflict

    if file.exists() and not force:
        raise Conflict(f"{file} exists. Name another file, or use --force to replace it.")
    tools = run_async(_prepare())
    with show_progress("Backing up") as report:
        size = write_backup(tools, file, report)
    run_async(_record(file))
    if as_json:
        print_json({"file": str(file), "bytes": size})
    else:
        typer.echo(f"{file}: {format_size(size)}. Keep the secret key as well; it is not in the file.")


async def _prepare() -> "PostgresTools":
    from scrapersky.actions.backup_file import prepare_backup

    async with opened_as_owner() as database:
        return await prepare_backup(database)


async def _record(file: Path) -> None:
    async with opened_as_owner() as database:
        await record_for_database(database, "backup", file)
