"""`scrapersky migrate`: migrate the database schema."""

from typing import TYPE_CHECKING, Annotated

import typer

from scrapersky.cli.shared.application import opened_as_owner, run_async, user_name
from scrapersky.cli.shared.options import AsJson
from scrapersky.cli.shared.output import print_json

if TYPE_CHECKING:
    from scrapersky.core.database import Database


def migrate(
    to: Annotated[str | None, typer.Option("--to", metavar="REVISION", help="Migrate up or back to it.")] = None,
    list_revisions: Annotated[bool, typer.Option("--list", help="List the revisions and exit.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Revert revisions without asking.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Revert revisions although workers run.")] = False,
    as_json: AsJson = False,
) -> None:
    """Migrate the database schema and print the applied migrations.

    Safe to run from several hosts at once: one migrates, the others wait. A lock is waited for five seconds at most;
    then the migration is rolled back. Processes of the version before continue to work on the new schema, and its
    `migrate` leaves a newer schema as it is.

    With --to an older revision, the newer ones are reverted: their tables and columns are dropped with what is in
    them. Stop all processes and make a backup first.

    If MIGRATION_DATABASE_URL is set, it is used, and the user of DATABASE_URL is created or admitted.

    Example: scrapersky migrate

    Exit codes: 0 up to date, 1 not confirmed, 2 wrong usage or setting, database error, or workers are running.
    """
    if list_revisions:
        _print_revisions(as_json)
        return
    applied, reverted = run_async(_migrate(to, yes, force))
    if as_json:
        print_json({"applied": applied, "reverted": reverted, "up_to_date": to is None})
        return
    lines = [*(f"applied {each}" for each in applied), *(f"reverted {each}" for each in reverted)]
    typer.echo("\n".join(lines) or "already up to date")


def _print_revisions(as_json: bool) -> None:
    from scrapersky.core.schema.migrations import known_revisions

    current, known = run_async(_current()), known_revisions()
    if as_json:
        print_json({"current": current, "revisions": known})
        return
    for revision in known:
        typer.echo(f"{'*' if revision == current else ' '} {revision}")
    if current not in known:
        typer.echo(f"* {current or 'none: the database is empty'}")


async def _current() -> str | None:
    from scrapersky.core.schema.migrations import current_revision

    async with opened_as_owner() as database:
        return await current_revision(database)


async def _migrate(to: str | None, yes: bool, force: bool) -> tuple[list[str], list[str]]:
    """Return the revisions that were applied and those that were reverted."""
    from scrapersky.core.schema.migrations import current_revision, migrate, revisions_between
    from scrapersky.store.accounts import tenants
    from scrapersky.store.audit import record as audit

    async with opened_as_owner() as database:
        before = await current_revision(database)
        back = revisions_between(before, to)[1] if to else []
        if back:
            await _confirm(database, back, yes, force)
        changed = await migrate(database, to)
        if changed:
            after = await current_revision(database)
            async with database.engine_session() as session:
                actor = audit.Actor(user_name(), await tenants.id_of(session), "admin", "cli")
                await audit.record(session, actor, "migrate", "schema", {"revision": before}, {"revision": after})
        return ([], changed) if back else (changed, [])


async def _confirm(database: "Database", back: list[str], yes: bool, force: bool) -> None:
    """Ask before data is lost. Raises Conflict while processes use the schema."""
    from scrapersky.core.errors import Conflict
    from scrapersky.store.operations import controls

    if not force:
        async with database.engine_session() as session:
            running = ", ".join(f"{worker.host} ({worker.pid})" for worker in await controls.workers(session))
        if running:
            raise Conflict(f"Processes run on this schema: {running}. Stop them first, or use --force.")
    if not yes:
        typer.echo(f"To revert: {', '.join(back)}. Their tables and columns are dropped, with all data in them.")
        typer.confirm("Continue?", abort=True)
