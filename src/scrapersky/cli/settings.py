"""`scrapersky settings`: every setting with its value, default and source."""

from typing import TYPE_CHECKING, Annotated

import typer

from scrapersky.cli.shared.application import run_async
from scrapersky.cli.shared.options import AsJson
from scrapersky.cli.shared.output import print_json, print_table

if TYPE_CHECKING:
    from scrapersky.api.settings_catalog import Setting
    from scrapersky.core.settings import Environment


def settings(
    as_json: AsJson = False,
    env_example: Annotated[
        bool, typer.Option("--env-example", help="Print .env.example: every setting with its default.")
    ] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print docs/settings.md: every setting in tables.")
    ] = False,
) -> None:
    """Print every setting with its value, default and source; secrets are masked.

    Example: DEEP_SCAN_SCHEDULER_BATCH_SIZE=50 scrapersky settings

    Exit codes: 0 success, 2 wrong usage, or an invalid setting.
    """
    from scrapersky.api.settings_catalog import every_setting, of_database
    from scrapersky.cli.printing import settings_pages
    from scrapersky.core.settings import Environment
    from scrapersky.pipeline import build_pipeline

    # The pages show defaults: they are the same on every machine.
    environment = Environment({}, None) if env_example or as_markdown else Environment()
    found = every_setting(environment, build_pipeline({}))
    if env_example:
        typer.echo(settings_pages.env_example(found), nl=False)
    elif as_markdown:
        typer.echo(settings_pages.markdown(found), nl=False)
    else:
        _print([*found, *of_database(run_async(_retention(environment)))], as_json)


def _print(found: "list[Setting]", as_json: bool) -> None:
    from scrapersky.api.settings_catalog import grouped, shown

    if as_json:
        print_json([vars(setting) for setting in found])
    else:
        for group, members in grouped(found).items():
            print_table(
                ["setting", "value", "default", "source"],
                [(each.name, shown(each.value), shown(each.default), each.source) for each in members],
                title=group,
            )


async def _retention(environment: "Environment") -> dict[str, int] | None:
    """Return the retention that the database holds; None if it does not respond or is not set up."""
    import asyncpg
    from sqlalchemy.exc import SQLAlchemyError

    from scrapersky.core.database import Database
    from scrapersky.core.errors import ScraperSkyError
    from scrapersky.core.settings import load
    from scrapersky.store.operations.retention import days_of_all

    settings = load(environment)
    if settings.database_url is None and not (settings.data_dir.expanduser() / "postgres").exists():
        return None
    try:
        database = Database.from_settings(settings)
        try:
            async with database.engine_session() as session:
                return await days_of_all(session)
        finally:
            await database.close()
    except (OSError, ScraperSkyError, SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return None
