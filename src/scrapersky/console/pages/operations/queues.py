"""The queue of a step: its pace and its breaker, its outcomes over time, and its rows section by section."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.operations import queue_items, runs, workflows
from scrapersky.api.operations.queue_items import QueueItem, ReleaseRequest, RetryRequest, SectionName
from scrapersky.api.operations.runs import BUCKETS, Bucket, RunPoint
from scrapersky.api.operations.workflows import WorkflowState
from scrapersky.api.resources.rows import list_page
from scrapersky.api.schemas.fields import ResultPage, WorkflowName
from scrapersky.api.schemas.listing import ListQuery
from scrapersky.api.searches.searches import SEARCHES, SearchSummary
from scrapersky.console.alarms import has_worker
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import GRIDS
from scrapersky.console.draw.charts import Chart, ChartMark
from scrapersky.console.draw.words import duration
from scrapersky.console.forms import BadForm, SentFields
from scrapersky.console.fresh import forget, fresh
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.language import counted, mark
from scrapersky.console.language import gettext as _
from scrapersky.console.pages.operations.line import STEPS_SECONDS, seconds_left
from scrapersky.core import clock
from scrapersky.core.errors import Conflict, UnknownName
from scrapersky.store.operations import queue_rows

HERE = f"{CONSOLE}/queues"
SEARCHES_OFFERED = 30
SKIPPED_CAP = 10_000  # skipped rows are counted up to this number
OUTCOMES = tuple(map(mark, ("done", "skipped", "again", "failed", "later")))
PATH_OF = {**{name: f"{CONSOLE}/{name}" for name in GRIDS}, "searches": f"{CONSOLE}/searches"}


@dataclass(frozen=True)
class QueueSection:
    """A part of a queue: its name, its heading, and the field of the depth that counts its rows."""

    name: SectionName
    label: str
    counted: str
    empty: str


SECTIONS = (
    QueueSection("processing", mark("works"), "processing", mark("No worker processes a row of this step now.")),
    QueueSection("ready", mark("ready"), "ready", mark("No row waits to be claimed.")),
    QueueSection("waiting", mark("waits"), "waiting", mark("No row waits for a later time.")),
    QueueSection("error", mark("dead"), "dead", mark("No row has failed for good.")),
    QueueSection("skipped", mark("skipped"), "skipped", mark("No row was skipped.")),
)


@dataclass(frozen=True)
class Period:
    """How far a chart goes back, in which intervals, and how often the axis has a label."""

    name: str
    length: timedelta
    bucket: Bucket
    label_every: timedelta
    label: str  # the format of a label


PERIODS = {
    period.name: period
    for period in (
        Period("1h", timedelta(hours=1), "1m", timedelta(minutes=10), "%H:%M"),
        Period("24h", timedelta(hours=24), "15m", timedelta(hours=3), "%H:%M"),
        Period("7d", timedelta(days=7), "6h", timedelta(days=1), "%d %b"),
    )
}


@dataclass(frozen=True)
class QueueView:
    """What the address of a queue's page says."""

    step: WorkflowState
    section: QueueSection
    period: Period
    search_id: UUID | None
    is_all: bool  # the rows of all tenants, as the numbers of the line count them

    def address(self, **changes: str | None) -> str:
        """Return the address of this page with other fields; None removes one."""
        fields = {
            "section": self.section.name,
            "period": self.period.name if self.period.name != "1h" else None,
            "search_id": str(self.search_id) if self.search_id else None,
            "of": None if self.is_all or self.search_id else "own",
            **changes,
        }
        return f"{HERE}/{self.step.name}?{urlencode({name: value for name, value in fields.items() if value})}"


async def show_first(asked: CurrentPage) -> Response:
    """Redirect to the step with the most failed rows, else rows in flight, else waiting rows."""
    steps = (await workflows.list_workflows(asked.application, asked.actor)).items
    first = max(steps, key=lambda step: (step.depth.dead > 0, step.depth.processing > 0, step.depth.ready > 0))
    return redirect(asked, f"{HERE}/{first.name}")


