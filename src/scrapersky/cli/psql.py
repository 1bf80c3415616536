"""`scrapersky psql`: open the database with PostgreSQL's own client."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from scrapersky.cli.shared.application import opened_as_owner, run_async

if TYPE_CHECKING:
    from scrapersky.core.postgres_tools import PostgresTools


def psql(
    command: Annotated[
        list[str] | None, typer.Option("--command", "-c", help="Run this SQL and exit; repeat it for more.")
    ] = None,
) -> None:
    """Open the database with psql, as the owner of its tables.

    Row level security holds the owner, too, unless it is a superuser; SET ROLE scrapersky_engine shows the rows of all
    tenants. psql comes with the embedded PostgreSQL; a newer server needs the psql of the machine.

    Example: scrapersky psql -c "SELECT count(*) FROM contact"

    Exit codes: 0 done, 1 and 3 errors of psql, 2 wrong setting or database error.
    """
    import subprocess  # nosec B404

    tools = run_async(_prepare())
    words = [word for sql in command or () for word in ("--command", sql)]
    # A child, not exec: the embedded server of this process runs as long as the process.
    done = subprocess.run(  # noqa: S603 # nosec B603
        tools.command("psql", f"--dbname={tools.url}", *words), env={**os.environ, **tools.environment}, check=False
    )
    raise typer.Exit(done.returncode)


async def _prepare() -> "PostgresTools":
    import asyncpg

    from scrapersky.core.postgres_tools import find_tools

    async with opened_as_owner() as database:
        connection = await asyncpg.connect(dsn=database.owner_dsn)
        version = connection.get_server_version().major
        await connection.close()
        return find_tools(database.owner_url, version)
