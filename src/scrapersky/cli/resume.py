"""`scrapersky resume NAME`: a workflow goes on, on every host."""

from typing import Annotated

import typer
import uvloop

from scrapersky.cli.shared.actor import acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json
from scrapersky.store.operations import controls


def resume(
    name: Annotated[str, typer.Argument(help="The workflow, such as deep_scan.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Let a paused workflow go on; an open breaker is closed as well.

    Example: scrapersky resume deep_scan

    Exit codes: 0 goes on, 2 wrong usage, nothing to resume, or database.
    """
    uvloop.run(_resume(name))
    if as_json:
        print_json({"workflow": name, "paused": False})
    else:
        typer.echo(f"{name} goes on.")


async def _resume(name: str) -> None:
    async with opened() as application:
        workflow, actor = application.pipeline[name], await acting(application)
        async with application.database.engine_session() as session:
            await controls.resume(session, actor, workflow.name)
