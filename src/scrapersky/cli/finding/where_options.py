"""The options of `scrapersky find` that say where to look."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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


def with_where(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say where to look; its parameter `where` receives what they say.

    With one `--country`, which is also a filter of leads, places of that country are looked for only.
    """
    signature = inspect.signature(command)
    own = [each for name, each in signature.parameters.items() if name != "where"]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in OPTIONS.items()
    ]

    @wraps(command)
    def run(**arguments: Any) -> None:
        given = {name: arguments.pop(name, None) for name in OPTIONS}
        countries: list[str] = list(arguments.get("filters", {}).get("country") or ())
        country = countries[0] if len(countries) == 1 else None
        command(where=_given_where(country=country, **given), **arguments)

    run.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    del run.__wrapped__
    return run


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

    try:
        with path.open("rb") as stream:
            text = stream.read(MAX_TOWNS_BYTES + 1)
        names = [name for line in text.decode("utf-8-sig").splitlines() if (name := line.strip())]
    except OSError as error:
        raise BadFindRequest(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadFindRequest(f"{path} is not text in UTF-8.") from None
    if len(text) > MAX_TOWNS_BYTES:
        raise BadFindRequest(f"{path} is larger than {MAX_TOWNS_BYTES // 1000} kB: it is not a list of towns.")
    if not names:
        raise BadFindRequest(f"{path} has no town.")
    return names
