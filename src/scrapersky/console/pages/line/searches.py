"""Searches: the list, one with its progress and its files, stop and go on, deliver."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.accounts.quotas import get_quotas
from scrapersky.api.deliveries import deliveries, destinations
from scrapersky.api.deliveries.deliveries import SendMatching, SendResult
from scrapersky.api.http.browser_cookie import CONSOLE, PART
from scrapersky.api.line.contacts import ContactFilter
from scrapersky.api.line.find import list_providers
from scrapersky.api.resources.rows import list_page, rows_with_ids
from scrapersky.api.schemas.fields import RowId
from scrapersky.api.schemas.listing import ListQuery, Summary
from scrapersky.api.searches import campaigns, searches
from scrapersky.api.searches.campaigns import CampaignDetail, NewName
from scrapersky.api.searches.searches import (
    SEARCHES,
    ContinueSearch,
    RequestedRules,
    SearchDetail,
    SearchSummary,
    StepProgress,
)
from scrapersky.console.alarms import held_steps
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import GRIDS, Grid
from scrapersky.console.draw.words import counted, search_name, sent_in_words, step_label
from scrapersky.console.forms import BadForm, explain
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark, ngettext
from scrapersky.console.pages.line.lead_files import LEAD_CHOICES
from scrapersky.console.pages.line.new_search import RULES, read_rules, rules_in_words, sentence_of
from scrapersky.console.pages.line.schedules import schedule_of
from scrapersky.console.pages.listing.grid import read_grid, wrong_filter
from scrapersky.console.pages.listing.to_send import count_to_send
from scrapersky.core import clock
from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.vocabularies import CAMPAIGN
from scrapersky.store.listing.shown import CountChanged
from scrapersky.store.operations.controls import Hold
from scrapersky.store.searches.progress import seconds_left
from scrapersky.store.steps import STEPS

HERE = f"{CONSOLE}/searches"
TABS = ("businesses", "contacts", "searches", "files")
LISTED_BY = ("campaign_id", "provider", "place_search_status", "place_search_error", "stopped_by_budget")
TAB_ROWS = 25
FRESH_SECONDS = 1.0  # live parts of one search share what a process has read
NO_RESULTS: dict[str, Any] = {"shown": None, "members": None, "latest": None}  # where another part is asked for
MAX_KEPT = 200  # searches in this memory
# The parts of a step's bar: the counter, the status of the rows it counts, and the word beside the number.
PARTS = (
    ("completed", "Completed", mark("done")),
    ("skipped", "Skipped", mark("skipped")),
    ("failed", "Error", mark("failed")),
    ("working", "Processing", mark("working")),
    ("waiting", "Queued", mark("waiting")),
)
STATUSES = tuple(status for _field, status, _word in PARTS)  # of rows that have entered a step
# The numbers of a search: its count, the words beside it, and the list that has as many rows.
FOUND: tuple[tuple[str, Callable[[int], str], str], ...] = (
    ("contacts", lambda rows: ngettext("contact", "contacts", rows), "contacts"),
    ("with_email", lambda _rows: _("with an email address"), "contacts?has_email=true"),
    ("with_phone", lambda _rows: _("with a phone number"), "contacts?has_phone=true"),
    ("with_name", lambda _rows: _("with a name"), "contacts?has_name=true"),
    ("businesses", lambda rows: ngettext("business", "businesses", rows), "businesses"),
    ("domains", lambda rows: ngettext("web site", "web sites", rows), "domains"),
)


@dataclass(frozen=True)
class SearchNumber:
    """A number of a search: its name, how many rows, what they are, and their list."""

    name: str
    rows: int
    words: str
    path: str


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
    path: str  # the list of all its rows; empty for the one row of a search itself

    @property
    def rows(self) -> int:
        """The rows that have entered the step."""
        return sum(part.rows for part in self.parts)


class FoundSentence(Summary):
    """A contact with the sentence that it stood in."""

    name: str | None
    email: str | None
    phone: str | None
    source_url: str | None
    snippet: str | None


@dataclass(frozen=True)
class LeftBehind:
    """Rows that went no further: how many of which noun, why, when they are tried again, and their list."""

    rows: int
    words: str  # their number and noun; of the one row of a search itself its step
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
    context = await _results(asked, search, tab) if asked.part in (None, "grid") else NO_RESULTS
    schedule = await schedule_of(asked, row_id) if asked.part in (None, "actions") else None
    holds = await _holds(asked, search)
    return page(
        asked,
        "search.html",
        search=search,
        campaign=search if isinstance(search, CampaignDetail) else None,
        bars=step_bars(search),
        undecided=undecided_rows(search),
        left_behind=left_behind(search),
        holds=holds,
        seconds_left=None if holds else time_left(search),
        rule_words=rules_in_words(search.rules or {}),
        found=found_rows(search.id, search.listed),
        has_nothing=has_nothing(search),
        again=again_path(search),
        lead_filters=LEAD_CHOICES,
        tab=tab,
        here=f"{HERE}/{row_id}",
        providers=await provider_labels(asked),
        schedule=schedule,
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
    return redirect(asked, f"{HERE}/{row_id}", sent_in_words(done))


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
            found.append((rows, grid.name, _list_of(search_id, grid, undecided=workflow)))
    return found


def found_rows(search_id: UUID, listed: Mapping[Any, int]) -> list[SearchNumber]:
    """Return the numbers of a search, each with the list of the rows that it counts; 0 for what was not counted yet."""
    return [
        SearchNumber(
            name,
            listed.get(name, 0),
            words(listed.get(name, 0)),
            f"{CONSOLE}/{path}{'&' if '?' in path else '?'}search_id={search_id}",
        )
        for name, words, path in FOUND
    ]


def again_path(search: SearchDetail) -> str:
    """Return the form of a new search with what this one looks for, to be changed."""
    fields = {"text": search_name(search), "limit": str(search.result_limit or "")}
    return f"{HERE}/new?{urlencode({name: value for name, value in fields.items() if value})}"


def has_nothing(search: SearchDetail) -> bool:
    """Return whether a search has ended without a single place, business or contact."""
    of_step = {one.workflow: one for one in search.steps}
    places = of_step["deep_scan"]
    rows = places.waiting + places.working + places.completed + places.skipped + places.failed
    return search.is_done and not rows and not any(search.listed.values()) and not any(search.undecided.values())


def step_bars(search: SearchDetail) -> list[StepBar]:
    """Return the steps of a search, each number with the list of the rows that it counts."""
    steps = {step.workflow: step for step in STEPS}
    return [_bar(search, steps[one.workflow].label, one) for one in search.steps if one.workflow in steps]


def left_behind(search: SearchDetail) -> list[LeftBehind]:
    """Return the rows that wait for another try, then those that were skipped or failed, with their reasons."""
    shown = [one for one in search.reasons if one.status != "Queued" or not search.is_done]
    return [
        LeftBehind(
            one.rows,
            _counted(search, one.workflow, one.rows),
            one.status,
            one.reason,
            _path(search, one.workflow, (one.status,), one.reason),
            one.until,
        )
        for one in sorted(shown, key=lambda one: one.status != "Queued")
    ]


def time_left(search: SearchDetail) -> float | None:
    """Return about how long the search still takes; None if that cannot be said."""
    if search.is_done or search.cancelled_by:
        return None
    until = [one.until for one in search.waits]
    return seconds_left(search.created_at, search.counted_at, search.share_done, until)


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


async def _holds(asked: PageRequest, search: SearchDetail) -> list[Hold]:
    """Return the steps in which rows of the search wait, and that claim no rows at present."""
    waiting = {one.workflow for one in search.steps if one.waiting}
    held = await held_steps(asked.request, asked.application) if waiting else ()
    return [one for one in held if one.workflow in waiting]


async def _results(asked: PageRequest, search: SearchDetail, tab: str) -> dict[str, Any]:
    """Read the rows of the open tab."""
    fixed = {"search_id": str(search.id)}
    shown = await read_grid(asked, GRIDS[tab], f"{HERE}/{search.id}", fixed, TAB_ROWS) if tab in GRIDS else None
    members = await _list(asked, {"campaign_id": search.id}, TAB_ROWS) if tab == "searches" else None
    people = [one.id for one in shown.listing.items if one.name] if shown and tab == "contacts" else []
    latest = await _with_sentence(asked, people[0]) if people else None
    return {"shown": shown, "members": members, "latest": latest}


async def _with_sentence(asked: PageRequest, contact_id: UUID) -> FoundSentence | None:
    """Return a contact with the sentence that it stood in; None if there is no such sentence."""
    found = await rows_with_ids(
        asked.application, asked.actor, GRIDS["contacts"].api.resource, FoundSentence, [contact_id]
    )
    return found[0] if found and found[0].snippet else None


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
    return page(asked, "change_search.html", status, search=search, **context)


async def _deliver_form(asked: PageRequest, row_id: UUID, problem: str = "", status: int = HTTPStatus.OK) -> Response:
    search = await searches.get_search(row_id, asked.application, asked.actor)
    api, query = destinations.API, ListQuery(sort="-updated_at", limit=100)
    offered = await list_page(asked.application, asked.actor, api.resource, api.summary, query)
    counted, as_of = None, clock.now()
    if offered.items:
        wanted = ContactFilter.model_validate({"search_id": row_id})
        counted = await count_to_send(asked, offered.items[0].id, wanted, as_of)
    context = {"offered": offered.items, "counted": counted, "as_of": as_of, "problem": problem}
    return page(asked, "deliver_search.html", status, search=search, here=f"{HERE}/{row_id}", **context)


def _bar(search: SearchDetail, label: str, progress: StepProgress) -> StepBar:
    return StepBar(
        progress.workflow,
        label,
        tuple(
            StepPart(status, word, getattr(progress, field), _path(search, progress.workflow, (status,)))
            for field, status, word in PARTS
        ),
        _path(search, progress.workflow, STATUSES),
    )


def _path(search: SearchDetail, workflow: str, statuses: Sequence[str], reason: str | None = None) -> str:
    """Return the list of the rows of a step in these states, with this reason; empty for the one row of a search."""
    grid = _grid_of(workflow)
    if grid:
        queue = next(step.queue for step in grid.api.resource.steps if step.workflow == workflow)
        why = {f"{queue}_error": reason} if reason else {}
        return _list_of(search.id, grid, **{f"{queue}_status": statuses}, **why)
    if search.provider != CAMPAIGN:
        return ""
    fields: dict[str, Any] = {"campaign_id": search.id, "place_search_error": reason or ()}
    if len(statuses) == 1:
        fields["place_search_status"] = statuses
    return f"{HERE}?{urlencode(fields, doseq=True)}"


def _counted(search: SearchDetail, workflow: str, rows: int) -> str:
    grid = _grid_of(workflow)
    if grid is None and search.provider != CAMPAIGN:
        return step_label(workflow)
    return counted(rows, grid.name if grid else "searches")


def _list_of(search_id: UUID, grid: Grid, **filters: Any) -> str:
    return f"{CONSOLE}/{grid.name}?{urlencode({'search_id': search_id, **filters}, doseq=True)}"


def _grid_of(workflow: str) -> Grid | None:
    """Return the grid whose rows the step processes; searches have none."""
    of_step = (grid for grid in GRIDS.values() if workflow in {step.workflow for step in grid.api.resource.steps})
    return next(of_step, None)
