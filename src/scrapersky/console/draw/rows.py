"""Rows of grids. They are drawn here and not by a template because a page has hundreds of cells, and as short as HTML
allows: without the end tags that the next cell or row implies.

A cell is a paragraph of its own, whose direction the style takes from its text; so its text needs no `<bdi>`.
"""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from scrapersky.console.columns import Column, Grid
from scrapersky.console.draw.words import cut, host_of, number, path_of, phone, web_address, when
from scrapersky.console.language import gettext as _
from scrapersky.store.listing.suppressed_numbers import FIELD as NUMBER_SUPPRESSED

NAME_LENGTH = 40  # of a row in the label of its box
STYLED = ("number", "rating", "share", "phone", "time", "curation", "email")  # kinds of columns with a style

_BOX = Markup('<td><input type="checkbox" name="id" value="{} {}" aria-label="{}">')
_NAME = Markup('<th scope="row"><a href="{}/{}" data-open>{}</a>')
_BELOW = Markup('<span class="why">{}</span>')
_SUPPRESSED = Markup('<strong class="suppressed">{}</strong>')
_ROW, _OPEN_ROW = Markup("<tr>"), Markup('<tr class="is-open">')
_PLAIN = Markup("<td>")
_STYLED = {kind: Markup('<td class="{}">').format(kind) for kind in STYLED}
# Pages of crawled sites: they do not learn where the person came from.
_WEB = Markup('<a class="web" href="{}" rel="noopener noreferrer" target="_blank">{}</a>')
_PATH = Markup('<a href="{}" rel="noopener noreferrer" target="_blank">{}</a>')


def heading(grid: Grid, row: Any) -> str:
    """Return what a row is called: the first of its names that it has."""
    for name in grid.heading:
        if value := getattr(row, name):
            return phone(str(value if isinstance(value, str) else next(iter(value.values()))))
    return str(row.id)


def short_heading(grid: Grid, row: Any) -> str:
    """Return what a row is called in a list: a URL by its path where its domain stands beside it."""
    name = heading(grid, row)
    if grid.heading != ("url",) or not web_address(name):
        return name
    host = host_of(name)
    return path_of(name) if row.domain and host.removeprefix("www.") == row.domain else f"{host}{path_of(name)}"


def row_line(grid: Grid, columns: Sequence[Column], row: Any, base: str, can_tick: bool, is_open: bool) -> Markup:
    """Draw a row: its box, its name as a link to its page below `base`, and its cells."""
    name, parts = short_heading(grid, row), [_OPEN_ROW if is_open else _ROW]
    if can_tick:
        parts.append(_BOX.format(row.id, row.curation_status, _("Select %(name)s") % {"name": cut(name, NAME_LENGTH)}))
    parts.append(_NAME.format(base, row.id, cut(name)))
    below = [escape(cut(text))] if (text := getattr(row, grid.below_heading, None)) else []
    if is_suppressed(row):
        below.insert(0, _suppressed())
    if below:
        parts.append(_BELOW.format(Markup(" · ").join(below)))
    for column in columns:
        parts += (_STYLED.get(column.kind, _PLAIN), cell(column, row))
    return Markup("\n").join((Markup().join(parts), ""))


def cell(column: Column, row: Any) -> Markup:
    """Draw the value of a column; without a value nothing: the style draws a dash."""
    value = getattr(row, column.field)
    if value is None or value in ("", []):
        return Markup()
    return _KINDS.get(column.kind, _text)(column, row, value)


def _text(_column: Column, _row: Any, value: Any) -> Markup:
    return escape(cut(value))


def _state(column: Column, row: Any, value: str) -> Markup:
    """Draw a word of a state; the style adds its glyph, and the error stands in the title."""
    why = getattr(row, column.field.replace("_status", "_error"), None) if column.kind == "status" else None
    title = Markup(' title="{}"').format(cut(why)) if why else ""
    name = f"{column.kind}-{value.lower().replace(' ', '-')}"
    return Markup('<span class="{}"{}>{}</span>').format(name, title, _(value))


def _words(_column: Column, _row: Any, value: Any) -> Markup:
    return escape(cut(value if isinstance(value, str) else ", ".join(value)))


def _web(_column: Column, _row: Any, value: str) -> Markup:
    """Draw a web address as a link with its host and its path."""
    if not web_address(value):
        return escape(cut(value))
    path = path_of(value)
    tail = Markup('<span class="path"><bdi>{}</bdi></span>').format(cut(path, 80)) if path != "/" else ""
    shown = Markup("<bdi>{}</bdi>{}").format(cut(host_of(value), 60), tail)
    return _WEB.format(value, shown)


def _path(_column: Column, _row: Any, value: str) -> Markup:
    """Draw a web address as a link that shows its path alone."""
    if not web_address(value):
        return escape(cut(value))
    shown = path_of(value) if path_of(value) != "/" else host_of(value)
    return _PATH.format(value, cut(shown, 80))


_KINDS: dict[str, Callable[[Column, Any, Any], Markup]] = {
    "status": _state,
    "curation": _state,
    "verdict": _state,
    "words": _words,
    "web": _web,
    "path": _path,
    "time": lambda _column, _row, value: escape(when(value)),
    "number": lambda _column, _row, value: escape(number(value)),
    "rating": lambda _column, _row, value: escape(f"{value:.1f}"),
    "share": lambda _column, _row, value: escape(f"{value:.2f}"),
    "email": lambda _column, row, value: _reach(
        row, "mailto", quote(value, safe="@/"), _broken_at_sign(cut(value, 80))
    ),
    "phone": lambda _column, row, value: _reach(row, "tel", quote(value, safe="+/"), escape(cut(phone(value), 40))),
}


def _broken_at_sign(address: str) -> Markup:
    """Return an email address that may be broken before its sign."""
    return Markup("<wbr>@").join(escape(part) for part in address.split("@"))


def _reach(row: Any, scheme: str, address: str, shown: Markup) -> Markup:
    """Draw an address or number as a link that writes or calls, unless the contact or the number is suppressed."""
    if is_suppressed(row):
        return shown
    if getattr(row, NUMBER_SUPPRESSED, False):
        return shown + _BELOW.format(_suppressed())
    return Markup('<a href="{}:{}">{}</a>').format(scheme, address, shown)


def _suppressed() -> Markup:
    return _SUPPRESSED.format(_("suppressed"))


def is_suppressed(row: Any) -> bool:
    """Tell whether a row is a contact that must not be written to."""
    return getattr(row, "suppressed_at", None) is not None
