"""`scrapersky status`: the state of every workflow, on all hosts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import typer

from scrapersky.cli.shared.application import opened, run_async
from scrapersky.cli.shared.hidden_sites import describe_hidden_sites
from scrapersky.cli.shared.holds import describe_hold
from scrapersky.cli.shared.options import AsJson
from scrapersky.cli.shared.output import (
    format_age,
    format_count,
    format_seconds,
    print_json,
    print_sentence,
    print_table,
)

if TYPE_CHECKING:
    from scrapersky.engine.tuning import Tuning
    from scrapersky.models import ProviderCooldown, Run, Worker
    from scrapersky.store.operations.controls import Hold
    from scrapersky.store.operations.workflow_status import WorkflowStatus

# With these and the longest values a line has 80 columns.
HEADINGS = ["workflow", "ready#", "waiting#", "working#", "dead#", "oldest#", "/min#", "err#", "state"]
RUN_FIELDS = (
    *("host", "pid", "started_at", "seconds", "claimed", "completed", "skipped", "postponed", "retried", "failed"),
    *("returned", "lost", "error"),
)
COOLDOWN_FIELDS = ("name", "until", "reason")
WORKER_FIELDS = ("host", "pid", "version", "started_at", "seen_at")


@dataclass(frozen=True)
class WorkflowReport:
    """The state of a workflow, its latest run, why it claims no rows, and why it is degraded."""

    standing: "WorkflowStatus"
    hold: "Hold | None"
    state: str
    last_run: "Run | None"
    problems: list[str]


def status(as_json: AsJson = False) -> None:
    """Show the queue, rate, failures and state of every workflow, and the workers.

    The state is running, paused, breaker (too many rows failed), held back (the next queue is full) or no worker;
    sentences below the table tell more. Rates and errors are those of the last fifteen minutes. A workflow is degraded
    if its breaker is not closed, if a row has been ready for longer than its limit, or if rows are ready and no worker
    is running.

    Example: scrapersky status --json

    Exit codes: 0 no workflow is degraded, 1 one is, 2 wrong setting or database error.
    """
    reports, workers, hidden, cooldowns = run_async(_read())
    degraded = [report.standing.workflow.name for report in reports if report.problems]
    if as_json:
        print_json(
            {
                "workflows": [_as_json(report) for report in reports],
                "workers": [{name: getattr(worker, name) for name in WORKER_FIELDS} for worker in workers],
                "degraded": degraded,
                "hidden_sites": hidden,
                "cooldowns": [{name: getattr(each, name) for name in COOLDOWN_FIELDS} for each in cooldowns],
            }
        )
    else:
        print_table(HEADINGS, [_cells(report) for report in reports])
        for sentence in (
            *_worker_lines(workers),
            *_hold_lines(reports),
            *_cooldown_lines(cooldowns),
            *_problem_lines(reports),
            *filter(None, [describe_hidden_sites(hidden)]),
        ):
            print_sentence(sentence)
    raise typer.Exit(1 if degraded else 0)


async def _read() -> "tuple[list[WorkflowReport], list[Worker], dict[str, int], list[ProviderCooldown]]":
    from scrapersky.store.line import hidden_sites
    from scrapersky.store.operations import controls, hosts_at_rest, runs, workflow_status

    async with opened() as application, application.database.engine_session() as session:
        workers = await controls.workers(session)
        reports = []
        for standing in (await workflow_status.of_engine(session, application.pipeline)).workflows:
            name = standing.workflow.name
            latest = await runs.page(session, workflows=[name], limit=1)
            problems = _problems(standing, application.tunings[name], workers)
            hold = controls.hold_of(standing.control)
            throttle = standing.control.max_per_minute if standing.control else 0
            running = f"max {throttle}/min" if throttle else "running"
            state = hold.state if hold else running if workers else "no worker"
            reports.append(WorkflowReport(standing, hold, state, latest[0] if latest else None, problems))
        hidden = await hidden_sites.of_all_tenants(session)
        return reports, workers, hidden, await hosts_at_rest.cooldowns(session)


def _problems(standing: "WorkflowStatus", tuning: "Tuning", workers: "Sequence[Worker]") -> list[str]:
    from scrapersky.engine.breaker import CLOSED

    control, measures = standing.control, standing.measures
    problems = []
    if control is not None and control.breaker != CLOSED:
        problems.append(f"its breaker is {control.breaker}")
    if measures.oldest_seconds > tuning.oldest_age_limit_seconds:
        problems.append(
            f"a row has been ready for {format_seconds(measures.oldest_seconds)},"
            f" the limit is {format_seconds(tuning.oldest_age_limit_seconds)}"
        )
    if measures.ready and not workers:
        problems.append("rows are ready and no worker is running")
    return problems


def _cells(report: WorkflowReport) -> list[object]:
    measures, recent = report.standing.measures, report.standing.recent
    return [
        report.standing.workflow.name,
        *(format_count(count) for count in (measures.ready, measures.waiting, measures.processing, measures.dead)),
        format_seconds(measures.oldest_seconds) if measures.ready else "-",
        f"{recent.rate_per_minute:.1f}"
        if recent.rate_per_minute < 1_000
        else format_count(round(recent.rate_per_minute)),
        "-" if recent.error_rate is None else f"{recent.error_rate:.0%}",
        report.state,
    ]


def _as_json(report: WorkflowReport) -> dict[str, Any]:
    from scrapersky.engine.breaker import CLOSED

    standing, control, run = report.standing, report.standing.control, report.last_run
    return {
        "name": standing.workflow.name,
        "number": standing.workflow.number,
        **asdict(standing.measures),
        "rate_per_minute": round(standing.recent.rate_per_minute, 3),
        "error_rate": standing.recent.error_rate,
        "p50_seconds": standing.recent.p50_seconds,
        "p95_seconds": standing.recent.p95_seconds,
        "state": report.state,
        "paused": control is not None and control.paused_at is not None,
        "paused_by": control.paused_by if control else None,
        "pause_reason": control.pause_reason if control else None,
        "breaker": control.breaker if control else CLOSED,
        "breaker_reason": control.breaker_reason if control else None,
        "breaker_until": control.breaker_until if control else None,
        "held_by": control.held_by if control else None,
        "max_per_minute": control.max_per_minute if control else 0,
        "last_run": {name: getattr(run, name) for name in RUN_FIELDS} if run else None,
        "problems": report.problems,
    }


def _worker_lines(workers: "Sequence[Worker]") -> list[str]:
    if not workers:
        return ["No worker is running: none has reported within 30 seconds. `scrapersky worker` starts one."]
    return [f"{worker.host} {worker.pid} has been running for {format_age(worker.started_at)}." for worker in workers]


def _hold_lines(reports: Sequence[WorkflowReport]) -> list[str]:
    return [describe_hold(report.hold) for report in reports if report.hold]


def _cooldown_lines(cooldowns: "Sequence[ProviderCooldown]") -> list[str]:
    return [
        f"The provider {each.name.partition(' ')[0]} is not called until {each.until.astimezone():%H:%M:%S}, "
        f"its rows wait: {each.reason}"
        for each in cooldowns
    ]


def _problem_lines(reports: Sequence[WorkflowReport]) -> list[str]:
    degraded = (report for report in reports if report.problems)
    return [f"Degraded: {report.standing.workflow.name}: {'; '.join(report.problems)}." for report in degraded]
