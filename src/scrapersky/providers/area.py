"""Where to look: a rectangle on the globe, the area it belongs to, and the words that name it."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise
from math import cos, radians
from typing import Self

from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.base import PlaceQuery

METRES_PER_DEGREE = 111_320
ON_THE_MAP = (
    "openstreetmap",
    "google_places",
    "overture",
)  # these look around a place; a file has one place of its own
# "dentists in Helsinki": the last of the plain words counts ("walk in clinics in Boston"), else the first of the
# short ones, which may also stand inside a place's name. What one walks or drives in is no place.
_PLAIN = re.compile(
    r"(?:(?<!\bwalk)(?<!\bdrive)(?<!\bdrop)(?<!\blive)(?<!\bplug)(?<!\bbuilt)(?<!\bstand)(?<!\bsit)\s{1,20}in"
    r"|\s{1,20}(?:near|around|within|bei|nahe|dans|nära|bij))\s{1,20}",
    re.IGNORECASE,
)
_SHORT = re.compile(r"\s{1,20}(?:à|au|aux|a|en|em|i|w|we|v|ve)\s{1,20}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in degrees; one that crosses the antimeridian has its west east of its east."""

    south: float
    west: float
    north: float
    east: float

    @property
    def width(self) -> float:
        """Degrees from west to east, across the antimeridian where need be."""
        return self.east - self.west if self.east >= self.west else self.east - self.west + 360

    @property
    def shorter_side_metres(self) -> float:
        """The smaller of height and width, on the ground."""
        middle = radians((self.south + self.north) / 2)
        return min(self.north - self.south, self.width * cos(middle)) * METRES_PER_DEGREE

    def quarters(self) -> tuple["Box", "Box", "Box", "Box"]:
        """Four boxes that share edges and cover this one."""
        latitude, longitude = (self.south + self.north) / 2, wrapped(self.west + self.width / 2)
        return (
            Box(self.south, self.west, latitude, longitude),
            Box(self.south, longitude, latitude, self.east),
            Box(latitude, self.west, self.north, longitude),
            Box(latitude, longitude, self.north, self.east),
        )

    def halves(self) -> tuple["Box", ...]:
        """This box, or what of it lies on each side of the antimeridian: for whoever knows no box that crosses it."""
        if self.west <= self.east:
            return (self,)
        sides = (Box(self.south, self.west, self.north, 180.0), Box(self.south, -180.0, self.north, self.east))
        return tuple(side for side in sides if side.west < side.east)

    @classmethod
    def around(cls, points: list[tuple[float, float]], margin: float = 0.25) -> Self:
        """The smallest box that holds these points (latitude, longitude), wider on each side by a share of its size."""
        latitudes = [point[0] for point in points]
        south, north = min(latitudes), max(latitudes)
        west, east = _narrowest([point[1] for point in points])
        exact = cls(south, west, north, east)
        high, wide = max(north - south, 0.01) * margin, max(exact.width, 0.01) * margin
        south, north = max(south - high, -90), min(north + high, 90)
        if exact.width + 2 * wide >= 360:
            return cls(south, -180, north, 180)
        return cls(south, wrapped(west - wide), north, wrapped(east + wide))


@dataclass(frozen=True, slots=True)
class Area:
    """A place that has a name: its box, its country, and the relation that is its border at OpenStreetMap."""

    name: str
    box: Box
    country: str | None = None
    relation: int | None = None


# Finds the area a name means, in this country and told in this language; ProviderRefused if there is none.
Geocoder = Callable[[str, str | None, str | None], Awaitable[Area]]


class UnclearSearch(ScraperSkyError):
    """The search does not say what to look for and where."""

    status_code = 422
    fields = ("text", "area")


def read_search(text: str, area: str | None, provider: str) -> tuple[str, str | None]:
    """What and where, however they were written: the same search is always stored by the same words."""
    what, where = what_and_where(PlaceQuery(text, area))
    if not what:
        raise UnclearSearch('Write what to look for and where, such as "dentists in Helsinki".')
    if where is None and provider in ON_THE_MAP:
        raise UnclearSearch(f'Where? Write "{what[:60]} in Helsinki", or give the area by itself.')
    return what, where


def what_and_where(query: PlaceQuery) -> tuple[str, str | None]:
    """The kind of business and the area: as given, else taken from "dentists in Helsinki"."""
    text = " ".join(query.text.split())
    if query.area and query.area.strip():
        return text.removesuffix(f" in {query.area.strip()}"), query.area.strip()
    between = [*_PLAIN.finditer(text)][-1:] or [*_SHORT.finditer(text)][:1]
    return (text[: between[0].start()], text[between[0].end() :]) if between else (text, None)


def wrapped(longitude: float) -> float:
    """The same meridian between -180 and 180."""
    if longitude > 180:
        return longitude - 360
    return longitude + 360 if longitude < -180 else longitude


def _narrowest(longitudes: list[float]) -> tuple[float, float]:
    """West and east of all of them: what lies outside is the widest gap between two neighbours on the globe."""
    eastward = sorted(set(longitudes))
    gaps = [(later - earlier, earlier, later) for earlier, later in pairwise(eastward)]
    around_the_back = (eastward[0] + 360 - eastward[-1], eastward[-1], eastward[0])
    _, east, west = max([around_the_back, *gaps], key=lambda gap: gap[0])
    return west, east
