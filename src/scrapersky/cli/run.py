"""`scrapersky run NAME`: one cycle of one workflow, here and now."""

from typing import Annotated, Any

import typer
import uvloop

from scrapersky.cli.shared.actor import acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json
from scrapersky.engine.admission import Admission
from scrapersky.engine.breaker import OPEN
from scrapersky.engine.events import CycleEnded
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.outcomes import OutcomeKind
from scrapersky.store.audit import record as audit
from scrapersky.store.operations.controls import MayNotRun


def run(
    name: Annotated[str, typer.Argument(help="The workflow, such as deep_scan.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run one cycle of a workflow in this process: drain its queue and say what became of the rows.

    Workers may be running meanwhile: no row is given to two. Ctrl-C hands unfinished rows back.

    Example: scrapersky run deep_scan

    Exit codes: 0 done (or nothing to do), 1 a row became a dead letter, 2 wrong usage, setting or database, or not now.
    """
    ended = uvloop.run(_run(name))
    counts = {kind.value: ended.counts.get(kind, 0) for kind in OutcomeKind}
    if as_json:
        print_json(
            {"workflow": name, "seconds": round(ended.seconds, 3), "claimed": ended.claimed, **counts}
            | {"lost": ended.lost, "error": ended.error}
        )
    else:
        typer.echo(_sentence(ended, counts))
    raise typer.Exit(1 if counts[OutcomeKind.FAILED] else 0)


async def _run(name: str) -> CycleEnded:
    async with opened() as application:
        workflow = application.pipeline[name]
        processor = application.runtime.processors[workflow.name]
        _may_run(name, await processor.consult())
        actor = await acting(application)
        async with application.database.engine_session() as session:
            await audit.record(session, actor, "run", workflow.name, None, {"here": True})
        return await run_job_loop(processor)


def _may_run(name: str, verdict: Admission) -> None:
    if verdict.paused:
        raise MayNotRun(f"{name} is paused. `scrapersky resume {name}` lets it go on.")
    if verdict.breaker == OPEN:
        raise MayNotRun(f"The breaker of {name} is open ({verdict.reason}). `scrapersky resume {name}` closes it now.")
    if verdict.held_by is not None:
        raise MayNotRun(f"{name} is held back until the queue of {verdict.held_by} is shorter.")


def _sentence(ended: CycleEnded, counts: dict[str, Any]) -> str:
    if not ended.claimed:
        return f"{ended.workflow}: nothing was ready."
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return f"{ended.workflow}: {ended.claimed} claimed in {ended.seconds:.1f} s: {told}."
