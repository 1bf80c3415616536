"""Areas to search in: boxes on the globe, named areas, and how the text of a search names them."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise
from math import cos, radians
from typing import Self

from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.base import PlaceQuery, ProviderRefused

METRES_PER_DEGREE = 111_320
# "dentists in Helsinki": split at the last plain preposition ("walk in clinics in Boston"), else at the first short
# one, which may also be part of the name of a place. "walk in", "drive in" and the like do not split.
_PLAIN = re.compile(
    r"(?:(?<!\bwalk)(?<!\bdrive)(?<!\bdrop)(?<!\blive)(?<!\bplug)(?<!\bbuilt)(?<!\bstand)(?<!\bsit)\s{1,20}in"
    r"|\s{1,20}(?:near|around|within|bei|nahe|dans|nära|bij))\s{1,20}",
    re.IGNORECASE,
)
_SHORT = re.compile(r"\s{1,20}(?:à|au|aux|a|en|em|i|w|we|v|ve)\s{1,20}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in degrees; if it crosses the antimeridian, `west` is larger than `east`."""

    south: float
    west: float
    north: float
    east: float

    @property
    def width(self) -> float:
        """Degrees from west to east, also across the antimeridian."""
        return self.east - self.west if self.east >= self.west else self.east - self.west + 360

    @property
    def shorter_side_metres(self) -> float:
        """The smaller of height and width in metres."""
        middle = radians((self.south + self.north) / 2)
        return min(self.north - self.south, self.width * cos(middle)) * METRES_PER_DEGREE

    def quarters(self) -> tuple["Box", "Box", "Box", "Box"]:
        """Return four boxes that share edges and cover this one."""
        latitude, longitude = (self.south + self.north) / 2, wrapped(self.west + self.width / 2)
        return (
            Box(self.south, self.west, latitude, longitude),
            Box(self.south, longitude, latitude, self.east),
            Box(latitude, self.west, self.north, longitude),
            Box(latitude, longitude, self.north, self.east),
        )

    def halves(self) -> tuple["Box", ...]:
        """Return this box, or its parts on each side of the antimeridian, for services that cannot cross it."""
        if self.west <= self.east:
            return (self,)
        sides = (Box(self.south, self.west, self.north, 180.0), Box(self.south, -180.0, self.north, self.east))
        return tuple(side for side in sides if side.west < side.east)

    @classmethod
    def around(cls, points: list[tuple[float, float]], margin: float = 0.25) -> Self:
        """Return the smallest box around these points (latitude, longitude), with a margin as a share of its size."""
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
    """A named area: its box, its country, and the OpenStreetMap relation of its border."""

    name: str
    box: Box
    country: str | None = None
    relation: int | None = None


# Finds an area by name, country and language; raises ProviderRefused if there is none.
Geocoder = Callable[[str, str | None, str | None], Awaitable[Area]]


class UnclearSearch(ScraperSkyError):
    """The search does not name what to look for and where."""

    status_code = 422
    fields = ("text", "area")


def what_and_where(query: PlaceQuery) -> tuple[str, str | None]:
    """Return the kind of business and the area: as given, or split from a text such as "dentists in Helsinki"."""
    text = " ".join(query.text.split())
    if query.area and query.area.strip():
        return text.removesuffix(f" in {query.area.strip()}"), query.area.strip()
    split = [*_PLAIN.finditer(text)][-1:] or [*_SHORT.finditer(text)][:1]
    return (text[: split[0].start()], text[split[0].end() :]) if split else (text, None)


def required_what_and_where(query: PlaceQuery) -> tuple[str, str]:
    """Return the kind of business and the area; raise ProviderRefused if one of them is missing."""
    what, where = what_and_where(query)
    if not what or not where:
        raise ProviderRefused(
            "The search does not name what to look for and where: write 'dentists in Helsinki', or give an area."
        )
    return what, where


def wrapped(longitude: float) -> float:
    """Return the longitude between -180 and 180."""
    if longitude > 180:
        return longitude - 360
    return longitude + 360 if longitude < -180 else longitude


def _narrowest(longitudes: list[float]) -> tuple[float, float]:
    """Return west and east of all longitudes: outside of them is the widest gap between two neighbours."""
    eastward = sorted(set(longitudes))
    gaps = [(later - earlier, earlier, later) for earlier, later in pairwise(eastward)]
    around_the_back = (eastward[0] + 360 - eastward[-1], eastward[-1], eastward[0])
    _, east, west = max([around_the_back, *gaps], key=lambda gap: gap[0])
    return west, east
