"""Searches: the list, one with its progress and its files, stop and go on, deliver."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.accounts.quotas import get_quotas
from scrapersky.api.deliveries import deliveries, destinations
from scrapersky.api.deliveries.deliveries import SendMatching, SendResult
from scrapersky.api.http.browser_cookie import CONSOLE, PART
from scrapersky.api.line import campaigns, schedules, searches
from scrapersky.api.line.campaigns import CampaignDetail, NewName
from scrapersky.api.line.contacts import ContactFilter
from scrapersky.api.line.find import list_providers
from scrapersky.api.line.schedules import NewSchedule, ScheduleSummary
from scrapersky.api.line.searches import (
    SEARCHES,
    ContinueSearch,
    RequestedRules,
    SearchDetail,
    SearchReason,
    SearchSummary,
    SearchWait,
    StepProgress,
)
from scrapersky.api.resources.rows import list_page
from scrapersky.api.schemas.fields import RowId
from scrapersky.api.schemas.listing import ListQuery
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import GRIDS, Grid
from scrapersky.console.forms import BadForm, explain
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark, ngettext
from scrapersky.console.pages.grid import read_grid, wrong_filter
from scrapersky.console.pages.lead_files import LEAD_CHOICES
from scrapersky.console.pages.new_search import RULES, read_rules, rules_in_words, sentence_of
from scrapersky.core import clock
from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.vocabularies import CAMPAIGN
from scrapersky.store.listing import paginate
from scrapersky.store.listing import shown as listed
from scrapersky.store.listing.shown import CountChanged, Shown
from scrapersky.store.steps import STEPS

HERE = f"{CONSOLE}/searches"
TABS = ("businesses", "contacts", "searches", "files")
LISTED_BY = ("campaign_id", "provider", "place_search_status")  # filters of the list, one value each
TAB_ROWS = 25
INTERVALS = (
    ("1d", mark("every day")),
    ("1w", mark("every week")),
    ("2w", mark("every two weeks")),
    ("4w", mark("every four weeks")),
)
FRESH_SECONDS = 1.0  # live parts of one search share what a process has read
MAX_KEPT = 200  # searches in this memory
MAX_PREDICTED = timedelta(hours=6)  # the time left of an older search says little
# The parts of a step's bar: the counter, the status of the rows it counts, and the word beside the number.
PARTS = (
    ("completed", "Completed", mark("done")),
    ("skipped", "Skipped", mark("skipped")),
    ("failed", "Error", mark("failed")),
    ("working", "Processing", mark("works")),
    ("waiting", "Queued", mark("waits")),
)
FOUND = (
    ("emails", mark("email addresses")),
    ("phones", mark("phone numbers")),
    ("people", mark("people")),
    ("contacts", mark("contacts")),
    ("domains", mark("web sites")),
)


@dataclass(frozen=True)
class StepPart:
    """The rows of a step in one state, and the list of these rows."""

    status: str
    word: str
    rows: int
    path: str


@dataclass(frozen=True)
class StepBar:
    """A step of the line with the rows of a search in it."""

    workflow: str
    label: str
    parts: tuple[StepPart, ...]

    @property
    def rows(self) -> int:
        """The rows that have entered the step."""
        return sum(part.rows for part in self.parts)


@dataclass(frozen=True)
class LeftBehind:
    """Rows that went no further: how many, of which step, why, when they are tried again, and their list."""

    rows: int
    label: str
    status: str
    reason: str
    path: str
    again_at: datetime | None = None


async def show_list(asked: CurrentPage) -> Response:
    """Draw the searches and campaigns, the latest first; also those of one campaign, or campaigns alone."""
    sent = asked.request.query_params
    chosen = {name: sent[name] for name in LISTED_BY if sent.get(name)}
    listing = await _list(asked, chosen, cursor=sent.get("cursor") or None)
    campaign = None
    if "campaign_id" in chosen:
        campaign = await campaigns.get_campaign(UUID(chosen["campaign_id"]), asked.application, asked.actor)
    context: dict[str, Any] = {
        "chosen": chosen,
        "campaign": campaign,
        "here": HERE,
        "providers": await provider_labels(asked),
    }
    return page(asked, "searches.html", listing=listing, **context)


async def _list(asked: PageRequest, given: Mapping[str, Any], limit: int = 50, cursor: str | None = None) -> Any:
    """Return a page of searches. Raises UnknownListFilter."""
    values = {name: [value] if SEARCHES.resource.filters[name].several else value for name, value in given.items()}
    try:
        query = SEARCHES.query.model_validate({"sort": "-updated_at", "limit": limit, "cursor": cursor, **values})
    except ValidationError as error:
        raise wrong_filter(error) from None
    api = SEARCHES
    return await list_page(asked.application, asked.actor, api.resource, api.summary, query, api.complete)


async def has_none(asked: PageRequest) -> bool:
    """Return whether the tenant has no search yet."""
    query = ListQuery(sort="-updated_at", limit=1)
    listing = await list_page(asked.application, asked.actor, SEARCHES.resource, SearchSummary, query)
    return not listing.items


async def show(row_id: RowId, asked: CurrentPage) -> Response:
    """Draw one search: its steps, what was left behind, and what was found."""
    is_part = PART in asked.request.headers
    search = await (_recent(asked, row_id) if is_part else _read(asked, row_id))
    tab = asked.request.query_params.get("tab", "")
    tab = tab if tab in TABS else "contacts"
    tab = "contacts" if tab == "searches" and not isinstance(search, CampaignDetail) else tab
    context: dict[str, Any] = {"shown": None, "counts": {}, "members": None}
    if not is_part:
        context = await _results(asked, search, tab)
    return page(
        asked,
        "search.html",
        search=search,
        campaign=search if isinstance(search, CampaignDetail) else None,
        bars=step_bars(search),
        undecided=undecided_rows(search),
        left_behind=left_behind(search),
        seconds_left=seconds_left(search),
        rule_words=rules_in_words(search.rules or {}),
        found=FOUND,
        lead_filters=LEAD_CHOICES,
        tab=tab,
        here=f"{HERE}/{row_id}",
        providers=await provider_labels(asked),
        **context,
    )


async def show_change(row_id: RowId, asked: CurrentPage) -> Response:
    """Draw the form that changes the budget and the rules of a search, or lets a stopped one go on."""
    return await _change_form(asked, row_id)


async def change(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Give a search another budget or other rules, and let it go on; without fields as before."""
    fields = {name: form.get(name) for name in form.values}
    try:
        budget = float(fields["budget"]) if fields.get("budget") else None
        rules = RequestedRules.model_validate(named) if (named := read_rules(fields)) else None
        body = ContinueSearch(budget=budget, rules=rules)
        search = await searches.get_search(row_id, asked.application, asked.actor)
        go_on = campaigns.continue_campaign if search.provider == CAMPAIGN else searches.continue_search
        await go_on(row_id, body, asked.application, asked.actor)
    except ValidationError as error:
        return await _change_form(asked, row_id, fields, sentence_of(error), HTTPStatus.UNPROCESSABLE_ENTITY)
    except ScraperSkyError as error:
        if error.status_code == HTTPStatus.NOT_FOUND:
            raise
        return await _change_form(asked, row_id, fields, sentence_of(error), error.status_code)
    except ValueError:
        sentence = _("The budget is an amount of money, such as 2.50.")
        return await _change_form(asked, row_id, fields, sentence, HTTPStatus.UNPROCESSABLE_ENTITY)
    return redirect(asked, own_path(form.get("back") or f"{HERE}/{row_id}"), _("The search goes on."))


