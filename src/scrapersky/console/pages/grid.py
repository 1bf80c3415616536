"""The grid of a noun, one row of it, and decisions about rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Literal, get_args, get_origin
from urllib.parse import urlencode
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line.undo import ActionId, UndoResult, undo_curation_action
from scrapersky.api.resources.curation import CurateIds, CurateMatching, CurationResult, curate
from scrapersky.api.resources.models import set_filters
from scrapersky.api.resources.rows import list_page, row_detail
from scrapersky.api.schemas.fields import RequestModel
from scrapersky.api.schemas.jobs import JobSummary
from scrapersky.api.schemas.listing import Listing, ListQuery
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import Grid
from scrapersky.console.gates import BadForm, CurrentPage, PageRequest, SentFields, SentForm, own_path
from scrapersky.core.errors import BadRequest, UnknownName
from scrapersky.core.vocabularies import Curation
from scrapersky.store.listing import paginate
from scrapersky.store.listing import resources as nouns
from scrapersky.store.listing.paginate import Count
from scrapersky.store.listing.resources import Resource
from scrapersky.store.listing.shown import CountChanged

PAGE_ROWS = 50
MAX_POSITION = 10_000_000
OWN_FIELDS = ("sort", "cursor", "before", "at", "open")  # of the page, besides the filters
# Filters that hold the id of another row: the noun whose label a chip shows.
REFERENCES = {
    "search_id": nouns.SEARCHES,
    "domain_id": nouns.DOMAINS,
    "business_id": nouns.BUSINESSES,
    "sitemap_id": nouns.SITEMAPS,
    "page_id": nouns.PAGES,
}
TIMES = ("updated_since", "created_since")  # filters of links; the form has no field for them
FIRST_FILTERS = ("text", "email", "curation_status", "verdict")
LABELS = {
    "created_since": "found since",
    "search_id": "search",
    "domain_id": "domain",
    "business_id": "business",
    "sitemap_id": "sitemap",
    "page_id": "page",
    "curation_status": "decision",
    "text": "begins with",
    "email": "email begins with",
    "updated_since": "changed since",
    "min_rating": "rating at least",
}


class UnknownListFilter(BadRequest):
    """The address of this list holds a filter that it does not have."""

    status_code = 422


@dataclass(frozen=True)
class Chip:
    """A filter that is set, and the address of the list without it."""

    label: str
    value: str
    without: str


@dataclass(frozen=True)
class FilterField:
    """A field of the filter form: choices, or free text if there are none."""

    name: str
    label: str
    choices: tuple[tuple[str, str], ...]
    value: str


@dataclass(frozen=True)
class GridPage:
    """One page of a grid with everything that its template shows."""

    grid: Grid
    query: ListQuery
    fields: Sequence[tuple[str, str]]  # of the address: filters and sort
    listing: Listing[Any]
    count: Count
    chips: Sequence[Chip]
    filters: Sequence[FilterField]
    at: int  # rows before this page
    base: str  # the path of the list
    opened: Any = None

    def address(self, **changes: str | None) -> str:
        """Return the address of this list with other fields; None removes one, and a cursor goes with its position."""
        kept = [(name, value) for name, value in self.fields if name not in changes]
        kept += [(name, value) for name, value in changes.items() if value is not None]
        return f"{self.base}?{urlencode(kept)}" if kept else self.base

    @property
    def here(self) -> dict[str, str | None]:
        """The fields of the address that name the place in the list."""
        at = str(self.at) if self.at else None
        return {"cursor": self.query.cursor, "before": self.query.before, "at": at}

    def sort_address(self, key: str) -> str:
        """Return the address of the list sorted by the key; in the other direction if it is sorted by it now."""
        return self.address(sort=key if self.query.sort == f"-{key}" else f"-{key}")

    def neighbour(self, steps: int) -> Any:
        """Return the row before or after the open one on this page, or None."""
        ids = [row.id for row in self.listing.items]
        place = ids.index(self.opened.id) + steps if self.opened and self.opened.id in ids else -1
        return self.listing.items[place] if 0 <= place < len(ids) else None


async def read_grid(
    asked: PageRequest,
    grid: Grid,
    base: str | None = None,
    fixed: Mapping[str, str] | None = None,
    limit: int = PAGE_ROWS,
) -> GridPage:
    """Read one page of a noun's list as the address says; `fixed` filters are not part of the address."""
    resource = grid.api.resource
    sent = asked.request.query_params
    fields = [(name, value) for name, value in sent.multi_items() if value and name in {*resource.filters, "sort"}]
    place = {name: sent.get(name) or None for name in ("cursor", "before")}
    query = _query(grid, [*fields, *(fixed or {}).items()], place, limit)
    listing = await list_page(asked.application, asked.actor, resource, grid.api.summary, query, grid.api.complete)
    listing.items = [grid.api.mask(row, asked.actor) for row in listing.items]
    filters = set_filters(query, resource)
    opened = sent.get("open")
    names = await _names(asked, {name: value for name, value in fields if name in REFERENCES})
    async with asked.application.database.session(asked.actor.tenant_id) as session:
        count = await paginate.count(session, resource, asked.actor.tenant_id, filters)
    made = GridPage(
        grid,
        query,
        fields,
        listing,
        count,
        [],
        _filter_fields(resource, fields, fixed or {}),
        _position(sent.get("at")) if query.cursor or query.before else 0,
        base or f"{CONSOLE}/{grid.name}",
        await _row(asked, grid, _id(opened)) if opened else None,
    )
    return GridPage(**{**vars(made), "chips": _chips(made, names)})


