"""The options of `scrapersky find` that say where to look."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scrapersky.cli.shared.option_sets import with_options

if TYPE_CHECKING:
    from scrapersky.providers.areas.read_search import GivenWhere

MAX_TOWNS_BYTES = 100_000

WherePart = Annotated["GivenWhere", "where the options of with_where say to look; it replaces this parameter"]
_PANEL = "Where to look, if the search does not contain it"


def _option(kind: Any, name: str, text: str) -> Any:
    return Annotated[kind | None, typer.Option(name, help=text, rich_help_panel=_PANEL, show_default=False)]


OPTIONS = {
    "places": _option(list[str], "--in", "A town, a region or a postcode; may be repeated; see --country."),
    "towns": _option(Path, "--towns", "A file with one town a line, all searched as one."),
    "near": _option(str, "--near", 'A point ("60.17,24.94": latitude first) or a place to be near; see --radius.'),
    "radius": _option(str, "--radius", "The distance from it: 800m, 5km or 3mi; 5 km if left out."),
    "box": _option(str, "--box", 'A box: "south,west,north,east" in degrees.'),
    "polygon": _option(Path, "--polygon", "A GeoJSON file with a polygon."),
    "place_language": _option(str, "--place-language", "The language of the names of places: en, fi."),
}


def _read(given: dict[str, Any], arguments: Mapping[str, Any]) -> "GivenWhere":
    """Return where to look; with one `--country`, which is also a filter of leads, in that country only."""
    countries: list[str] = list(arguments.get("filters", {}).get("country") or ())
    return _given_where(country=countries[0] if len(countries) == 1 else None, **given)


def _given_where(
    places: list[str] | None,
    towns: Path | None,
    near: str | None,
    radius: str | None,
    box: str | None,
    polygon: Path | None,
    place_language: str | None,
    country: str | None,
) -> "GivenWhere":
    """Return where the options say to look. Raises BadPolygon, or BadFindRequest for an unreadable file of towns."""
    from scrapersky.providers.areas.geojson import read_polygon_file
    from scrapersky.providers.areas.read_search import GivenWhere

    names = (*(places or ()), *(_read_towns(towns) if towns else ()))
    shape = read_polygon_file(polygon) if polygon else None
    return GivenWhere(names, near, radius, box, shape, country, place_language)


def _read_towns(path: Path) -> list[str]:
    from scrapersky.cli.finding.request import BadFindRequest
    from scrapersky.extract.tabular.lines import UnusableTable, read_entries

    try:
        with path.open("rb") as stream:
            text = stream.read(MAX_TOWNS_BYTES + 1)
        names = [line.text for line in read_entries(BytesIO(text)) if line.text]
    except OSError as error:
        raise BadFindRequest(f"{path} cannot be read: {error.strerror}.") from None
    except UnusableTable as error:
        raise BadFindRequest(f"{path} is not a list of towns: {error}") from None
    if len(text) > MAX_TOWNS_BYTES:
        raise BadFindRequest(f"{path} is larger than {MAX_TOWNS_BYTES // 1000} kB: it is not a list of towns.")
    return names


# Gives a command the options that say where to look; its parameter `where` receives what they say.
with_where = with_options("where", OPTIONS, _read)
