"""What needs attention: the line on top of every page of the operator tenant, and what keeps steps from running."""

from collections.abc import Sequence

from fastapi import Request

from scrapersky.api.dependencies import WebApplication
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.console.fresh import fresh
from scrapersky.console.language import mark
from scrapersky.store.operations import alarms, controls
from scrapersky.store.operations.alarms import ActiveAlarm
from scrapersky.store.operations.controls import Hold
from scrapersky.store.steps import STEPS

FRESH_SECONDS, WORKER_SECONDS = 5.0, 1.0
NO_WORKER = mark("waits for a worker: none runs")
QUEUE = f"{CONSOLE}/queues/{{subject}}"
# The page that shows more about an alarm, by its kind.
OF_STEPS = {
    "breaker_open": QUEUE,
    "rows_stuck": f"{QUEUE}?section=processing",
    "queue_age_exceeded": f"{QUEUE}?section=ready",
}
OF_SYSTEM = {"no_worker": f"{CONSOLE}/system#workers", "provider_failing": f"{CONSOLE}/system#providers"}


async def active_alarms(request: Request, application: WebApplication) -> Sequence[ActiveAlarm]:
    """Return the alarms that have not ended, the worst first; read every few seconds at most."""

    async def read() -> Sequence[ActiveAlarm]:
        async with application.database.engine_connection() as connection:
            return await alarms.active(connection)

    return await fresh(request, "alarms", FRESH_SECONDS, read)


async def has_worker(request: Request, application: WebApplication) -> bool:
    """Return whether any process works on the queues: without one no step runs."""

    async def read() -> bool:
        async with application.database.engine_session() as session:
            return await controls.has_worker(session)

    return await fresh(request, "worker", WORKER_SECONDS, read)


async def held_steps(request: Request, application: WebApplication) -> Sequence[Hold]:
    """Return the steps of the line that claim no rows, and why; all of them if no process works on the queues."""

    async def read() -> Sequence[Hold]:
        names = [step.workflow for step in STEPS]
        async with application.database.engine_session() as session:
            if not await controls.has_worker(session):
                return [Hold(name, "no worker", NO_WORKER, is_resumable=False) for name in names]
            return await controls.holds(session, names)

    return await fresh(request, "holds", FRESH_SECONDS, read)


def is_of_step(alarm: ActiveAlarm) -> bool:
    """Return whether the subject of an alarm is a step."""
    return alarm.kind in OF_STEPS


def alarm_path(alarm: ActiveAlarm, may_control: bool) -> str:
    """Return the page that shows more about an alarm; that of the system is for people who may see it."""
    pages = {**OF_STEPS, **OF_SYSTEM} if may_control else OF_STEPS
    return pages.get(alarm.kind, f"{CONSOLE}/line").format(subject=alarm.subject)