async def show_list(asked: PageRequest, grid: Grid) -> Response:
    """Draw the list of a noun. Raises UnknownListFilter."""
    sent = asked.request.query_params.multi_items()
    allowed = {*grid.api.resource.filters, *OWN_FIELDS}
    if unknown := sorted({name for name, _ in sent} - allowed):
        raise UnknownListFilter(f"{unknown[0][:60]!a} is no filter of {grid.name}. Open the list without it.")
    if any(not value for _, value in sent):  # an empty field of the filter form
        kept = urlencode([(name, value) for name, value in sent if value])
        return redirect(asked, f"{CONSOLE}/{grid.name}" + (f"?{kept}" if kept else ""))
    return page(asked, "grid.html", shown=await read_grid(asked, grid))


async def show_row(asked: PageRequest, grid: Grid, row_id: UUID) -> Response:
    """Draw one row with its queues and the rows before and after it in the line."""
    row = await _row(asked, grid, row_id)
    template = "contact.html" if grid.name == "contacts" else "row.html"
    return page(asked, template, grid=grid, row=row)


async def _row(asked: PageRequest, grid: Grid, row_id: UUID) -> Any:
    api = grid.api
    return await row_detail(asked.application, asked.actor, api.resource, api.detail, row_id, api.complete)


async def decide(asked: PageRequest, grid: Grid, form: SentFields) -> Response:
    """Store a decision about the rows of the form, and lead back to the page it was sent from."""
    back = own_path(form.get("back") or f"{CONSOLE}/{grid.name}")
    try:
        decision, ids = Curation(form.get("curation_status")), [UUID(one) for one in form.all("id")]
    except ValueError:
        raise BadForm("Choose rows and one of the decisions New, Selected, Maybe, Not a Fit, Archived.") from None
    if not ids:
        return redirect(asked, back, "No row was selected: tick the boxes of the rows first.")
    answer = await curate(
        asked.application, asked.actor, grid.api.resource, CurateIds(ids=ids, curation_status=decision), None
    )
    done = CurationResult.model_validate_json(bytes(answer.body))
    if not done.matched:
        raise paginate.UnknownRow(f"You have none of these {grid.name}: they may have been deleted meanwhile.")
    return redirect(asked, back, _sentence(grid, decision, done), done.action_id)


async def show_matching(asked: PageRequest, grid: Grid) -> Response:
    """Draw the question before a decision about all matching rows: the filter in words and the exact number."""
    return await _confirm(asked, grid)


async def decide_matching(asked: PageRequest, grid: Grid, form: SentFields) -> Response:
    """Store a decision about all rows that match and were shown; if others match now, show the new number first."""
    try:
        body = CurateMatching(
            filter=_filter(grid, asked),
            curation_status=Curation(form.get("curation_status")),
            expected=int(form.get("expected")),
            as_of=form.get("as_of"),
        )
    except ValueError:
        raise BadForm("Choose one of the decisions New, Selected, Maybe, Not a Fit, Archived.") from None
    try:
        answer = await curate(asked.application, asked.actor, grid.api.resource, body, None)
    except CountChanged as error:
        return await _confirm(asked, grid, str(error), error.status_code)
    back = f"{CONSOLE}/{grid.name}?{asked.request.url.query}".rstrip("?")
    if answer.status_code == HTTPStatus.ACCEPTED:
        job = JobSummary.model_validate_json(bytes(answer.body))
        return redirect(asked, back, f"A job sets the rows to {body.curation_status}; it takes a while.", job.id)
    done = CurationResult.model_validate_json(bytes(answer.body))
    return redirect(asked, back, _sentence(grid, body.curation_status, done), done.action_id)


