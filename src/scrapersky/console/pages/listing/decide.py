"""Decisions about rows: some, or all that match; undo; queue and retry; the list as a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

from starlette.responses import Response

from scrapersky.actions.curation import DecidedMeanwhile
from scrapersky.api.downloads import FileFormat
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line.find import list_providers
from scrapersky.api.line.undo import ActionId, UndoResult, undo_curation_action
from scrapersky.api.operations import queue_items
from scrapersky.api.operations.queue_items import NothingToRetry, QueueRequest, RetryRequest
from scrapersky.api.resources.curation import MAX_ROWS, CurateIds, CurateMatching, CurationResult, curate
from scrapersky.api.resources.models import set_filters
from scrapersky.api.resources.rows import rows_with_ids
from scrapersky.api.schemas.jobs import JobSummary
from scrapersky.api.transfer.exports import export_rows
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import GRIDS, Grid
from scrapersky.console.draw.words import step_label
from scrapersky.console.forms import BadForm, SentFields, explain
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.grid_layout import read_layout
from scrapersky.console.language import counted, counted_each
from scrapersky.console.language import gettext as _
from scrapersky.console.pages.listing.filters import Chip, chips, reference_names
from scrapersky.console.pages.listing.grid import list_filter
from scrapersky.core import clock
from scrapersky.core.vocabularies import Curation
from scrapersky.store.listing import paginate, shown
from scrapersky.store.listing.labels import labels
from scrapersky.store.listing.shown import CountChanged, Effects, Shown

MAX_REDRAWN = 60  # rows that are drawn again after a decision
PAID_STEP = "deep_scan"  # the step that asks a provider


@dataclass(frozen=True)
class SentRows:
    """The rows of a form, and the decision of each as it was shown."""

    ids: Sequence[UUID]
    seen: dict[UUID, Curation]


@dataclass(frozen=True)
class Matching:
    """All rows that match: the filter in words, how many there are, and what a decision would do to them."""

    grid: Grid
    query: str  # of the address
    chips: Sequence[Chip]
    effects: Effects
    as_of: datetime
    excluded: Sequence[UUID] = ()
    costs: Sequence[tuple[str, str]] = ()  # the providers that may be paid, each with its price in words

    @property
    def is_job(self) -> bool:
        """Whether a job would change the rows."""
        return self.effects.matched > MAX_ROWS


def sent_rows(form: SentFields, name: str = "id") -> SentRows:
    """Read the rows of a form: an id each, with the decision that was shown after a space. Raises BadForm."""
    ids, seen = [], {}
    try:
        for value in form.all(name):
            row_id, _space, decision = value.partition(" ")
            ids.append(UUID(row_id))
            if decision:
                seen[ids[-1]] = Curation(decision)
    except ValueError:
        raise BadForm(_("The form holds something that is not a row. Open the list again.")) from None
    return SentRows(ids, seen)


async def decide(asked: PageRequest, grid: Grid, form: SentFields) -> Response:
    """Store a decision about the rows of the form, and lead back to the page it was sent from."""
    back = own_path(form.get("back") or f"{CONSOLE}/{grid.name}")
    rows, decision = sent_rows(form), _decision(form)
    if not rows.ids:
        return redirect(asked, back, _("No row was selected: tick the boxes of the rows first."))
    body = CurateIds(ids=list(rows.ids), curation_status=decision, seen=rows.seen)
    try:
        answer = await curate(asked.application, asked.actor, grid.api.resource, body, None)
    except DecidedMeanwhile as error:
        return await _show_both(asked, grid, rows, decision, error, back)
    done = CurationResult.model_validate_json(bytes(answer.body))
    if not done.matched:
        raise paginate.UnknownRow(_("You have none of these rows: they may have been deleted meanwhile."))
    notice = _sentence(grid, decision, done)
    if asked.part:
        return await _redraw(asked, grid, rows.ids, notice, done.action_id)
    return redirect(asked, back, notice, done.action_id)


async def show_matching(asked: PageRequest, grid: Grid) -> Response:
    """Draw the question before a decision about all matching rows: the filter in words and the exact number."""
    return await _ask(asked, grid, ())


async def decide_matching(asked: PageRequest, grid: Grid, form: SentFields) -> Response:
    """Store a decision about all rows that match and were shown, but those taken out.

    Without a decision the question is drawn; if others match now, with the new number.
    """
    excluded = sent_rows(form, "except").ids
    if not form.get("curation_status"):
        return await _ask(asked, grid, excluded)
    try:
        body = CurateMatching.model_validate(
            {
                "filter": list_filter(grid, asked),
                "curation_status": _decision(form),
                "expected": int(form.get("expected")),
                "as_of": form.get("as_of"),
                "except": excluded,
            }
        )
    except ValueError:
        raise BadForm(_("Choose one of the decisions New, Selected, Maybe, Not a Fit, Archived.")) from None
    try:
        answer = await curate(asked.application, asked.actor, grid.api.resource, body, None)
    except CountChanged as error:
        return await _ask(asked, grid, excluded, explain(error), error.status_code)
    back = f"{CONSOLE}/{grid.name}?{asked.request.url.query}".rstrip("?")
    if answer.status_code == HTTPStatus.ACCEPTED:
        job = JobSummary.model_validate_json(bytes(answer.body))
        sentence = counted(
            "A job sets %(count)s row to %(decision)s.",
            "A job sets %(count)s rows to %(decision)s.",
            body.expected or 0,
            decision=_(body.curation_status),
        )
        return redirect(asked, back, sentence, job.id, is_job=True)
    done = CurationResult.model_validate_json(bytes(answer.body))
    return redirect(asked, back, _sentence(grid, body.curation_status, done), done.action_id)


async def undo(action_id: ActionId, asked: CurrentPage, form: SentForm) -> Response:
    """Restore the rows of a decision about which nobody has decided since."""
    answer = await undo_curation_action(action_id, asked.application, asked.actor)
    back = own_path(form.get("back"))
    if answer.status_code == HTTPStatus.ACCEPTED:
        return redirect(asked, back, _("A job restores the rows; it takes a while."), is_job=True)
    notice = _undone(UndoResult.model_validate_json(bytes(answer.body)))
    grid = GRIDS.get(form.get("noun"))
    if asked.part and grid:
        return await _redraw(asked, grid, sent_rows(form).ids, notice, None)
    return redirect(asked, back, notice)


async def queue(asked: PageRequest, grid: Grid, form: SentFields) -> Response:
    """Queue the rows of the form for a step of the noun, or retry those that failed or were skipped."""
    back = own_path(form.get("back") or f"{CONSOLE}/{grid.name}")
    act, _space, workflow = form.get("act").partition(" ")
    if act not in ("queue", "retry") or workflow not in {step.workflow for step in grid.api.resource.steps}:
        raise BadForm(_("Choose a step of these rows to queue or to retry."))
    ids = list(sent_rows(form).ids)
    if not ids:
        return redirect(asked, back, _("No row was selected: tick the boxes of the rows first."))
    notice = await (_queue if act == "queue" else _retry)(asked, workflow, ids)
    if asked.part:
        return await _redraw(asked, grid, ids, notice, None)
    return redirect(asked, back, notice)


async def export(asked: PageRequest, grid: Grid, ending: FileFormat) -> Response:
    """Stream the list as it is filtered."""
    filters = set_filters(list_filter(grid, asked), grid.api.resource)
    return await export_rows(asked.application, asked.actor, grid.api.resource, filters, ending)


async def _queue(asked: PageRequest, workflow: str, ids: list[UUID]) -> str:
    done = await queue_items.queue_items(workflow, QueueRequest(ids=ids, priority=None), asked.application, asked.actor)
    return counted_each(
        counted(
            "Queued %(count)s row for %(step)s.",
            "Queued %(count)s rows for %(step)s.",
            done.queued,
            step=step_label(workflow),
        ),
        (done.already, "%(count)s was queued already.", "%(count)s were queued already."),
    )


async def _retry(asked: PageRequest, workflow: str, ids: list[UUID]) -> str:
    try:
        done = await queue_items.retry_items(workflow, RetryRequest(ids=ids), asked.application, asked.actor)
    except NothingToRetry as error:
        return explain(error)
    one, many = "%(count)s row is tried again for %(step)s.", "%(count)s rows are tried again for %(step)s."
    return counted_each(
        counted(one, many, done.retried, step=step_label(workflow)),
        (len(done.refused), "%(count)s was neither failed nor skipped.", "%(count)s were neither failed nor skipped."),
    )


async def _redraw(asked: PageRequest, grid: Grid, ids: Sequence[UUID], notice: str, action_id: UUID | None) -> Response:
    """Draw the notice and the rows as they are now, for a page that is open."""
    api = grid.api
    rows = await rows_with_ids(
        asked.application, asked.actor, api.resource, api.summary, ids[:MAX_REDRAWN], api.complete
    )
    context: dict[str, Any] = {
        "rows": [api.mask(row, asked.actor) for row in rows],
        "layout": read_layout(asked.preferences, grid),
    }
    return page(asked, "changed.html", grid=grid, notice=notice, action_id=action_id, **context)


async def matching_rows(asked: PageRequest, grid: Grid, excluded: Sequence[UUID]) -> Matching:
    """Count the rows that match the address but those taken out, and what a decision would do to them."""
    resource, tenant_id = grid.api.resource, asked.actor.tenant_id
    filters = set_filters(list_filter(grid, asked), resource)
    as_of = clock.now()
    async with asked.application.database.session(tenant_id) as session:
        effects = await shown.effects(session, resource, tenant_id, filters, Shown(as_of, None, tuple(excluded)))
    fields = [pair for pair in asked.request.query_params.multi_items() if pair[1]]
    words = chips(resource, fields, f"{CONSOLE}/{grid.name}", await reference_names(asked, fields))
    providers = (await list_providers(asked.application, asked.actor)).items if effects.queued.get(PAID_STEP) else []
    costs = [(one.label, one.cost) for one in providers if one.is_configured and one.cost != "nothing"]
    return Matching(grid, asked.request.url.query, words, effects, as_of, excluded, costs)


async def _ask(
    asked: PageRequest, grid: Grid, excluded: Sequence[UUID], problem: str = "", status: int = HTTPStatus.OK
) -> Response:
    matching = await matching_rows(asked, grid, excluded)
    return page(asked, "decide_matching.html", status, matching=matching, problem=problem)


async def _show_both(
    asked: PageRequest, grid: Grid, rows: SentRows, decision: Curation, error: DecidedMeanwhile, back: str
) -> Response:
    """Draw both decisions about the rows that somebody else has decided about meanwhile."""
    async with asked.application.database.session(asked.actor.tenant_id) as session:
        names = await labels(session, grid.api.resource.model.__tablename__, list(error.rows))
    both = [(names[row_id].name if row_id in names else "", seen, now) for row_id, (seen, now) in error.rows.items()]
    now = {**rows.seen, **{row_id: after for row_id, (_seen, after) in error.rows.items()}}
    again = [f"{row_id} {now[row_id]}" if row_id in now else str(row_id) for row_id in rows.ids]
    context = {"grid": grid, "both": both, "again": again, "decision": decision}
    return page(asked, "decided_meanwhile.html", error.status_code, back=back, **context)


def _decision(form: SentFields) -> Curation:
    try:
        return Curation(form.get("curation_status"))
    except ValueError:
        raise BadForm(_("Choose rows and one of the decisions New, Selected, Maybe, Not a Fit, Archived.")) from None


def _sentence(grid: Grid, decision: Curation, done: CurationResult) -> str:
    noun, words = grid.api.singular if done.matched == 1 else grid.name, "%(count)s %(noun)s: %(decision)s."
    return counted_each(
        counted(words, words, done.matched, noun=_(noun), decision=_(decision)),
        (done.queued, "Queued the next step of %(count)s.", "Queued the next step of %(count)s."),
        (done.withdrawn, "Withdrew the queued work of %(count)s.", "Withdrew the queued work of %(count)s."),
        (done.unknown, "%(count)s is not there any more.", "%(count)s are not there any more."),
    )


def _undone(done: UndoResult) -> str:
    return counted_each(
        counted("Restored %(count)s row.", "Restored %(count)s rows.", done.restored),
        (
            done.processed,
            "%(count)s was processed meanwhile: its result stays.",
            "%(count)s were processed meanwhile: their results stay.",
        ),
        (
            done.delivered,
            "%(count)s delivery was made or tried already.",
            "%(count)s deliveries were made or tried already.",
        ),
        (
            done.not_restored,
            "%(count)s was changed or deleted since, and stays as it is.",
            "%(count)s were changed or deleted since, and stay as they are.",
        ),
    )
