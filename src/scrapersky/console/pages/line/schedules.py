"""Schedules: which searches are made again and when; give one, pause, resume and delete it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.resources.rows import list_page
from scrapersky.api.schemas.fields import RowId
from scrapersky.api.searches import schedules, searches
from scrapersky.api.searches.schedules import NewSchedule, ScheduleSummary
from scrapersky.console.answers import page, redirect
from scrapersky.console.forms import first_wrong
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark
from scrapersky.console.pages.listing.grid import wrong_filter
from scrapersky.store.searches import schedules as stored
from scrapersky.store.searches.recurrence import BadSchedule, write_interval

HERE = f"{CONSOLE}/schedules"
FIELDS = ("every", "cron", "time_zone")
BY_CRON = "cron"  # the choice among the intervals
INTERVALS = (
    ("12h", mark("every 12 hours")),
    ("1d", mark("every day")),
    ("1w", mark("every week")),
    ("2w", mark("every two weeks")),
    ("4w", mark("every four weeks")),
    (BY_CRON, mark("at the times of a cron expression")),
)
PATTERNS = {  # what a field must look like, where the API says it by a pattern
    "every": mark("An interval is a number and m, h, d or w, such as 12h, 1d or 2w."),
    "cron": mark("A cron expression has five fields of digits, names, commas, dashes, stars and slashes."),
    "time_zone": mark("A time zone is a name such as Europe/Helsinki or UTC."),
}


async def show_list(asked: CurrentPage) -> Response:
    """Draw the schedules: next time, what became of the last run; also paused ones alone."""
    sent = asked.request.query_params
    chosen = {"paused": sent["paused"]} if sent.get("paused") else {}
    listing = await _list(asked, cursor=sent.get("cursor") or None, **chosen)
    async with asked.application.database.session(asked.actor.tenant_id) as session:
        ids = {one.search_id for one in listing.items}
        named = await stored.searches_of(session, asked.actor.tenant_id, ids)
    return page(asked, "schedules.html", listing=listing, named=named, chosen=chosen, here=HERE)


async def show(row_id: RowId, asked: CurrentPage) -> Response:
    """Draw the schedule of a search or campaign, for curators as a form."""
    return await _form(asked, row_id)


async def keep(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Make a search or a campaign again and again, at an interval or by a cron expression; show what is wrong."""
    fields = {name: form.get(name) for name in FIELDS}
    by_cron = fields["every"] == BY_CRON
    times = (
        {"cron": fields["cron"], "time_zone": fields["time_zone"] or None} if by_cron else {"every": fields["every"]}
    )
    try:
        body = NewSchedule.model_validate({"search_id": row_id, **times})
        made = await schedules.create_schedule(body, asked.application, asked.actor, Response())
    except ValidationError as error:
        field, why = first_wrong(error)
        return await _form(asked, row_id, fields, {field: _(PATTERNS.get(field, why))})
    except BadSchedule as error:
        return await _form(asked, row_id, fields, dict.fromkeys(error.fields or ("search",), _(str(error))))
    said = _("It is made again %(times)s. The next run is %(next)s UTC.")
    next_run = f"{made.next_run_at:%Y-%m-%d %H:%M}"
    return redirect(asked, f"{CONSOLE}/searches/{row_id}/schedule", said % {"times": made.times, "next": next_run})


async def pause(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Start no further run of a schedule."""
    await schedules.pause_schedule(row_id, asked.application, asked.actor)
    return _back(asked, form.get("back"), _("The schedule is paused: no further run is started."))


async def resume(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Run a paused schedule again from its next time on."""
    done = await schedules.resume_schedule(row_id, asked.application, asked.actor)
    said = _("The schedule runs again: the next run is %(next)s UTC.")
    return _back(asked, form.get("back"), said % {"next": f"{done.next_run_at:%Y-%m-%d %H:%M}"})


async def remove(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Delete a schedule; its search stays."""
    await schedules.remove_schedule(row_id, asked.application, asked.actor)
    said = _("The schedule is deleted. The search stays with what it has found.")
    return _back(asked, form.get("back"), said)


async def schedule_of(asked: PageRequest, search_id: UUID) -> ScheduleSummary | None:
    """Return the schedule of a search, if it has one."""
    return next(iter((await _list(asked, limit=1, search_id=[search_id])).items), None)


async def _list(asked: PageRequest, **given: Any) -> Any:
    """Return a page of schedules, the latest changed first. Raises UnknownListFilter."""
    api = schedules.API
    try:
        query = api.query.model_validate({"sort": "-updated_at", **given})
    except ValidationError as error:
        raise wrong_filter(error) from None
    return await list_page(asked.application, asked.actor, api.resource, ScheduleSummary, query, api.complete)


async def _form(
    asked: PageRequest, search_id: UUID, sent: Mapping[str, str] | None = None, wrong: Mapping[str, str] | None = None
) -> Response:
    search = await searches.get_search(search_id, asked.application, asked.actor)
    schedule = await schedule_of(asked, search_id)
    fields = {**_fields_of(schedule, asked.preferences.time_zone), **(sent or {})}
    offered = list(INTERVALS)
    if fields["every"] and fields["every"] not in dict(INTERVALS):
        offered.insert(0, (fields["every"], _("every %(interval)s") % {"interval": fields["every"]}))
    context = {"schedule": schedule, "fields": fields, "wrong": wrong or {}, "intervals": offered}
    status = HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK
    return page(asked, "schedule.html", status, search=search, here=f"{CONSOLE}/searches/{search_id}", **context)


def _fields_of(schedule: ScheduleSummary | None, own_zone: str) -> dict[str, str]:
    """Return a schedule as the fields of its form; the time zone of a first one is that of the person."""
    if schedule is None:
        return {"every": "1w", "cron": "", "time_zone": own_zone}
    if schedule.every_seconds is not None:
        return {"every": write_interval(schedule.every_seconds), "cron": "", "time_zone": own_zone}
    return {"every": BY_CRON, "cron": schedule.cron or "", "time_zone": schedule.time_zone}


def _back(asked: PageRequest, back: str, said: str) -> Response:
    return redirect(asked, own_path(back) if back else HERE, said)