async def undo(action_id: ActionId, asked: CurrentPage, form: SentForm) -> Response:
    """Restore the rows of a decision that are still as it left them."""
    answer = await undo_curation_action(action_id, asked.application, asked.actor)
    back = own_path(form.get("back"))
    if answer.status_code == HTTPStatus.ACCEPTED:
        return redirect(asked, back, "A job restores the rows; it takes a while.")
    done = UndoResult.model_validate_json(bytes(answer.body))
    changed = f" {done.not_restored:,} were changed since, and stay as they are." if done.not_restored else ""
    return redirect(asked, back, f"Restored {done.restored:,} rows.{changed}")


async def _confirm(asked: PageRequest, grid: Grid, problem: str = "", status: int = HTTPStatus.OK) -> Response:
    shown = await read_grid(asked, grid, limit=1)
    body = CurateMatching(filter=_filter(grid, asked), curation_status=Curation.NEW, preview=True)
    answer = await curate(asked.application, asked.actor, grid.api.resource, body, None)
    counted = CurationResult.model_validate_json(bytes(answer.body))
    query = asked.request.url.query
    return page(asked, "decide_matching.html", status, shown=shown, counted=counted, problem=problem, query=query)


def _filter(grid: Grid, asked: PageRequest) -> RequestModel:
    """Return the filters of the address as the API takes them. Raises UnknownListFilter."""
    filters = grid.api.resource.filters
    fields = [(name, value) for name, value in asked.request.query_params.multi_items() if name in filters and value]
    query = _query(grid, fields, {}, 1)
    return grid.api.filter.model_validate(set_filters(query, grid.api.resource))


def _sentence(grid: Grid, decision: Curation, done: CurationResult) -> str:
    noun = grid.api.singular if done.matched == 1 else grid.name
    parts = [f"{done.matched:,} {noun}: {decision}."]
    if done.queued:
        parts.append(f"Queued the next step of {done.queued:,}.")
    if done.withdrawn:
        parts.append(f"Withdrew the queued work of {done.withdrawn:,}.")
    if done.unknown:
        parts.append(f"{done.unknown:,} are not there any more.")
    return " ".join(parts)


def _query(grid: Grid, fields: Sequence[tuple[str, str]], place: Mapping[str, str | None], limit: int) -> ListQuery:
    """Build the query of the list from the fields of the address. Raises UnknownListFilter."""
    values: dict[str, Any] = {**place, "limit": limit, "count": False}
    for name, value in fields:
        several = name in grid.api.resource.filters and grid.api.resource.filters[name].several
        values[name] = [*values.get(name, ()), value] if several else value
    try:
        return grid.api.query.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        message = first["msg"].removeprefix("Value error, ")
        raise UnknownListFilter(
            f"{first['loc'][0]}: {message}. Open the list without it, or choose another value."
        ) from None


async def _names(asked: PageRequest, ids: Mapping[str, str]) -> dict[str, str]:
    """Return the label of each row that a filter names by its id."""
    names: dict[str, str] = {}
    if not ids:
        return names
    async with asked.application.database.session(asked.actor.tenant_id) as session:
        for name, row_id in ids.items():
            resource = REFERENCES[name]
            row = await paginate.get(session, resource, asked.actor.tenant_id, _id(row_id))
            names[name] = str(getattr(row, resource.label))
    return names


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise UnknownName("The address holds something that is no id of a row.") from None


def _position(text: str | None) -> int:
    return min(int(text), MAX_POSITION) if text and text.isascii() and text.isdigit() else 0


def _chips(made: GridPage, names: Mapping[str, str]) -> list[Chip]:
    chips = []
    for place, (name, value) in enumerate(made.fields):
        if name == "sort":
            continue
        kept = [pair for other, pair in enumerate(made.fields) if other != place]
        without = f"{made.base}?{urlencode(kept)}" if kept else made.base
        shown = {"true": "yes", "false": "no"}.get(value, value)
        chips.append(Chip(label_of(name), names.get(name, shown), without))
    return chips


def _filter_fields(
    resource: Resource, fields: Sequence[tuple[str, str]], fixed: Mapping[str, str]
) -> list[FilterField]:
    values = dict(fields)
    shown = [name for name in resource.filters if name not in REFERENCES and name not in fixed]
    shown.sort(key=lambda name: name not in FIRST_FILTERS)
    return [
        FilterField(name, label_of(name), choices_of(resource.filters[name].type), values.get(name, ""))
        for name in shown
        if name not in TIMES
    ]


def label_of(name: str) -> str:
    """Return a filter's name in words."""
    return LABELS.get(name, name.removesuffix("_status").replace("_", " "))


def choices_of(kind: Any) -> tuple[tuple[str, str], ...]:
    """Return the values and labels of a filter with a vocabulary; none for free text."""
    if kind is bool:
        return (("true", "yes"), ("false", "no"))
    if get_origin(kind) is Literal:
        return tuple((word, word) for word in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return tuple((word.value, word.value) for word in kind)
    return ()
