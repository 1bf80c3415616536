"""`scrapersky migrate`: the schema, brought up to date by whoever comes first."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scrapersky.core.database import Database


def migrate(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Bring the database up to date and say which migrations were applied.

    Safe to run from several hosts at once: one does it, the others wait for it. Locks are waited for five seconds at
    most, and then nothing has changed.

    Example: scrapersky migrate

    Exit codes: 0 up to date, 2 wrong setting or database.
    """
    import uvloop

    from scrapersky.cli.shared.output import print_json

    applied = uvloop.run(_migrate())
    if as_json:
        print_json({"applied": applied, "up_to_date": True})
    elif applied:
        typer.echo("\n".join(f"applied {revision}" for revision in applied))
    else:
        typer.echo("already up to date")


async def _write_down(database: "Database", before: str | None, after: str) -> None:
    from scrapersky.cli.shared.actor import me
    from scrapersky.store.accounts import tenants
    from scrapersky.store.audit import record as audit

    async with database.engine_session() as session:
        actor = audit.Actor(me(), await tenants.id_of(session), "admin", "cli")
        await audit.record(session, actor, "migrate", "schema", {"revision": before}, {"revision": after})


async def _migrate() -> list[str]:
    from scrapersky.bootstrap import read_settings
    from scrapersky.core.database import Database, check_server
    from scrapersky.core.logging_setup import configure_logs
    from scrapersky.core.migrations import current_revision, migrate
    from scrapersky.core.settings import Environment
    from scrapersky.pipeline import build_pipeline

    settings, _ = read_settings(Environment(), build_pipeline({}))
    configure_logs(settings)
    database = Database.from_settings(settings)
    try:
        await check_server(database)
        before = await current_revision(database)
        applied = await migrate(database)
        if applied:
            await _write_down(database, before, applied[-1])
        return applied
    finally:
        await database.close()