async def keep_schedule(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Make a search or a campaign again and again, or no more."""
    await searches.get_search(row_id, asked.application, asked.actor)  # or there is no such search
    former = await _schedule(asked, row_id)
    if every := form.get("every"):
        try:
            body = NewSchedule(search_id=row_id, every=every)
        except ValidationError as error:
            raise BadForm(sentence_of(error)) from None
        made = await schedules.create_schedule(body, asked.application, asked.actor, Response())
        return redirect(asked, f"{HERE}/{row_id}", _("It is made again %(times)s.") % {"times": made.times})
    if former is not None:
        await schedules.remove_schedule(former.id, asked.application, asked.actor)
    return redirect(asked, f"{HERE}/{row_id}", _("It is made no more by itself.") if former else None)


async def _schedule(asked: PageRequest, search_id: UUID) -> ScheduleSummary | None:
    """Return the schedule of a search, if it has one."""
    query = schedules.API.query.model_validate({"search_id": [search_id], "limit": 1})
    api = schedules.API
    found = await list_page(asked.application, asked.actor, api.resource, ScheduleSummary, query, api.complete)
    return next(iter(found.items), None)


async def cancel(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Withdraw the queued work of a search."""
    done = await searches.cancel_search(row_id, asked.application, asked.actor)
    rows = sum(done.withdrawn.values())
    notice = ngettext(
        "The search was stopped: %(count)s queued row was withdrawn.",
        "The search was stopped: %(count)s queued rows were withdrawn.",
        rows,
    )
    return redirect(asked, own_path(form.get("back") or f"{HERE}/{row_id}"), notice % {"count": f"{rows:,}"})


async def rename(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Give a campaign a name for people; an empty one removes it."""
    try:
        body = NewName(name=form.get("name") or None)
    except ValidationError as error:
        raise BadForm(sentence_of(error)) from None
    await campaigns.rename_campaign(row_id, body, asked.application, asked.actor)
    return redirect(asked, f"{HERE}/{row_id}", _("The campaign has a new name.") if body.name else None)


async def show_deliver(row_id: RowId, asked: CurrentPage) -> Response:
    """Draw the question before the contacts of a search are delivered: their number, and the destinations."""
    return await _deliver_form(asked, row_id)


async def deliver(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Queue the contacts of a search that were shown for a destination."""
    await searches.get_search(row_id, asked.application, asked.actor)  # or there is no such search
    try:
        body = SendMatching(
            destination_id=UUID(form.get("destination_id")),
            filter=ContactFilter.model_validate({"search_id": row_id}),
            expected=int(form.get("expected")),
            as_of=form.get("as_of"),
        )
    except ValueError:
        raise BadForm(_("Choose one of the destinations.")) from None
    try:
        answer = await deliveries.create_deliveries(body, asked.application, asked.actor)
    except CountChanged as error:
        return await _deliver_form(asked, row_id, explain(error), error.status_code)
    if answer.status_code == HTTPStatus.ACCEPTED:
        return redirect(asked, f"{HERE}/{row_id}", _("A job queues the contacts; it takes a while."), is_job=True)
    done = SendResult.model_validate_json(bytes(answer.body))
    sentence = _(
        "%(queued)s contacts are queued; %(already)s were before. Left out: %(suppressed)s suppressed, "
        "%(unreachable)s without an email address and a phone number."
    )
    return redirect(asked, f"{HERE}/{row_id}", sentence % done.model_dump())


async def provider_labels(asked: PageRequest) -> dict[str, str]:
    """Return the names of the providers for people."""
    return {one.name: one.label for one in (await list_providers(asked.application, asked.actor)).items}


def undecided_rows(search: SearchDetail) -> list[tuple[int, str, str]]:
    """Return how many rows wait for a decision, of which noun, and the list in which it can be made."""
    return choose_path(search.id, search.undecided)


def choose_path(search_id: UUID, undecided: Mapping[str, int]) -> list[tuple[int, str, str]]:
    """Return how many rows of a search wait for a decision, of which noun, and the list in which it can be made."""
    found = []
    for workflow, rows in undecided.items():
        grid = _grid_of(workflow)
        if grid is not None and rows:
            found.append((rows, grid.name, f"{_list_of(search_id, grid, workflow, 'New')}&curation_status=New"))
    return found


def step_bars(search: SearchDetail) -> list[StepBar]:
    """Return the steps of a search, each number with the list of the rows that it counts."""
    steps = {step.workflow: step for step in STEPS}
    return [_bar(search, steps[one.workflow].label, one) for one in search.steps if one.workflow in steps]


def left_behind(search: SearchDetail) -> list[LeftBehind]:
    """Return the rows that wait for another try, and those that were skipped or failed, with their reasons."""
    labels = {step.workflow: step.label for step in STEPS}
    found: list[tuple[SearchWait | SearchReason, str, datetime | None]] = []
    found += [(one, "Queued", one.until) for one in search.waits if not search.is_done]
    found += [(one, one.status, None) for one in search.reasons if one.status != "Queued"]
    return [
        LeftBehind(one.rows, labels[one.workflow], status, one.reason, _path(search, one.workflow, status), again)
        for one, status, again in found
    ]


def seconds_left(search: SearchDetail) -> float | None:
    """Return about how long the search still takes at its pace so far; None if that cannot be said."""
    passed = search.counted_at - search.created_at
    if search.is_done or search.cancelled_by or search.share_done < 0.05 or passed > MAX_PREDICTED:
        return None
    waits = [(one.until - clock.now()).total_seconds() for one in search.waits]
    return max(passed.total_seconds() * (1 - search.share_done) / search.share_done, *waits, 1.0)


async def _read(asked: PageRequest, search_id: UUID) -> SearchDetail:
    """Read a search, or a campaign with the states of its searches."""
    search = await searches.get_search(search_id, asked.application, asked.actor)
    if search.provider != CAMPAIGN:
        return search
    return await campaigns.get_campaign(search_id, asked.application, asked.actor)


async def _recent(asked: PageRequest, search_id: UUID) -> SearchDetail:
    """Return a search as this process has read it within the last second: many tabs cost one reading."""
    kept: dict[Any, tuple[float, SearchDetail]] = asked.request.app.state.__dict__.setdefault("recent_searches", {})
    key = (asked.actor.tenant_id, search_id)
    at, found = kept.get(key, (0.0, None))
    if found is None or time.monotonic() - at > FRESH_SECONDS:
        found = await _read(asked, search_id)
        if len(kept) >= MAX_KEPT:
            kept.clear()
        kept[key] = (time.monotonic(), found)
    return found


async def _results(asked: PageRequest, search: SearchDetail, tab: str) -> dict[str, Any]:
    """Read the rows of the open tab, and the number of rows behind each tab."""
    fixed = {"search_id": str(search.id)}
    shown = await read_grid(asked, GRIDS[tab], f"{HERE}/{search.id}", fixed, TAB_ROWS) if tab in GRIDS else None
    counts = {tab: shown.count} if shown else {}
    async with asked.application.database.session(asked.actor.tenant_id) as session:
        for noun in ("businesses", "contacts"):
            if noun not in counts:
                resource = GRIDS[noun].api.resource
                of_search = {"search_id": search.id}
                counts[noun] = await paginate.count(session, resource, asked.actor.tenant_id, of_search, unmerged=True)
    members = await _list(asked, {"campaign_id": search.id}, TAB_ROWS) if tab == "searches" else None
    return {"shown": shown, "counts": counts, "members": members}


async def _change_form(
    asked: PageRequest,
    row_id: UUID,
    fields: Mapping[str, str] | None = None,
    problem: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    search = await searches.get_search(row_id, asked.application, asked.actor)
    rules = RequestedRules.model_validate({} if search.cancelled_by else search.rules or {})
    budget = f"{search.budget_cents / 100:.2f}" if search.budget_cents else ""
    shown: dict[str, Any] = {"budget": budget, **rules.model_dump(mode="json"), **(fields or {})}
    quotas = [one for one in (await get_quotas(asked.application, asked.actor)).items if one.limit is not None]
    context: dict[str, Any] = {
        "fields": shown,
        "problem": problem,
        "rules": RULES,
        "here": f"{HERE}/{row_id}",
        "quotas": quotas,
    }
    context |= {"schedule": await _schedule(asked, row_id), "intervals": INTERVALS}
    return page(asked, "change_search.html", status, search=search, **context)


async def _deliver_form(asked: PageRequest, row_id: UUID, problem: str = "", status: int = HTTPStatus.OK) -> Response:
    search = await searches.get_search(row_id, asked.application, asked.actor)
    api, query = destinations.API, ListQuery(sort="-updated_at", limit=100)
    offered = await list_page(asked.application, asked.actor, api.resource, api.summary, query)
    async with asked.application.database.session(asked.actor.tenant_id) as session:
        contacts, as_of = GRIDS["contacts"].api.resource, clock.now()
        count = await listed.count(session, contacts, asked.actor.tenant_id, {"search_id": row_id}, Shown(as_of))
    context = {"offered": offered.items, "count": count, "as_of": as_of, "problem": problem}
    return page(asked, "deliver_search.html", status, search=search, here=f"{HERE}/{row_id}", **context)


def _bar(search: SearchDetail, label: str, counted: StepProgress) -> StepBar:
    return StepBar(
        counted.workflow,
        label,
        tuple(
            StepPart(status, word, getattr(counted, field), _path(search, counted.workflow, status))
            for field, status, word in PARTS
        ),
    )


def _path(search: SearchDetail, workflow: str, status: str) -> str:
    """Return the list of the rows of a step in one state; searches of a campaign, of a search itself its own page."""
    grid = _grid_of(workflow)
    if grid:
        return _list_of(search.id, grid, workflow, status)
    of_campaign = f"{HERE}?campaign_id={search.id}&place_search_status={status}"
    return of_campaign if search.provider == CAMPAIGN else f"{HERE}/{search.id}"


def _list_of(search_id: UUID, grid: Grid, workflow: str, status: str) -> str:
    queue = next(step.queue for step in grid.api.resource.steps if step.workflow == workflow)
    return f"{CONSOLE}/{grid.name}?search_id={search_id}&{queue}_status={status}"


def _grid_of(workflow: str) -> Grid | None:
    """Return the grid whose rows the step processes; searches have none."""
    of_step = (grid for grid in GRIDS.values() if workflow in {step.workflow for step in grid.api.resource.steps})
    return next(of_step, None)
