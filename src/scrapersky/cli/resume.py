"""`scrapersky resume NAME`: resume a workflow on every host."""

import typer

from scrapersky.cli.shared.application import engine_session, run_async
from scrapersky.cli.shared.options import AsJson, WorkflowName
from scrapersky.cli.shared.output import print_json


def resume(name: WorkflowName, as_json: AsJson = False) -> None:
    """Resume a paused workflow and close its breaker.

    Example: scrapersky resume deep_scan

    Exit codes: 0 resumed, 2 wrong usage, neither paused nor stopped by its breaker, or database error.
    """
    run_async(_resume(name))
    if as_json:
        print_json({"workflow": name, "paused": False})
    else:
        typer.echo(f"{name} is running.")


async def _resume(name: str) -> None:
    from scrapersky.store.operations import controls

    async with engine_session() as (application, session, actor):
        await controls.resume(session, actor, application.pipeline[name].name)
