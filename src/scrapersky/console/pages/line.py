"""The line: the state of each step; pause, resume and run it."""

from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.operations import workflows
from scrapersky.api.operations.workflows import Pause, WorkflowState
from scrapersky.api.schemas.fields import WorkflowName
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import GRIDS
from scrapersky.console.gates import CurrentPage, SentForm
from scrapersky.store.steps import steps_of

HERE = f"{CONSOLE}/line"


async def show(asked: CurrentPage) -> Response:
    """Draw the nine steps."""
    found = await workflows.list_workflows(asked.application, asked.actor)
    return page(asked, "line.html", steps=found.items, path_of_rows=path_of_rows)


async def pause(name: WorkflowName, asked: CurrentPage, form: SentForm) -> Response:
    """Pause a step on all hosts."""
    reason = form.get("reason")
    await workflows.pause_workflow(name, asked.application, asked.actor, Pause(reason=reason) if reason else None)
    return redirect(asked, HERE, f"{name} is paused: rows in flight are finished, no further rows are claimed.")


async def resume(name: WorkflowName, asked: CurrentPage) -> Response:
    """Resume a step on all hosts, and close its breaker."""
    await workflows.resume_workflow(name, asked.application, asked.actor)
    return redirect(asked, HERE, f"{name} runs again.")


async def run(name: WorkflowName, asked: CurrentPage) -> Response:
    """Let all hosts poll the queue of a step now."""
    done = await workflows.run_workflow(name, asked.application, asked.actor)
    seen = (
        f"{done.workers:,} workers were notified."
        if done.workers
        else "No worker runs: start one with serve or worker."
    )
    return redirect(asked, HERE, f"{name}: {seen}")


def path_of_rows(step: WorkflowState, status: str) -> str | None:
    """Return the list of a step's rows in this status; None if the noun has no list."""
    for grid in GRIDS.values():
        for one in steps_of(grid.api.resource.model):
            if one.workflow == step.name:
                return f"{CONSOLE}/{grid.name}?{one.queue}_status={status}"
    return None
