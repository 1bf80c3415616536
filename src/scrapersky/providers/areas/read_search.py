"""Reads what and where from the words of a search: "dentists in Helsinki", "dentists, Turku", "hotels near Oulu"."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import isfinite

from scrapersky.extract.countries import country_code
from scrapersky.providers.areas.geometry import Box, Circle, Polygon
from scrapersky.providers.areas.where import UnclearSearch, Where, length_words

DEFAULT_RADIUS_METRES = 5_000
MIN_RADIUS_METRES, MAX_RADIUS_METRES = 50, 200_000
MAX_NAMES, MAX_NAME_LENGTH = 200, 200
# "dentists in Helsinki": split at the last plain preposition ("walk in clinics in Boston"), else at the first short
# one, which may also be part of the name of a place. "walk in", "drive in" and the like do not split.
_PLAIN = re.compile(
    r"(?:(?<!\bwalk)(?<!\bdrive)(?<!\bdrop)(?<!\blive)(?<!\bplug)(?<!\bbuilt)(?<!\bstand)(?<!\bsit)\s{1,20}in"
    r"|\s{1,20}(?:dans|(?P<near>near|close to|around|bei|nahe|nära|bij|cerca de|près de|vicino a|lähellä)"
    r"|within\s{1,5}(?P<radius>[\d.,]{1,12}\s?(?:km|m|mi|miles?))\s{1,5}(?:of|from|around)|within))\s{1,20}",
    re.IGNORECASE,
)
_SHORT = re.compile(r"\s{1,20}(?:à|au|aux|a|en|em|i|w|we|v|ve)\s{1,20}", re.IGNORECASE)
_LENGTH = re.compile(r"\s{0,5}(\d{1,9}(?:[.,]\d{1,6})?)\s{0,5}(km|m|mi|miles?)?\s{0,5}", re.IGNORECASE)
_METRES = {"km": 1000.0, "m": 1.0, "mi": 1609.344, "mile": 1609.344, "miles": 1609.344}
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,2}", re.IGNORECASE)
_HERE = ("me", "here", "my location", "mir", "minua")
_BETWEEN_NAMES = re.compile(r"\s{0,20}[;\n]\s{0,20}")


# Returns the longest known kind of business in a text; None if there is none.
KindIn = Callable[[str], str | None]


@dataclass(frozen=True)
class GivenWhere:
    """The parts of a request that say where to look, as a person wrote them; all may be empty."""

    names: tuple[str, ...] = ()
    near: str | None = None  # a point ("60.17,24.94") or a name
    radius: str | float | None = None  # "5km"; a number is in metres
    box: str | None = None
    polygon: Polygon | None = None
    country: str | None = None
    language: str | None = None

    @property
    def is_given(self) -> bool:
        """Whether a place or a shape is among them."""
        return bool(self.names or self.near or self.box or self.polygon)


@dataclass
class _Where:
    """The parts of a text: what to look for, where, and whether near it."""

    what: str
    where: str | None = None
    radius: str | None = None
    is_near: bool = field(default=False)


def read_search(
    text: str, given: GivenWhere | str | None = None, *, needs_area: bool = True, kind_in: KindIn | None = None
) -> tuple[str, Where]:
    """Return what and where in normal form, so that equal searches are stored equally; raise UnclearSearch.

    With `kind_in`, the words behind a known kind of business are the area.
    """
    parts = given if isinstance(given, GivenWhere) else GivenWhere((given,) if given else ())
    words = " ".join(text.split())
    where = _given(parts)
    if where.is_given:
        what = words
        for name in where.names:
            what = what.removesuffix(f" in {name}")
    else:
        read = split(words, kind_in)
        what = read.what
        if read.where and read.where.lower() in _HERE:
            raise UnclearSearch('It is unknown where you are: give a point, such as --near "60.17,24.94" --radius 5km.')
        near = bool(read.is_near or parts.radius)
        radius = radius_metres(parts.radius or read.radius) if near and read.where else None
        where = replace(where, names=(read.where,) if read.where else (), radius_metres=radius)
    if not what:
        raise UnclearSearch('It is not said what to look for: write "dentists in Helsinki".')
    if parts.radius and not where.is_given:
        raise UnclearSearch("A radius needs a point or a place: --near.")
    if needs_area and not where.is_given:
        example = f"{what[:60]} in Helsinki"
        raise UnclearSearch(f'The area is missing: write "{example}", or give a place, a point, a box or a polygon.')
    return what, where


def split(text: str, kind_in: KindIn | None = None) -> _Where:
    """Split a text at its preposition, at its first comma, or behind the kind of business it begins with."""
    text = f" {text}"
    found = [*_PLAIN.finditer(text)][-1:] or [*_SHORT.finditer(text)][:1]
    if found:
        match, named = found[0], found[0].groupdict()
        radius = named.get("radius")
        is_near = bool(named.get("near") or radius)
        return _Where(text[: match.start()].strip(), text[match.end() :].strip() or None, radius, is_near)
    text = text.strip()
    what, comma, where = (part.strip() for part in text.partition(","))
    if comma and what and where and not (kind_in and kind_in(where)):
        return _Where(what, where)
    return _behind_the_kind(text, kind_in) if kind_in else _Where(text)


def radius_metres(given: str | float | None) -> float:
    """Return a radius in metres; raise UnclearSearch if it is none, or too small or too large."""
    if given is None:
        return DEFAULT_RADIUS_METRES
    match = None if isinstance(given, int | float) else _LENGTH.fullmatch(given)
    if match is not None:
        metres = float(match[1].replace(",", ".")) * _METRES[(match[2] or "m").lower()]
    elif isinstance(given, int | float):
        metres = float(given)
    else:
        raise UnclearSearch(f"{str(given)[:40]!r} is not a radius: write 800m, 5km or 3mi.")
    if not (isfinite(metres) and MIN_RADIUS_METRES <= metres <= MAX_RADIUS_METRES):
        limits = f"{length_words(MIN_RADIUS_METRES)} to {length_words(MAX_RADIUS_METRES)}"
        raise UnclearSearch(f"A radius of {length_words(metres)} cannot be searched; {limits} can.")
    return round(metres, 1)


def _given(parts: GivenWhere) -> Where:
    """Return where the parts say to look; raise UnclearSearch if they contradict each other."""
    shapes = [name for name in ("names", "near", "box", "polygon") if getattr(parts, name)]
    if len(shapes) > 1:
        raise UnclearSearch("Give one of these only: names of places, a point or place to be near, a box, a polygon.")
    country, language = _country(parts.country), _language(parts.language)
    if parts.radius and (parts.box or parts.polygon):
        raise UnclearSearch("A radius belongs to a point or a place, not to a box or a polygon.")
    if parts.box or parts.polygon:
        return Where((), country, language, None, _box(parts.box) if parts.box else parts.polygon)
    if parts.near:
        point = _point(parts.near)
        radius = radius_metres(parts.radius)
        if point:
            return Where((), country, language, None, Circle(*point, radius))
        return Where((_name(parts.near),), country, language, radius)
    written = [name for given in parts.names for name in _BETWEEN_NAMES.split(given)]
    names = tuple(dict.fromkeys(_name(name) for name in written if name.strip()))
    if len(names) > MAX_NAMES:
        raise UnclearSearch(f"{len(names)} places are named; one search looks in {MAX_NAMES} at most.")
    return Where(names, country, language, radius_metres(parts.radius) if parts.radius and names else None)


def _behind_the_kind(text: str, kind_in: KindIn) -> _Where:
    """Split "hammaslääkärit Turku" behind the kind of business, if words follow it."""
    words, kind = text.split(), kind_in(text)
    ends = (end for end in range(1, len(words)) if kind and kind_in(" ".join(words[:end])) == kind)
    end = next(ends, len(words))  # the first words that have the whole name of the kind
    return _Where(" ".join(words[:end]), " ".join(words[end:]) or None)


def _name(text: str) -> str:
    name = " ".join(text.split())
    if len(name) > MAX_NAME_LENGTH:
        raise UnclearSearch(f"{name[:40]!r}… is too long for the name of a place.")
    return name


def _country(text: str | None) -> str | None:
    if text is None or not text.strip():
        return None
    code = country_code(text)
    if code is None:
        message = f"There is no country {text.strip()[:40]!r}: give its name, or its code such as FI or US."
        raise UnclearSearch(message, "where.country")
    return code


def _language(text: str | None) -> str | None:
    if text is None or not text.strip():
        return None
    if not _LANGUAGE.fullmatch(text.strip()):
        message = f"{text.strip()[:40]!r} is not the code of a language, such as en or pt-BR."
        raise UnclearSearch(message, "where.language")
    return text.strip().lower()


def _numbers(text: str, count: int) -> list[float] | None:
    parts = [part for part in re.split(r"[,;\s]{1,5}", text.strip()) if part]
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return None
    return numbers if len(numbers) == count and all(map(isfinite, numbers)) else None


def _point(text: str) -> tuple[float, float] | None:
    """Return latitude and longitude; None if the text is a name."""
    numbers = _numbers(text, 2)
    if numbers is None:
        if re.fullmatch(r"[-+\d.,;\s]{1,100}", text):
            raise UnclearSearch(f"{text.strip()[:40]!r} is not a point: write latitude,longitude, as in 60.17,24.94.")
        return None
    return _checked(numbers[0], numbers[1])


def _box(text: str) -> Box:
    numbers = _numbers(text, 4)
    if numbers is None:
        raise UnclearSearch(
            f'{text.strip()[:60]!r} is not a box: write "south,west,north,east", such as "60.15,24.90,60.20,25.00".'
        )
    south, west = _checked(numbers[0], numbers[1])
    north, east = _checked(numbers[2], numbers[3])
    if south >= north or west == east:
        raise UnclearSearch("The box has no inside: its order is south,west,north,east, and south is less than north.")
    return Box(south, west, north, east)


def _checked(latitude: float, longitude: float) -> tuple[float, float]:
    if abs(latitude) > 90 or abs(longitude) > 180:
        swapped = " They may be swapped: latitude comes first." if abs(longitude) <= 90 < abs(latitude) <= 180 else ""
        raise UnclearSearch(
            f"{latitude:g}, {longitude:g} is not a point: latitudes end at 90, longitudes at 180.{swapped}"
        )
    return latitude, longitude
