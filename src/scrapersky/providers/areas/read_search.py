"""Reads what and where from the words of a search: "dentists in Helsinki", "dentists, Turku", "hotels near Oulu"."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import isfinite

from scrapersky.extract.countries import country_code
from scrapersky.providers.areas.geometry import Box, Circle, Polygon
from scrapersky.providers.areas.where import UnclearSearch, Where, length_words

DEFAULT_RADIUS_METRES = 5_000
MIN_RADIUS_METRES, MAX_RADIUS_METRES = 50, 200_000
MAX_BOX_DEGREES = 180  # from west to east
MAX_NAMES, MAX_NAME_LENGTH = 200, 200
# "dentists in Helsinki": split at the last plain preposition ("walk in clinics in Boston"), else at the first short
# one, which may also be part of the name of a place. "walk in", "drive in" and the like do not split.
_PLAIN = re.compile(
    r"\s{1,20}(?P<near>in der nähe von|in der umgebung von|in de buurt van|i närheten av|near|nearby|close to|around"
    r"|bei|nahe|rund um|nära|bij|cerca de|pr[eè]s de|proche de|autour de|vicino a|perto de|lähellä|koło)\s{1,20}"
    r"|\s{1,20}(?:within\s{1,5})?(?P<radius>[\d.,]{1,12}\s?(?:km|kilomet(?:er|re)s?|m|met(?:er|re)s?|mi|miles?))"
    r"\s{1,5}(?:of|from|around)\s{1,20}"
    r"|(?<!\bwalk)(?<!\bdrive)(?<!\bdrop)(?<!\blive)(?<!\bplug)(?<!\bbuilt)(?<!\bstand)(?<!\bsit)\s{1,20}in\s{1,20}"
    r"|\s{1,20}(?:dans|within)\s{1,20}",
    re.IGNORECASE,
)
_SHORT = re.compile(r"\s{1,20}(?:à|au|aux|a|en|em|i|w|we|v|ve|в|во)\s{1,20}", re.IGNORECASE)
_WITHIN_AT_END = re.compile(
    r",?\s{1,20}within\s{1,5}(?P<radius>[\d.,]{1,12}\s?(?:km|kilomet(?:er|re)s?|m|met(?:er|re)s?|mi|miles?))\s{0,5}$",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"\s{0,20}((?<!\d)[,;|]|[,;|](?!\s{0,20}[-+]?\d{1,3}\.\d))\s{0,20}")  # none of a point
_POINT = re.compile(r"[-+]?\d{1,3}\.\d{1,20}[,;\s]{1,5}[-+]?\d{1,3}\.\d{1,20}")
_REPEATED = re.compile(r"^(?:in\s{1,20}){1,5}", re.IGNORECASE)
_BEFORE_NAME = re.compile(r"^(?:(?:in|at|of|from|@|[-–—:/])\s{1,20}){1,5}", re.IGNORECASE)
_LENGTH = re.compile(
    r"\s{0,5}(\d{1,9}(?:[.,]\d{1,6})?)\s{0,5}(km|kilomet(?:er|re)s?|m|met(?:er|re)s?|mi|miles?)?\s{0,5}", re.IGNORECASE
)
_METRES = {"k": 1000.0, "m": 1.0, "mi": 1609.344}
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,2}", re.IGNORECASE)
_QUOTES = dict.fromkeys(map(ord, '"“”„«»'))
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


@dataclass(frozen=True)
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
    words = " ".join(text.translate(_QUOTES).split())
    where = _given(parts)
    _refuse_open_end(words)
    if where.is_given:
        what = words
        for name in where.names:
            what = what.removesuffix(f" in {name}")
        _refuse_second_area(what, where, kind_in)
    else:
        read = split(words, kind_in)
        what = read.what
        if read.where and read.where.lower() in _HERE:
            raise UnclearSearch(
                'It is unknown where you are: give a point as "near", such as 60.17,24.94, and a radius.'
            )
        if read.radius and not read.where:
            raise UnclearSearch(f'No place is near: write "dentists within {read.radius} of Helsinki".')
        said = read.where or ""
        is_near = bool(read.is_near or parts.radius or _POINT.fullmatch(said))
        radius = radius_metres(parts.radius or read.radius) if is_near and said else None
        if radius and (point := _point(said)):
            where = replace(where, shape=Circle(*point, radius))
        else:
            where = replace(where, names=_names([said]), radius_metres=radius)
    what = what.rstrip(",; ")
    if not what:
        raise UnclearSearch('The search does not say what to look for: write "dentists in Helsinki".')
    if parts.radius and not where.is_given:
        raise UnclearSearch('A radius needs a point or a place: give "near", too.')
    if needs_area and not where.is_given:
        raise UnclearSearch(
            f"The area is missing{_advice(what[:60], kind_in)}, or give a place, a point, a box or a polygon."
        )
    return what, where


def _advice(what: str, kind_in: KindIn | None) -> str:
    """Return how to write a search whose area was not read: the area may stand before the kind, "New York dentists"."""
    kind = kind_in(what) if kind_in else what
    if kind and what[:1].isupper() and what.lower().endswith(f" {kind}"):
        return f' or is not behind what to look for: write "{kind} in Helsinki"'
    return f': write "{what if kind else "dentists"} in Helsinki"'


def _refuse_open_end(words: str) -> None:
    """Raise UnclearSearch if the words end where the name of a place should follow: "dentists in"."""
    text = f" {words.rstrip(',; ')} "
    last = [*_PLAIN.finditer(text)][-1:]
    if last and last[0].end() == len(text) and last[0].start():
        said = last[0].group().strip()
        raise UnclearSearch(f'No place follows "{said}": write "dentists {said} Helsinki".')


def _refuse_second_area(what: str, where: Where, kind_in: KindIn | None) -> None:
    """Raise UnclearSearch if the words name another area than the one that is given beside them.

    Words behind a preposition that are a kind of business name no place: "bed in a box shops".
    """
    named = split(what).where if kind_in and _PLAIN.search(f" {what}") else None
    if named and kind_in and not kind_in(named):
        raise UnclearSearch(
            f"Two areas are given, {named[:60]!r} and {(where.words or '')[:60]!r}: leave out one of them. "
            "To search in both, give both beside the text, with a semicolon between them."
        )


def split(text: str, kind_in: KindIn | None = None) -> _Where:
    """Split a text at its preposition, at its first comma, or behind the kind of business it begins with."""
    text, radius = f" {text}", None
    if end := _WITHIN_AT_END.search(text):
        text, radius = text[: end.start()], end["radius"]
    found = [*_PLAIN.finditer(text)][-1:] or _before_an_area(text, kind_in)
    if found:
        match, named = found[0], found[0].groupdict()
        radius = radius or named.get("radius")
        what, where = text[: match.start()].strip(), _tidy(_REPEATED.sub("", text[match.end() :]))
        if kind_in and where and (inner := split(what)).where and _is_part(inner.where, where, kind_in):
            what, where = inner.what, f"{inner.where}, {where}"
        return _Where(what, where or None, radius, bool(named.get("near") or radius))
    text = text.strip()
    read = _at_comma(text, kind_in) or (_behind_the_kind(text, kind_in) if kind_in else _Where(text))
    return replace(read, radius=radius, is_near=bool(radius))


def _before_an_area(text: str, kind_in: KindIn | None) -> list[re.Match[str]]:
    """Return the first short preposition, if another follows not one before a kind: "bary i sklepy w Turku"."""
    found = [*_SHORT.finditer(text)]
    while len(found) > 1 and kind_in and kind_in(text[found[0].end() : found[1].start()]):
        del found[0]
    return found[:1]


def _at_comma(text: str, kind_in: KindIn | None) -> _Where | None:
    """Split a text at its first comma, semicolon or bar; None if there is none, or if a kind of business follows."""
    what, sign, where = (*_SEPARATOR.split(text, maxsplit=1), "", "")[:3]
    where = _tidy(where)
    if not (what and where) or (kind_in and kind_in(where)):
        return None
    inner = _behind_the_kind(what, kind_in) if kind_in else _Where(what)
    if kind_in and inner.where and (sign == ";" or _is_part(inner.where, where, kind_in)):
        return _Where(inner.what, f"{inner.where}{sign} {where}")
    return _Where(what, where)


def _is_part(name: str, where: str, kind_in: KindIn) -> bool:
    """Return whether words before an area name a place in it: those before a country, and a name in capitals."""
    return not kind_in(name) and (name[:1].isupper() or country_code(where) is not None)


def _tidy(name: str) -> str:
    """Return the name of a place without signs around it."""
    name = _SEPARATOR.sub(lambda sign: f"{sign[1]} ", name).strip(" !?,;|/@")
    if name.startswith("(") and name.endswith(")"):
        name = name[1:-1].strip()
    return name[:-1] if name.endswith(".") and name[-4:-1].islower() else name


def radius_metres(given: str | float | None) -> float:
    """Return a radius in metres; raise UnclearSearch if it is none, or too small or too large."""
    if given is None:
        return DEFAULT_RADIUS_METRES
    match = None if isinstance(given, int | float) else _LENGTH.fullmatch(given)
    if match is not None:
        unit = (match[2] or "m").lower()
        metres = float(match[1].replace(",", ".")) * _METRES["mi" if unit.startswith("mi") else unit[0]]
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
    names = _names(parts.names)
    if len(names) == 1 and _POINT.fullmatch(names[0]) and (point := _point(names[0])):
        return Where((), country, language, None, Circle(*point, radius_metres(parts.radius)))
    if len(names) > MAX_NAMES:
        raise UnclearSearch(f"{len(names)} places are named; one search looks in {MAX_NAMES} at most.")
    return Where(names, country, language, radius_metres(parts.radius) if parts.radius and names else None)


def _behind_the_kind(text: str, kind_in: KindIn) -> _Where:
    """Split "hammaslääkärit Turku" behind the kind of business, if words follow it."""
    words, kind = text.split(), kind_in(text)
    ends = (end for end in range(1, len(words)) if kind and kind_in(" ".join(words[:end])) == kind)
    end = next(ends, len(words))  # the first words that have the whole name of the kind
    return _Where(" ".join(words[:end]), _tidy(_BEFORE_NAME.sub("", " ".join(words[end:]))) or None)


def _names(given: Iterable[str]) -> tuple[str, ...]:
    """Return the names of places, each once; semicolons are between several."""
    written = [name for each in given for name in _BETWEEN_NAMES.split(each)]
    return tuple(dict.fromkeys(_name(name) for name in written if name.strip()))


def _name(text: str) -> str:
    name = " ".join(text.translate(_QUOTES).split())
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
    """Return latitude and longitude; None if the text is a name or a postcode: 00-950, 110 00."""
    if not re.search("[.,;]", text):
        return None
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
        raise UnclearSearch("The box is empty: its order is south,west,north,east, and south is less than north.")
    if (east - west if east > west else east - west + 360) > MAX_BOX_DEGREES:
        raise UnclearSearch(
            f"The box is wider than half the world ({MAX_BOX_DEGREES} degrees): give a smaller one, or the name of a "
            "region. One search covers a country at most."
        )
    return Box(south, west, north, east)


def _checked(latitude: float, longitude: float) -> tuple[float, float]:
    if abs(latitude) > 90 or abs(longitude) > 180:
        swapped = " They may be swapped: latitude comes first." if abs(longitude) <= 90 < abs(latitude) <= 180 else ""
        raise UnclearSearch(
            f"{latitude:g}, {longitude:g} is not a point: latitudes end at 90, longitudes at 180.{swapped}"
        )
    return latitude, longitude
