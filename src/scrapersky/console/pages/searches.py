"""Searches: the list, a new one, one with its progress and its files, cancel."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line import leads, searches
from scrapersky.api.line.searches import (
    SEARCHES,
    NewSearch,
    SearchDetail,
    SearchResponse,
    SearchSummary,
    StepProgress,
)
from scrapersky.api.resources.rows import list_page
from scrapersky.api.schemas.fields import RowId
from scrapersky.api.schemas.listing import ListQuery
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import GRIDS, Grid
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm
from scrapersky.console.pages.grid import read_grid
from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.vocabularies import Curation
from scrapersky.store.steps import STEPS

HERE = f"{CONSOLE}/searches"
LeadFile = Annotated[Literal["csv", "jsonl", "xlsx"], Path(description="the file format")]
PROVIDERS = {
    "openstreetmap": "OpenStreetMap",
    "google_places": "Google Places",
    "overture": "Overture Maps",
}
EXAMPLES = ("dentists in Helsinki", "bakeries in Turku", "hotels in Tampere")
TABS = ("businesses", "contacts", "files")
TAB_ROWS = 25
# The parts of a step's bar: the counter, the status of the rows it counts, and the word beside the number.
PARTS = (
    ("completed", "Completed", "done"),
    ("skipped", "Skipped", "skipped"),
    ("failed", "Error", "failed"),
    ("working", "Processing", "works"),
    ("waiting", "Queued", "waits"),
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


async def show_list(asked: CurrentPage) -> Response:
    """Draw the searches, the latest first."""
    cursor = asked.request.query_params.get("cursor") or None
    query = SEARCHES.query.model_validate({"sort": "-updated_at", "cursor": cursor, "limit": 50})
    listing = await list_page(
        asked.application, asked.actor, SEARCHES.resource, SEARCHES.summary, query, SEARCHES.complete
    )
    return page(asked, "searches.html", listing=listing, here=HERE, providers=PROVIDERS)


async def has_none(asked: PageRequest) -> bool:
    """Return whether the tenant has no search yet."""
    query = ListQuery(sort="-updated_at", limit=1)
    listing = await list_page(asked.application, asked.actor, SEARCHES.resource, SearchSummary, query)
    return not listing.items


async def show_new(asked: CurrentPage) -> Response:
    """Draw the form of a new search; with a text in the address also how it is read and what it costs."""
    fields = dict(asked.request.query_params)
    if not fields.get("text"):
        return _form(asked, fields)
    try:
        body = _new_search(fields, estimate_only=True)
        answer = await searches.create_search(body, asked.application, asked.actor, Response())
    except ValidationError as error:
        return _form(asked, fields, _sentence(error), HTTPStatus.UNPROCESSABLE_ENTITY)
    except ScraperSkyError as error:
        return _form(asked, fields, str(error) or error.title, error.status_code)
    return _form(asked, fields, answer=answer)


async def start(asked: CurrentPage, form: SentForm) -> Response:
    """Create the search and lead to its page, or show the form again with what is wrong."""
    fields = {name: form.get(name) for name in form.values}
    try:
        answer = await searches.create_search(_new_search(fields), asked.application, asked.actor, Response())
    except ValidationError as error:
        return _form(asked, fields, _sentence(error), HTTPStatus.UNPROCESSABLE_ENTITY)
    except ScraperSkyError as error:
        return _form(asked, fields, str(error) or error.title, error.status_code)
    if answer.search is None:
        raise RuntimeError("a search that was requested has no row")
    notice = "This search was known: it goes on with the new rules." if answer.known else None
    return redirect(asked, f"{HERE}/{answer.search.id}", notice)


async def show(row_id: RowId, asked: CurrentPage) -> Response:
    """Draw one search: its steps, what was left behind, and what was found."""
    search = await searches.get_search(row_id, asked.application, asked.actor)
    tab = asked.request.query_params.get("tab", "")
    tab = tab if tab in TABS else "contacts"
    shown = None
    if tab in GRIDS and "console-part" not in asked.request.headers:
        fixed = {"search_id": str(row_id)}
        shown = await read_grid(asked, GRIDS[tab], f"{HERE}/{row_id}", fixed, TAB_ROWS)
    context: dict[str, Any] = {
        "search": search,
        "bars": step_bars(search),
        "undecided": undecided_rows(search),
        "tab": tab,
        "shown": shown,
        "here": f"{HERE}/{row_id}",
    }
    return page(asked, "search.html", providers=PROVIDERS, curation=list(Curation), **context)


async def cancel(row_id: RowId, asked: CurrentPage) -> Response:
    """Withdraw the queued work of a search."""
    done = await searches.cancel_search(row_id, asked.application, asked.actor)
    rows = sum(done.withdrawn.values())
    return redirect(asked, f"{HERE}/{row_id}", f"The search was stopped: {rows:,} queued rows were withdrawn.")


async def download(row_id: RowId, ending: LeadFile, asked: CurrentPage) -> Response:
    """Stream the file of leads."""
    per: Literal["business", "contact"] = (
        "contact" if asked.request.query_params.get("per") == "contact" else "business"
    )
    return await leads.download_leads(row_id, ending, asked.application, asked.actor, per)


def undecided_rows(search: SearchDetail) -> list[tuple[int, str, str]]:
    """Return how many rows wait for a decision, of which noun, and the list in which it can be made."""
    found = []
    for workflow, rows in search.undecided.items():
        grid = _grid_of(workflow)
        if grid is not None and rows:
            path = (
                f"{CONSOLE}/{grid.name}?search_id={search.id}&curation_status=New&{_queue(grid, workflow)}_status=New"
            )
            found.append((rows, grid.name, path))
    return found


def step_bars(search: SearchDetail) -> list[StepBar]:
    """Return the steps of a search, each number with the list of the rows that it counts."""
    steps = {step.workflow: step for step in STEPS}
    return [_bar(search.id, steps[one.workflow].label, one) for one in search.steps if one.workflow in steps]


def _bar(search_id: UUID, label: str, counted: StepProgress) -> StepBar:
    grid = _grid_of(counted.workflow)
    parts = []
    for field, status, word in PARTS:
        path = f"{HERE}/{search_id}"
        if grid is not None:
            path = f"{CONSOLE}/{grid.name}?search_id={search_id}&{_queue(grid, counted.workflow)}_status={status}"
        parts.append(StepPart(status, word, getattr(counted, field), path))
    return StepBar(counted.workflow, label, tuple(parts))


def _grid_of(workflow: str) -> Grid | None:
    """Return the grid whose rows the step processes; searches have none."""
    of_step = (grid for grid in GRIDS.values() if workflow in {step.workflow for step in grid.api.resource.steps})
    return next(of_step, None)


def _queue(grid: Grid, workflow: str) -> str:
    return next(step.queue for step in grid.api.resource.steps if step.workflow == workflow)


def _new_search(fields: Mapping[str, str], *, estimate_only: bool = False) -> NewSearch:
    """Read the form. Raises ValidationError."""
    values: dict[str, Any] = {"text": fields.get("text", ""), "estimate_only": estimate_only}
    values |= {name: fields[name] for name in ("area", "provider") if fields.get(name)}
    rules: dict[str, Any] = {"deep_scan": "off"} if fields.get("choose") == "places" else {}
    for name, into, parse in (("limit", values, int), ("budget", values, float), ("pages_per_site", rules, int)):
        if text := fields.get(name, "").strip():
            try:
                into[name] = parse(text)
            except ValueError:
                into[name] = text  # validation names the field
    return NewSearch.model_validate({**values, "rules": rules, "refresh": fields.get("refresh") == "yes"})


def _form(
    asked: PageRequest,
    fields: Mapping[str, str],
    problem: str = "",
    status: int = HTTPStatus.OK,
    answer: SearchResponse | None = None,
) -> Response:
    names = ("text", "area", "provider", "limit", "budget", "pages_per_site", "choose", "refresh")
    shown = {name: fields.get(name, "") for name in names}
    offered = [(name, PROVIDERS[name]) for name in asked.application.providers if name in PROVIDERS]
    context = {"fields": shown, "problem": problem, "answer": answer, "offered": offered, "examples": EXAMPLES}
    return page(asked, "new_search.html", status, **context)


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    field = str(first["loc"][-1]).replace("_", " ") if first["loc"] else "form"
    return f"The field {field} is not right: {first['msg'].removeprefix('Value error, ')}."