async def show(name: WorkflowName, asked: CurrentPage) -> Response:
    """Draw the queue of a step."""
    scope = "operators" if asked.actor.is_operator else asked.actor.tenant_id
    steps = await fresh(asked.request, ("steps", scope), STEPS_SECONDS, lambda: _steps(asked))
    view = _view(asked, name, steps)
    is_part = "console-part" in asked.request.headers
    listing = await _rows(asked, view)
    context: dict[str, Any] = {"charts": [], "searches": []}
    if not is_part:
        context["searches"] = await _searches(asked)
        if asked.may_control:
            context["charts"] = await _charts(asked, view)
    sections = [one for one in SECTIONS if one.name != "skipped" or not view.is_all]
    return page(
        asked,
        "queue.html",
        view=view,
        step=view.step,
        steps=steps,
        sections=sections,
        counts=await _counts(asked, view),
        listing=listing,
        periods=PERIODS,
        path_of=PATH_OF,
        seconds_left=seconds_left,
        has_worker=await has_worker(asked.request, asked.application),
        **context,
    )


async def release(name: WorkflowName, asked: CurrentPage, form: SentForm) -> Response:
    """Queue rows in flight again, for a worker that hangs."""
    ids = _ids(form)
    if not ids:
        return _nothing(asked, form, name)
    try:
        done = await queue_items.release_items(name, ReleaseRequest(ids=ids), asked.application, asked.actor)
    except queue_items.NothingToRelease:
        return _back(asked, form, name, _("No row was released: they are not in flight any more."))
    one, many = "Released %(count)s row: it is queued again.", "Released %(count)s rows: they are queued again."
    return _back(asked, form, name, counted(one, many, done.released))


async def retry(name: WorkflowName, asked: CurrentPage, form: SentForm) -> Response:
    """Queue failed or skipped rows again."""
    ids = _ids(form)
    if not ids:
        return _nothing(asked, form, name)
    try:
        done = await queue_items.retry_items(name, RetryRequest(ids=ids), asked.application, asked.actor)
    except Conflict as error:
        return _back(asked, form, name, _("No row was queued: %(why)s") % {"why": _(str(error))})
    notice = counted("Queued %(count)s row again.", "Queued %(count)s rows again.", done.retried)
    return _back(asked, form, name, notice)


def _view(asked: PageRequest, name: str, steps: Sequence[WorkflowState]) -> QueueView:
    """Read the address. Raises UnknownName."""
    step = next((one for one in steps if one.name == name), None)
    if step is None:
        raise UnknownName(_("There is no step %(name)s.") % {"name": name})
    sent = asked.request.query_params
    try:
        search_id = UUID(sent["search_id"]) if sent.get("search_id") else None
    except ValueError:
        raise UnknownName(_("The address holds something that is not an id of a search.")) from None
    is_all = asked.actor.is_operator and sent.get("of") != "own" and search_id is None
    known = {one.name: one for one in SECTIONS if one.name != "skipped" or not is_all}
    wanted: Any = sent.get("section", "")
    section = known.get(wanted) or next((one for one in known.values() if _depth(step, one)), SECTIONS[0])
    return QueueView(step, section, PERIODS.get(sent.get("period", ""), PERIODS["1h"]), search_id, is_all)


def _depth(step: WorkflowState, section: QueueSection) -> int:
    return int(getattr(step.depth, section.counted, 0))


async def _steps(asked: PageRequest) -> Sequence[WorkflowState]:
    return (await workflows.list_workflows(asked.application, asked.actor)).items


async def _rows(asked: PageRequest, view: QueueView) -> ResultPage[QueueItem]:
    return await queue_items.list_items(
        view.step.name,
        asked.application,
        asked.actor,
        None,
        view.section.name,
        view.search_id,
        view.is_all,
        asked.request.query_params.get("cursor") or None,
        50,
    )


