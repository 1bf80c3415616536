"""`scrapersky pause NAME`: no more rows of a workflow are claimed, on any host."""

from typing import Annotated

import typer
import uvloop

from scrapersky.cli.shared.actor import acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json
from scrapersky.store.operations import controls


def pause(
    name: Annotated[str, typer.Argument(help="The workflow, such as deep_scan.")],
    reason: Annotated[str | None, typer.Option(help="Why, for whoever wonders later.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Pause a workflow on every host; rows in hand are finished, the queue is kept.

    Example: scrapersky pause deep_scan --reason "the provider is down"

    Exit codes: 0 paused, 2 wrong usage, paused already, or database.
    """
    uvloop.run(_pause(name, reason))
    if as_json:
        print_json({"workflow": name, "paused": True, "reason": reason})
    else:
        typer.echo(f"{name} is paused. `scrapersky resume {name}` lets it go on.")


async def _pause(name: str, reason: str | None) -> None:
    async with opened() as application:
        workflow, actor = application.pipeline[name], await acting(application)
        async with application.database.engine_session() as session:
            await controls.pause(session, actor, workflow.name, reason)
