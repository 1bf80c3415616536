"""Questions in Overpass QL: kinds or names within an area, and one element by its id."""

import re

from scrapersky.providers.area import Area, Box

TIMEOUT_SECONDS = 60
MEMORY_BYTES = 134_217_728
# What keeps a name search away from streets, stops and benches.
BUSINESS_KEYS = "^(shop|craft|office|amenity|healthcare|tourism|leisure)$"
FIRST_AREA = 3_600_000_000  # an area's id is this and the id of the relation that is its border
_ELEMENT = re.compile(r"(node|way|relation)/([1-9][0-9]{0,18})")
_HEAD = f"[out:json][timeout:{TIMEOUT_SECONDS}][maxsize:{MEMORY_BYTES}];"


def by_tags(tags: tuple[str, ...], area: Area, most: int) -> str:
    """Everything that has a name and one of these tags ("craft=plumber", or "craft" alone)."""
    return _within(area, [f'["name"]{_tag_filter(tag)}' for tag in tags], most)


def by_name(text: str, area: Area, most: int) -> str:
    """Every business whose name contains the text, in any case."""
    return _within(area, [f'["name"~{_quoted(re.escape(text))},i][~{_quoted(BUSINESS_KEYS)}~"."]'], most)


def by_id(provider_id: str) -> str | None:
    """One element, such as node/123; None when this is no such id."""
    match = _ELEMENT.fullmatch(provider_id)
    return f"{_HEAD}\n{match[1]}({match[2]});\nout center tags;" if match else None


def _within(area: Area, filters: list[str], most: int) -> str:
    # The box beside the border costs nothing and spares the server the whole country.
    border = "" if area.relation is None else "(area.a)"
    lines = [_HEAD] if area.relation is None else [_HEAD, f"area({FIRST_AREA + area.relation})->.a;"]
    # In halves: not every Overpass server takes a box whose west is east of its east.
    parts = " ".join(f"nwr{border}{one}{_box(box)};" for one in filters for box in area.box.halves())
    return "\n".join([*lines, f"( {parts} );", f"out center tags qt {most};"])


def _box(box: Box) -> str:
    return f"({box.south:.7f},{box.west:.7f},{box.north:.7f},{box.east:.7f})"


def _tag_filter(tag: str) -> str:
    key, equals, value = tag.partition("=")
    return f"[{_quoted(key)}={_quoted(value)}]" if equals else f"[{_quoted(key)}]"


def _quoted(text: str) -> str:
    """A string of the language: nothing in it can end it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
