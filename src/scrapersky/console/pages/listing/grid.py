"""The grid of a noun: one page of its list as the address says, whole or in parts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.accounts.auth import PreferencesChange, change_preferences
from scrapersky.api.http.authorization import CurrentUser
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line.views import VIEWED, ViewSummary, list_views
from scrapersky.api.resources.models import set_filters
from scrapersky.api.resources.rows import list_page
from scrapersky.api.schemas.fields import RequestModel
from scrapersky.api.schemas.listing import Listing, ListQuery
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import Grid
from scrapersky.console.forms import SentFields, first_wrong
from scrapersky.console.gates import PageRequest, own_path
from scrapersky.console.grid_layout import GridLayout, read_layout, sent_columns
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark
from scrapersky.console.pages.listing import filters
from scrapersky.console.pages.listing.filters import Chip, FilterMenu
from scrapersky.console.pages.listing.row import RowPage, read_row
from scrapersky.console.pages.listing.views import query_of
from scrapersky.core.errors import BadRequest
from scrapersky.store.listing.paginate import Count

PAGE_ROWS = 50
MAX_POSITION = 10_000_000
OWN_FIELDS = ("sort", "cursor", "before", "at", "open", "menu")  # of the page, besides the filters
MENUS = ("filters", "columns", "views")  # menus besides those of the filters
QUOTED = re.compile(r"'([^']{1,60})'")  # the choices in an error of pydantic
# What a filter takes, by the beginning of the kind of the error.
WANTED = {
    "bool": mark("true or false"),
    "uuid": mark("the id of a row"),
    "float": mark("a number"),
    "int": mark("a number"),
}
WITH_ROWS, WITH_MENU, WITH_PANEL = (None, "grid", "rows"), (None, "menu"), (None, "panel")  # parts of the page


class UnknownListFilter(BadRequest):
    """The address of this list holds a filter that it cannot use."""

    status_code = 422

    def __init__(self, message: str, name: str = "") -> None:
        """Take what is wrong, and the field of the address that is wrong."""
        super().__init__(message)
        self.members = {"wrong_filter": name}


@dataclass(frozen=True)
class GridPage:
    """One page of a grid with everything that its template shows."""

    grid: Grid
    query: ListQuery
    fields: Sequence[tuple[str, str]]  # of the address: filters and sort
    listing: Listing[Any]
    count: Count
    chips: Sequence[Chip]
    at: int  # rows before this page
    base: str  # the path of the list
    layout: GridLayout
    menu: str = ""  # the open menu
    filter_menu: FilterMenu | None = None
    views: Sequence[ViewSummary] = ()  # of the menu of views
    opened: RowPage | None = None

    def address(self, **changes: str | None) -> str:
        """Return the address of this list with other fields; None removes one, and a cursor goes with its position."""
        kept = [(name, value) for name, value in self.fields if name not in changes]
        kept += [(name, value) for name, value in changes.items() if value is not None]
        return filters.address(self.base, kept)

    @property
    def here(self) -> dict[str, str | None]:
        """The fields of the address that name the place in the list."""
        at = str(self.at) if self.at else None
        return {"cursor": self.query.cursor, "before": self.query.before, "at": at}

    @property
    def next_page(self) -> str | None:
        """The address of the page after this one."""
        after = self.listing.next_cursor
        return self.address(cursor=after, at=str(self.at + len(self.listing.items))) if after else None

    @property
    def previous_page(self) -> str | None:
        """The address of the page before this one."""
        before = self.listing.previous_cursor
        return self.address(before=before, at=str(max(self.at - self.query.limit, 0))) if before else None

    @property
    def addable(self) -> list[tuple[str, str]]:
        """The filters that are not set, by name and label."""
        return filters.unset(self.grid.api.resource, self.fields)

    @property
    def is_noun(self) -> bool:
        """Whether it is the list of a noun: its columns can be chosen, and it can be saved as a view."""
        return self.grid.name in VIEWED

    @property
    def has_text(self) -> bool:
        """Whether its rows can be found by how they begin."""
        return "text" in self.grid.api.resource.filters

    @property
    def query_text(self) -> str:
        """The filters and the sort as a saved view holds them."""
        return query_of(self.grid, self.fields)

    @property
    def text(self) -> str:
        """The beginning of names that the list is filtered by."""
        return dict(self.fields).get("text", "")

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
    """Read one page of a noun's list as the address says; `fixed` filters are not part of the address.

    Where one part of the page is asked for, only that part is read.
    """
    resource, sent, part = grid.api.resource, asked.request.query_params, asked.part
    fields = [(name, value) for name, value in sent.multi_items() if value and name in {*resource.filters, "sort"}]
    place = {name: sent.get(name) or None for name in ("cursor", "before")}
    query = list_query(grid, [*fields, *(fixed or {}).items()], place, limit)
    base = base or f"{CONSOLE}/{grid.name}"
    listing: Listing[Any] = Listing(items=[], next_cursor=None, previous_cursor=None, total=0, more=False)
    names: dict[str, str] = {}
    if part in WITH_ROWS:
        listing = await list_page(
            asked.application, asked.actor, resource, grid.api.summary, query, grid.api.complete,
            count_each=part != "rows", unmerged=True,
        )  # fmt: skip
        listing.items = [grid.api.mask(row, asked.actor) for row in listing.items]
        names = await filters.reference_names(asked, fields) if part != "rows" else {}
    menu = sent.get("menu", "") if part in WITH_MENU else ""
    opened = sent.get("open") if part in WITH_PANEL else None
    return GridPage(
        grid,
        query,
        fields,
        listing,
        Count(listing.total or 0, bool(listing.more)),
        filters.chips(resource, fields, base, names),
        _position(sent.get("at")) if query.cursor or query.before else 0,
        base,
        read_layout(asked.preferences, grid),
        menu,
        await filters.menu(asked, resource, menu, fields, base, set_filters(query, resource))
        if menu and menu not in MENUS
        else None,
        await _views(asked, grid) if menu == "views" else (),
        await read_row(asked, grid, filters.id_of(opened)) if opened else None,
    )


async def show_list(asked: PageRequest, grid: Grid) -> Response:
    """Draw the list of a noun. Raises UnknownListFilter."""
    sent = asked.request.query_params.multi_items()
    allowed = {*grid.api.resource.filters, *OWN_FIELDS}
    if unknown := sorted({name for name, _value in sent} - allowed):
        said = _("%(filter)s is not a filter of this list. Open the list without it.")
        raise UnknownListFilter(said % {"filter": ascii(unknown[0][:60])}, unknown[0])
    if any(not value for _name, value in sent):  # an empty field of a form
        kept = [(name, value) for name, value in sent if value]
        return redirect(asked, filters.address(f"{CONSOLE}/{grid.name}", kept))
    return page(asked, "grid.html", shown=await read_grid(asked, grid))


async def keep_layout(asked: PageRequest, user_id: CurrentUser, grid: Grid, form: SentFields) -> Response:
    """Keep which columns the person wants in which order, and how dense."""
    columns = {**asked.preferences.columns, grid.name: tuple(sent_columns(grid, form))}
    density = "dense" if form.get("density") == "dense" else "normal"
    body = PreferencesChange.model_validate({"columns": columns, "density": density})
    await change_preferences(body, asked.application, asked.actor, user_id)
    return redirect(asked, own_path(form.get("back") or f"{CONSOLE}/{grid.name}"))


def list_filter(grid: Grid, asked: PageRequest) -> RequestModel:
    """Return the filters of the address as the API takes them. Raises UnknownListFilter."""
    known = grid.api.resource.filters
    fields = [(name, value) for name, value in asked.request.query_params.multi_items() if name in known and value]
    query = list_query(grid, fields, {}, 1)
    return grid.api.filter.model_validate(set_filters(query, grid.api.resource))


def list_query(grid: Grid, fields: filters.Fields, place: Mapping[str, str | None], limit: int) -> ListQuery:
    """Build the query of the list from the fields of the address. Raises UnknownListFilter."""
    values: dict[str, Any] = {**place, "limit": limit, "count": False}
    for name, value in fields:
        several = name in grid.api.resource.filters and grid.api.resource.filters[name].several
        values[name] = [*values.get(name, ()), value] if several else value
    try:
        return grid.api.query.model_validate(values)
    except ValidationError as error:
        raise wrong_filter(error) from None


def wrong_filter(error: ValidationError) -> UnknownListFilter:
    """Return the error about the first filter whose value was refused."""
    first = error.errors()[0]
    name, kind = str(first["loc"][0]) if first["loc"] else "", first["type"]
    words = {"filter": _(filters.label_of(name)), "value": ascii(str(first["input"])[:60])}
    if choices := QUOTED.findall(str(first.get("ctx", {}).get("expected", ""))):
        said = _("The filter “%(filter)s” cannot be %(value)s. Choose one of: %(choices)s.")
        words["choices"] = ", ".join(_(filters.word_of(name, choice)) for choice in choices)
    elif wanted := next((wanted for prefix, wanted in WANTED.items() if kind.startswith(prefix)), None):
        said = _("The filter “%(filter)s” cannot be %(value)s: it takes %(wanted)s.")
        words["wanted"] = _(wanted)
    else:
        said = _("The filter “%(filter)s” cannot be %(value)s: %(why)s.")
        words["why"] = first_wrong(error)[1]
    return UnknownListFilter(said % words, name)


async def _views(asked: PageRequest, grid: Grid) -> Sequence[ViewSummary]:
    if asked.actor.user_id is None:
        return ()
    return (await list_views(asked.application, asked.actor, asked.actor.user_id, grid.name)).items


def _position(text: str | None) -> int:
    return min(int(text), MAX_POSITION) if text and text.isascii() and text.isdigit() else 0
