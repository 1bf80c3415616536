"""`scrapersky migrate`: migrate the database schema."""

import typer

from scrapersky.cli.shared.application import run_async, user_name
from scrapersky.cli.shared.options import AsJson
from scrapersky.cli.shared.output import print_json


def migrate(as_json: AsJson = False) -> None:
    """Migrate the database schema and print the applied migrations.

    Safe to run from several hosts at once: one migrates, the others wait. A lock is waited for five seconds at most;
    then the migration is rolled back.

    Example: scrapersky migrate

    Exit codes: 0 up to date, 2 wrong setting or database error.
    """
    applied = run_async(_migrate())
    if as_json:
        print_json({"applied": applied, "up_to_date": True})
    elif applied:
        typer.echo("\n".join(f"applied {revision}" for revision in applied))
    else:
        typer.echo("already up to date")


async def _migrate() -> list[str]:
    from scrapersky.bootstrap import read_settings
    from scrapersky.core.database import Database, check_server
    from scrapersky.core.logging_setup import configure_logs
    from scrapersky.core.migrations import current_revision, migrate
    from scrapersky.core.settings import Environment
    from scrapersky.pipeline import build_pipeline
    from scrapersky.store.accounts import tenants
    from scrapersky.store.audit import record as audit

    settings, _ = read_settings(Environment(), build_pipeline({}))
    configure_logs(settings)
    database = Database.from_settings(settings)
    try:
        await check_server(database)
        before = await current_revision(database)
        applied = await migrate(database)
        if applied:
            async with database.engine_session() as session:
                actor = audit.Actor(user_name(), await tenants.id_of(session), "admin", "cli")
                await audit.record(session, actor, "migrate", "schema", {"revision": before}, {"revision": applied[-1]})
        return applied
    finally:
        await database.close()
