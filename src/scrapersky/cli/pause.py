"""`scrapersky pause NAME`: pause a workflow on every host."""

from typing import Annotated

import typer

from scrapersky.cli.shared.application import engine_session, run_async
from scrapersky.cli.shared.options import AsJson, WorkflowName
from scrapersky.cli.shared.output import print_json


def pause(
    name: WorkflowName,
    reason: Annotated[str | None, typer.Option(help="The reason, shown in `status` and in the API.")] = None,
    as_json: AsJson = False,
) -> None:
    """Pause a workflow on every host; running work is finished, the queue is kept.

    Example: scrapersky pause deep_scan --reason "the provider is down"

    Exit codes: 0 paused, 2 wrong usage, paused already, or database error.
    """
    run_async(_pause(name, reason))
    if as_json:
        print_json({"workflow": name, "paused": True, "reason": reason})
    else:
        typer.echo(f"{name} is paused. `scrapersky resume {name}` resumes it.")


async def _pause(name: str, reason: str | None) -> None:
    from scrapersky.store.operations import controls

    async with engine_session() as (application, session, actor):
        await controls.pause(session, actor, application.pipeline[name].name, reason)