async def _searches(asked: PageRequest) -> Sequence[SearchSummary]:
    """Return the searches that changed last, for the filter."""
    query = ListQuery(sort="-updated_at", limit=SEARCHES_OFFERED)
    return (await list_page(asked.application, asked.actor, SEARCHES.resource, SearchSummary, query)).items


async def _counts(asked: PageRequest, view: QueueView) -> dict[str, int] | None:
    """Return the number of rows in each section; none for the rows of a search, which nobody counts."""
    if view.search_id is not None:
        return None
    if view.is_all:
        return {one.name: _depth(view.step, one) for one in SECTIONS}
    application, tenant_id = asked.application, asked.actor.tenant_id
    workflow = application.pipeline[view.step.name]
    async with application.database.session(tenant_id) as session:
        skipped = await queue_rows.section_count(session, workflow, tenant_id, "skipped", SKIPPED_CAP + 1)
    step = view.step
    if asked.actor.is_operator:  # the step counts all tenants; here only one is listed
        step = await _own_state(asked, step)
    return {**{one.name: _depth(step, one) for one in SECTIONS}, "skipped": skipped}


async def _own_state(asked: PageRequest, step: WorkflowState) -> WorkflowState:
    return await workflows.get_workflow(step.name, asked.application, replace(asked.actor, is_operator=False))


async def _charts(asked: PageRequest, view: QueueView) -> list[tuple[Chart, str]]:
    """Return what became of rows over time, and how long a row took."""
    period = view.period
    interval = BUCKETS[period.bucket]
    since = clock.now() - period.length + interval
    series = await runs.get_run_series(asked.application, since, period.bucket, view.step.name)
    points = {point.at: point for point in series.items}
    starts = [series.since + n * interval for n in range(int(period.length / interval))]
    rows = [_mark(view, at, points.get(at), _outcomes) for at in starts]
    seconds = [_mark(view, at, points.get(at), _seconds) for at in starts]
    return [
        (Chart(_("Rows and what became of them · times in UTC"), OUTCOMES, tuple(rows)), "bars"),
        (Chart(_("Time a row takes"), ("p50", "p95"), tuple(seconds), written=duration), "lines"),
    ]


def _mark(view: QueueView, at: datetime, point: RunPoint | None, values: Any) -> ChartMark:
    end = at + BUCKETS[view.period.bucket]
    query = {"workflow": view.step.name, "since": f"{at:%Y-%m-%dT%H:%M:%SZ}", "until": f"{end:%Y-%m-%dT%H:%M:%SZ}"}
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    is_labelled = (at - midnight) % view.period.label_every == timedelta(0)
    label = f"{at:%H:%M}" if view.period.name == "1h" else f"{at.day} {at:%b %H:%M}"
    tick = at.strftime(view.period.label).lstrip("0") if view.period.name == "7d" else at.strftime(view.period.label)
    return ChartMark(label, values(point), f"{CONSOLE}/runs?{urlencode(query)}", tick if is_labelled else "")


def _outcomes(point: RunPoint | None) -> tuple[float | None, ...]:
    if point is None:
        return (0,) * len(OUTCOMES)
    return (point.completed, point.skipped, point.retried, point.failed, point.postponed)


def _seconds(point: RunPoint | None) -> tuple[float | None, ...]:
    return (point.p50_seconds, point.p95_seconds) if point else (None, None)


def _ids(form: SentFields) -> list[UUID]:
    try:
        return [UUID(one) for one in form.all("id")]
    except ValueError:
        raise BadForm(_("Choose rows of the list.")) from None


def _nothing(asked: PageRequest, form: SentFields, name: str) -> Response:
    return _back(asked, form, name, _("No row was selected: tick the boxes of the rows first."))


def _back(asked: PageRequest, form: SentFields, name: str, notice: str) -> Response:
    forget(asked.request)
    return redirect(asked, own_path(form.get("back") or f"{HERE}/{name}"), notice)
