"""The line: searches under way and the state of each step; pause, resume and run a step."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar
from urllib.parse import urlencode

from starlette.responses import Response

from scrapersky.api.accounts import quotas
from scrapersky.api.accounts.quotas import QuotaSummary
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.operations import runs, workflows
from scrapersky.api.operations.workflows import Pause, RunRequested, WorkflowState
from scrapersky.api.schemas.fields import WorkflowName
from scrapersky.console.alarms import has_worker
from scrapersky.console.answers import page, redirect
from scrapersky.console.forms import SentFields, explain
from scrapersky.console.fresh import forget, fresh
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.language import counted, mark
from scrapersky.console.language import gettext as _
from scrapersky.console.pages.line.searches import choose_path, found_rows
from scrapersky.core import clock
from scrapersky.core.errors import Conflict
from scrapersky.store.operations import controls
from scrapersky.store.searches import under_way
from scrapersky.store.searches.under_way import OpenSearch

HERE = f"{CONSOLE}/line"
Result = TypeVar("Result")
STEPS_SECONDS, FOOT_SECONDS = 1.0, 10.0
SPARK_MINUTES, SPARK_BARS = 60, 30
# The numbers of a step: the field of its depth, the section of its queue, and the heading.
NUMBERS = (
    ("ready", "ready", mark("ready")),
    ("waiting", "waiting", mark("waiting")),
    ("processing", "processing", mark("working")),
    ("dead", "error", mark("dead")),
)


@dataclass(frozen=True)
class Foot:
    """What the steps need: workers, the database, and the quotas of the tenant."""

    workers: int | None  # None for people of other tenants
    hosts: int
    database_seconds: float
    quotas: Mapping[str, QuotaSummary]


async def show(asked: CurrentPage) -> Response:
    """Draw the searches under way and the steps."""
    request, actor = asked.request, asked.actor
    scope = "operators" if actor.is_operator else actor.tenant_id
    steps = await fresh(request, ("steps", scope), STEPS_SECONDS, lambda: _steps(asked))
    with_worker = await has_worker(request, asked.application)
    searches = await fresh(request, ("searches", actor.tenant_id), STEPS_SECONDS, lambda: _searches(asked))
    foot = await fresh(request, ("foot", scope, actor.tenant_id), FOOT_SECONDS, lambda: _foot(asked))
    return page(
        asked,
        "line.html",
        steps=steps,
        searches=searches,
        sparks=await _sparks(asked) if asked.may_control else None,
        has_worker=with_worker,
        foot=foot,
        numbers=NUMBERS,
        section_path=section_path,
        choose_path=choose_path,
        found_rows=found_rows,
        seconds_left=seconds_left,
        standing={step.name for step in steps if step.paused or step.breaker != "closed" or not with_worker},
    )


async def pause(name: WorkflowName, asked: CurrentPage, form: SentForm) -> Response:
    """Pause a step on all hosts."""
    reason = form.get("reason")
    said = _("%(name)s is paused: rows in flight are finished, no further rows are claimed.") % {"name": name}
    body = Pause(reason=reason) if reason else None
    return await _do(asked, form, workflows.pause_workflow(name, asked.application, asked.actor, body), lambda _: said)


async def resume(name: WorkflowName, asked: CurrentPage, form: SentForm) -> Response:
    """Resume a step on all hosts, and close its breaker."""
    said = _("%(name)s runs again.") % {"name": name}
    return await _do(asked, form, workflows.resume_workflow(name, asked.application, asked.actor), lambda _: said)


async def run(name: WorkflowName, asked: CurrentPage, form: SentForm) -> Response:
    """Let all hosts poll the queue of a step now."""

    def say(done: RunRequested) -> str:
        one, many = "%(count)s worker was notified.", "%(count)s workers were notified."
        seen = (
            counted(one, many, done.workers) if done.workers else _("No worker runs: start one with serve or worker.")
        )
        return f"{name}: {seen}"

    return await _do(asked, form, workflows.run_workflow(name, asked.application, asked.actor), say)


def section_path(step: WorkflowState, section: str) -> str:
    """Return the list of a step's rows in a section of its queue."""
    return f"{CONSOLE}/queues/{step.name}?{urlencode({'section': section})}"


def seconds_left(step: WorkflowState) -> float | None:
    """Return how long the ready rows take at the present rate; None without rows or without a rate."""
    return step.depth.ready / step.rate_per_minute * 60 if step.depth.ready and step.rate_per_minute else None


async def _do(
    asked: PageRequest, form: SentFields, action: Awaitable[Result], say: Callable[[Result], str]
) -> Response:
    """Do something to a step, and say on the page before what was done, or what another person has done meanwhile."""
    try:
        notice = say(await action)
    except Conflict as error:
        notice = explain(error)
    forget(asked.request)
    return redirect(asked, own_path(form.get("back") or HERE), notice)


async def _steps(asked: PageRequest) -> Sequence[WorkflowState]:
    return (await workflows.list_workflows(asked.application, asked.actor)).items


async def _searches(asked: PageRequest) -> Sequence[OpenSearch]:
    async with asked.application.database.session(asked.actor.tenant_id) as session:
        return await under_way.under_way(session, asked.actor.tenant_id)


async def _sparks(asked: PageRequest) -> Mapping[str, list[int]]:
    """Return the finished rows of each step in the last hour, in intervals of two minutes."""
    now = clock.now()
    series = await runs.get_run_series(asked.application, now - timedelta(minutes=SPARK_MINUTES - 1), "1m", None)
    per_bar = SPARK_MINUTES // SPARK_BARS
    sparks: dict[str, list[int]] = {}
    for point in series.items:
        bars = sparks.setdefault(point.workflow, [0] * SPARK_BARS)
        place = int((point.at - series.since).total_seconds() // 60) // per_bar
        bars[min(place, SPARK_BARS - 1)] += point.completed + point.skipped + point.failed
    return sparks


async def _foot(asked: PageRequest) -> Foot:
    application, actor = asked.application, asked.actor
    used = await quotas.get_quotas(application, actor)
    by_name = {one.quota: one for one in used.items}
    if not actor.is_operator:
        return Foot(None, 0, 0.0, by_name)
    async with application.database.engine_session() as session:
        seconds = await controls.round_trip_seconds(session)
        seen = await controls.workers(session)
    return Foot(len(seen), len({worker.host for worker in seen}), seconds, by_name)
