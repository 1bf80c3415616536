"""`scrapersky run NAME`: one cycle of one workflow in this process."""

from typing import TYPE_CHECKING, Any

import typer

from scrapersky.cli.shared.application import cli_actor, opened, run_async
from scrapersky.cli.shared.options import AsJson, WorkflowName
from scrapersky.cli.shared.output import print_json

if TYPE_CHECKING:
    from scrapersky.engine.admission import Admission
    from scrapersky.engine.events import CycleEnded


def run(name: WorkflowName, as_json: AsJson = False) -> None:
    """Run one cycle of a workflow in this process and print the outcomes of its rows.

    Workers may run at the same time: no row is processed twice. Ctrl-C requeues unfinished rows.

    Example: scrapersky run deep_scan

    Exit codes: 0 done or nothing to do, 1 a row became a dead letter, 2 wrong usage or setting, database error, or the
    workflow is paused.
    """
    from scrapersky.engine.outcomes import OutcomeKind

    cycle = run_async(_run(name))
    counts = {kind.value: cycle.counts.get(kind, 0) for kind in OutcomeKind}
    if as_json:
        print_json(
            {"workflow": name, "seconds": round(cycle.seconds, 3), "claimed": cycle.claimed, **counts}
            | {"lost": cycle.lost, "error": cycle.error}
        )
    else:
        typer.echo(_sentence(cycle, counts))
    raise typer.Exit(1 if counts[OutcomeKind.FAILED] else 0)


async def _run(name: str) -> "CycleEnded":
    from scrapersky.engine.loop import run_job_loop
    from scrapersky.store.audit import record as audit

    async with opened() as application:
        workflow = application.pipeline[name]
        processor = application.runtime.processors[workflow.name]
        _check_admission(name, await processor.consult())
        actor = await cli_actor(application)
        async with application.database.engine_session() as session:
            await audit.record(session, actor, "run", workflow.name, None, {"here": True})
        return await run_job_loop(processor)


def _check_admission(name: str, admission: "Admission") -> None:
    """Raise MayNotRun if the workflow may not claim rows now."""
    from scrapersky.engine.breaker import OPEN
    from scrapersky.store.operations.controls import MayNotRun

    if admission.paused:
        raise MayNotRun(f"{name} is paused. `scrapersky resume {name}` resumes it.")
    if admission.breaker == OPEN:
        until = f" until {admission.breaker_until.astimezone():%H:%M:%S}" if admission.breaker_until else ""
        raise MayNotRun(
            f"The breaker of {name} is open{until} ({admission.reason}). `scrapersky resume {name}` closes it."
        )
    if admission.held_by is not None:
        raise MayNotRun(f"{name} is held back until the queue of {admission.held_by} is shorter.")


def _sentence(cycle: "CycleEnded", counts: dict[str, Any]) -> str:
    if not cycle.claimed:
        return f"{cycle.workflow}: no row was ready."
    outcomes = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return f"{cycle.workflow}: {cycle.claimed} claimed in {cycle.seconds:.1f} s: {outcomes}."
