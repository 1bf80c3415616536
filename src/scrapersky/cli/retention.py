"""`scrapersky retention`: how long rows are kept, for all hosts of a database."""

from typing import Annotated

import typer

from scrapersky.cli.shared.application import engine_session, run_async
from scrapersky.cli.shared.options import AsJson
from scrapersky.cli.shared.output import print_json, print_table
from scrapersky.core.errors import BadRequest


class DaysMissing(BadRequest):
    """The number of days is missing."""


def retention(
    name: Annotated[str | None, typer.Argument(help="What to keep: contacts, audit, jobs or runs.")] = None,
    days: Annotated[int | None, typer.Argument(help="For how many days; 0 keeps contacts for ever.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show or set how long contacts, audit entries, jobs and runs are kept, for all hosts.

    Example: scrapersky retention contacts 365

    Exit codes: 0 success, 2 wrong usage, unknown name, or database error.
    """
    if name is not None and days is None:
        raise DaysMissing(f"Write `scrapersky retention {name} DAYS`; `scrapersky retention` shows all.")
    kept = run_async(_retention(name, days))
    if as_json:
        print_json([{"name": kind, "days": value, "meaning": meaning} for kind, value, meaning in kept])
    else:
        print_table(["name", "days#", "meaning"], kept)


async def _retention(name: str | None, days: int | None) -> list[tuple[str, int, str]]:
    from scrapersky.store.operations import retention as stored

    async with engine_session() as (_, session, actor):
        if name is not None and days is not None:
            await stored.change(session, actor, name, days)
        kept = await stored.days_of_all(session)
    return [(kind, value, stored.RETAINED[kind].meaning) for kind, value in kept.items()]
