"""Dead letters: groups by their cause, the rows of a group; retry and drop one, several, a group or all."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.operations import dead_letters
from scrapersky.api.operations.dead_letters import DeadLetterFilter, MoveIds, MoveMatching, MoveResult, NothingMoved
from scrapersky.api.resources.curation import MAX_ROWS
from scrapersky.api.schemas.jobs import JobSummary
from scrapersky.console.answers import page, redirect
from scrapersky.console.forms import BadForm, SentFields, explain
from scrapersky.console.fresh import forget
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.language import counted, counted_each
from scrapersky.console.language import gettext as _
from scrapersky.console.pages.operations.queues import PATH_OF
from scrapersky.store.listing.shown import CountChanged

HERE = f"{CONSOLE}/dead-letters"
FILTERS = ("workflow", "error_type", "reason")
GROUPS_SHOWN = 100
Action = Literal["retry", "drop"]


async def show(asked: CurrentPage) -> Response:
    """Draw the groups of dead letters, the largest first."""
    filters = _filters(asked.request.query_params)
    filters.pop("reason", None)
    found = await dead_letters.group_dead_letters(
        asked.application, asked.actor, filters.get("workflow"), filters.get("error_type"), GROUPS_SHOWN
    )
    types = sorted(
        {one.error_type for one in found.items} | ({filters["error_type"]} if "error_type" in filters else set())
    )
    return page(
        asked,
        "dead_letters.html",
        found=found,
        filters=filters,
        chips=[(name, value, _address(HERE, {**filters, name: None})) for name, value in filters.items()],
        types=types,
        steps=[workflow.name for workflow in asked.application.pipeline],
        here=HERE,
        rows_path=rows_path,
        confirm_path=confirm_path,
    )


async def show_rows(asked: CurrentPage) -> Response:
    """Draw the dead letters of a group, or of all that match, one by one."""
    filters = _filters(asked.request.query_params)
    listing = await dead_letters.list_dead_letters(
        asked.application,
        asked.actor,
        filters.get("workflow"),
        filters.get("error_type"),
        None,
        filters.get("reason"),
        asked.request.query_params.get("cursor") or None,
        50,
    )
    chips = [(name, value, rows_path({**filters, name: None})) for name, value in filters.items()]
    return page(
        asked,
        "dead_letter_rows.html",
        listing=listing,
        filters=filters,
        chips=chips,
        path_of=PATH_OF,
        here=HERE,
        rows_path=rows_path,
        confirm_path=confirm_path,
    )


async def retry(asked: CurrentPage, form: SentForm) -> Response:
    """Queue the rows of dead letters again."""
    return await _move(asked, form, "retry")


async def drop(asked: CurrentPage, form: SentForm) -> Response:
    """Set the rows of dead letters to Skipped."""
    return await _move(asked, form, "drop")


async def confirm_retry(asked: CurrentPage) -> Response:
    """Draw the question before all matching dead letters are retried."""
    return await _confirm(asked, "retry", _filters(asked.request.query_params))


async def confirm_drop(asked: CurrentPage) -> Response:
    """Draw the question before all matching dead letters are dropped."""
    return await _confirm(asked, "drop", _filters(asked.request.query_params))


def rows_path(filters: Mapping[str, str | None]) -> str:
    """Return the list of the dead letters that match."""
    return _address(f"{HERE}/rows", filters)


def confirm_path(action: str, filters: Mapping[str, str | None]) -> str:
    """Return the page that asks before all matching dead letters are moved."""
    return _address(f"{HERE}/{action}", filters)


def _address(path: str, filters: Mapping[str, str | None]) -> str:
    query = urlencode({name: value for name, value in filters.items() if value})
    return f"{path}?{query}" if query else path


def _filters(sent: Mapping[str, Any]) -> dict[str, str]:
    return {name: sent[name] for name in FILTERS if sent.get(name)}


async def _move(asked: PageRequest, form: SentFields, action: Action) -> Response:
    """Move what the form names: single letters by their ids, or all that match as they were shown."""
    back = own_path(form.get("back") or HERE)
    forget(asked.request)
    if form.get("expected"):
        return await _move_matching(asked, form, action, back)
    try:
        body = MoveIds(ids=[UUID(one) for one in form.all("id")])
    except ValidationError:
        return redirect(asked, back, _("No row was selected: tick the boxes of the rows first."))
    except ValueError:
        raise BadForm(_("Choose rows of the list.")) from None
    try:
        moved = await dead_letters.move_letters(asked.application, asked.actor, body, action)
    except NothingMoved as error:
        return redirect(asked, back, _("Nothing was changed. %(why)s") % {"why": error})
    return redirect(asked, back, _sentence(action, moved), is_job=isinstance(moved, JobSummary))


async def _move_matching(asked: PageRequest, form: SentFields, action: Action, back: str) -> Response:
    filters = {name: form.get(name) for name in FILTERS if form.get(name)}
    try:
        body = MoveMatching(
            filter=DeadLetterFilter(**filters), expected=int(form.get("expected")), as_of=form.get("as_of") or None
        )
    except ValueError:
        raise BadForm(_("The form does not say which dead letters were shown. Open the list again.")) from None
    try:
        moved = await dead_letters.move_letters(asked.application, asked.actor, body, action)
    except CountChanged as error:
        return await _confirm(asked, action, filters, explain(error), error.status_code)
    return redirect(asked, back, _sentence(action, moved), is_job=isinstance(moved, JobSummary))


async def _confirm(
    asked: PageRequest, action: Action, filters: Mapping[str, str], problem: str = "", status: int = HTTPStatus.OK
) -> Response:
    body = MoveMatching(filter=DeadLetterFilter(**filters), preview=True)
    counted = await dead_letters.move_letters(asked.application, asked.actor, body, action)
    context: dict[str, Any] = {
        "action": action,
        "filters": filters,
        "counted": counted,
        "problem": problem,
        "here": HERE,
    }
    context |= {"rows_path": rows_path, "max_rows": MAX_ROWS, "here": HERE}
    return page(asked, "dead_letters_confirm.html", status, **context)


def _sentence(action: Action, moved: MoveResult | JobSummary) -> str:
    is_retry = action == "retry"
    if isinstance(moved, JobSummary):
        matched = moved.parameters["matched"]
        if is_retry:
            return counted("A job retries %(count)s dead letter.", "A job retries %(count)s dead letters.", matched)
        return counted("A job drops %(count)s dead letter.", "A job drops %(count)s dead letters.", matched)
    if is_retry:
        done = counted("%(count)s row is queued again.", "%(count)s rows are queued again.", moved.done)
    else:
        done = counted("%(count)s row was dropped.", "%(count)s rows were dropped.", moved.done)
    gone = (len(moved.refused), "%(count)s was not there any more.", "%(count)s were not there any more.")
    return counted_each(done, gone)
