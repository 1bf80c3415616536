"""`scrapersky status`: how every workflow stands, on all hosts together."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
import uvloop

from scrapersky.bootstrap import Application
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json, print_table, seconds
from scrapersky.core import clock
from scrapersky.engine.breaker import CLOSED
from scrapersky.engine.tuning import Tuning
from scrapersky.models import Run, Worker
from scrapersky.store.operations import controls, runs, workflow_status
from scrapersky.store.operations.workflow_status import Standing

COLUMNS = ["workflow", "ready#", "waiting#", "processing#", "dead#", "oldest#", "/min#", "errors#", "state", "last run"]


@dataclass(frozen=True)
class Seen:
    """A workflow, its latest run, and what is wrong with it."""

    standing: Standing
    last_run: Run | None
    troubles: list[str]


def status(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Show how every workflow stands: its queue, its pace, its failures, and who is working.

    Rates and errors are those of the last fifteen minutes. Degraded means: a breaker is not closed, a row has been
    ready for longer than its limit, or rows are ready and no worker has been seen.

    Example: scrapersky status --json

    Exit codes: 0 all is well, 1 something is degraded, 2 wrong setting or database.
    """
    workflows, workers = uvloop.run(_look())
    degraded = [seen.standing.workflow.name for seen in workflows if seen.troubles]
    if as_json:
        print_json(
            {
                "workflows": [_plain(seen) for seen in workflows],
                "workers": [_worker(worker) for worker in workers],
                "degraded": degraded,
            }
        )
    else:
        print_table(COLUMNS, [_line(seen) for seen in workflows])
        typer.echo("\n".join([*_workers_told(workers), *_troubles_told(workflows)]))
    raise typer.Exit(1 if degraded else 0)


async def _look() -> tuple[list[Seen], list[Worker]]:
    async with opened() as application, application.database.engine_session() as session:
        workers = await controls.workers(session)
        found = []
        for standing in await workflow_status.of_line(session, application.pipeline):
            latest = await runs.page(session, workflow=standing.workflow.name, limit=1)
            troubles = _troubles(standing, _tuning(application, standing), workers)
            found.append(Seen(standing, latest[0] if latest else None, troubles))
        return found, workers


def _tuning(application: Application, standing: Standing) -> Tuning:
    return application.tunings[standing.workflow.name]


def _troubles(standing: Standing, tuning: Tuning, workers: Sequence[Worker]) -> list[str]:
    control, measures = standing.control, standing.measures
    troubles = []
    if control is not None and control.breaker != CLOSED:
        troubles.append(f"its breaker is {control.breaker} ({control.breaker_reason}); it tries again by itself")
    if measures.oldest_seconds > tuning.oldest_age_limit_seconds:
        troubles.append(
            f"a row has been ready for {seconds(measures.oldest_seconds)},"
            f" the limit is {seconds(tuning.oldest_age_limit_seconds)}"
        )
    if measures.ready and not workers:
        troubles.append("rows are ready and no worker has been seen; `scrapersky worker` starts one")
    return troubles


def _state(standing: Standing) -> str:
    control = standing.control
    if control is None:  # no host has looked at it yet
        return "running"
    if control.paused_at is not None:
        return f"paused by {control.paused_by}" + (f": {control.pause_reason}" if control.pause_reason else "")
    if control.breaker != CLOSED:
        return f"breaker {control.breaker}"
    return f"held by {control.held_by}" if control.held_by else "running"


def _line(seen: Seen) -> list[object]:
    measures, recent = seen.standing.measures, seen.standing.recent
    return [
        seen.standing.workflow.name,
        measures.ready,
        measures.waiting,
        measures.processing,
        measures.dead,
        seconds(measures.oldest_seconds) if measures.ready else "-",
        f"{recent.rate_per_minute:.1f}",
        "-" if recent.error_rate is None else f"{recent.error_rate:.0%}",
        _state(seen.standing),
        f"{seconds((clock.now() - seen.last_run.started_at).total_seconds())} ago" if seen.last_run else "-",
    ]


def _plain(seen: Seen) -> dict[str, Any]:
    standing, control = seen.standing, seen.standing.control
    return {
        "name": standing.workflow.name,
        "number": standing.workflow.number,
        **asdict(standing.measures),
        "rate_per_minute": round(standing.recent.rate_per_minute, 3),
        "error_rate": standing.recent.error_rate,
        "p50_seconds": standing.recent.p50_seconds,
        "p95_seconds": standing.recent.p95_seconds,
        "state": _state(standing),
        "paused": control is not None and control.paused_at is not None,
        "paused_by": control.paused_by if control else None,
        "pause_reason": control.pause_reason if control else None,
        "breaker": control.breaker if control else CLOSED,
        "breaker_reason": control.breaker_reason if control else None,
        "breaker_until": control.breaker_until if control else None,
        "held_by": control.held_by if control else None,
        "last_run": _run(seen.last_run) if seen.last_run else None,
        "troubles": seen.troubles,
    }


def _run(run: Run) -> dict[str, Any]:
    names = ("host", "pid", "started_at", "seconds", "claimed", "completed", "skipped", "postponed", "retried")
    return {name: getattr(run, name) for name in (*names, "failed", "returned", "lost", "error")}


def _worker(worker: Worker) -> dict[str, Any]:
    return {name: getattr(worker, name) for name in ("host", "pid", "version", "started_at", "seen_at")}


def _workers_told(workers: Sequence[Worker]) -> list[str]:
    if not workers:
        return ["No worker has been seen within half a minute."]
    return [
        f"{worker.host} {worker.pid} has been working for {seconds((clock.now() - worker.started_at).total_seconds())}."
        for worker in workers
    ]


def _troubles_told(workflows: Sequence[Seen]) -> list[str]:
    return [
        f"Degraded: {seen.standing.workflow.name}: {'; '.join(seen.troubles)}." for seen in workflows if seen.troubles
    ]
