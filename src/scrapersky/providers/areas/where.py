"""Where a search looks, as it was asked for: places by name, a circle, a box or a polygon."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.areas.geometry import Box, Circle, Point, Polygon, Shape

DECIMALS = 6  # of degrees: a tenth of a metre


class UnclearSearch(ScraperSkyError):
    """The search is unclear."""

    status_code = 422
    fields: tuple[str, ...] = ("text", "area")

    def __init__(self, message: str, *fields: str) -> None:
        """Take the fields of the request that are wrong, if they are others than text and area."""
        super().__init__(message)
        self.fields = fields or self.fields


@dataclass(frozen=True, slots=True)
class Where:
    """Where to look: names of places or postcodes, or one shape; empty if the search names no area.

    With `radius_metres`, the circle around each named place is meant. Equal requests are equal values.
    """

    names: tuple[str, ...] = ()
    country: str | None = None  # two letters: only places there
    language: str | None = None  # of the names of the places found
    radius_metres: float | None = None
    shape: Shape | None = None

    @classmethod
    def of(cls, name: str | None, country: str | None = None, language: str | None = None) -> "Where":
        """Return where one place of this name is; nowhere if it is None."""
        return cls((name,) if name else (), country, language)

    @property
    def is_given(self) -> bool:
        """Whether there is an area."""
        return bool(self.names) or self.shape is not None

    @property
    def words(self) -> str | None:
        """The area as people read it behind "in"; None if there is none."""
        if isinstance(self.shape, Circle):
            centre = _degrees(self.shape.latitude, self.shape.longitude)
            return f"a circle of {length_words(self.shape.radius_metres)} around {centre}"
        if isinstance(self.shape, Box):
            box = self.shape
            return f"the box from {_degrees(box.south, box.west)} to {_degrees(box.north, box.east)}"
        if self.shape is not None:
            return f"a polygon of {self.shape.corners} corners around {_degrees(*self.shape.box.centre)}"
        if not self.names:
            return None
        names = "; ".join(self.names) + (f" ({self.country})" if self.country else "")
        return f"a circle of {length_words(self.radius_metres)} around {names}" if self.radius_metres else names

    def to_json(self) -> dict[str, Any] | None:
        """Return what `words` alone does not tell; None for one name, and for no area."""
        given = {
            "names": list(self.names),
            "country": self.country,
            "language": self.language,
            "radius_metres": self.radius_metres,
            **shape_json(self.shape),
        }
        present = {name: value for name, value in given.items() if value}
        return None if present.keys() <= {"names"} and len(self.names) <= 1 else present


def read_where(area: str | None, stored: Mapping[str, Any] | None) -> Where:
    """Return the value from the columns of a search: the area in words, and the JSON if there is any."""
    if not stored:
        return Where.of(area)
    return Where(
        tuple(stored.get("names", ())),
        stored.get("country"),
        stored.get("language"),
        stored.get("radius_metres"),
        read_shape(stored),
    )


def shape_json(shape: Shape | None) -> dict[str, Any]:
    """Return a shape as JSON, under its own name."""
    if isinstance(shape, Box):
        return {"box": [_rounded(edge) for edge in (shape.south, shape.west, shape.north, shape.east)]}
    if isinstance(shape, Circle):
        centre = [_rounded(shape.latitude), _rounded(shape.longitude)]
        return {"circle": {"centre": centre, "radius_metres": shape.radius_metres}}
    if shape is not None:  # as in GeoJSON: longitude first
        parts = [[[[_rounded(x), _rounded(y)] for y, x in ring] for ring in rings] for rings in shape.parts]
        return {"polygon": parts[0]} if len(parts) == 1 else {"polygons": parts}
    return {}


def read_shape(stored: Mapping[str, Any]) -> Shape | None:
    """Return the shape that `shape_json` wrote."""
    if "box" in stored:
        return Box(*stored["box"])
    if "circle" in stored:
        return Circle(stored["circle"]["centre"][0], stored["circle"]["centre"][1], stored["circle"]["radius_metres"])
    if parts := [stored["polygon"]] if "polygon" in stored else stored.get("polygons"):
        return Polygon(tuple(tuple(map(_ring, rings)) for rings in parts))
    return None


def length_words(metres: float) -> str:
    """Return a length for people: 800 m, 5 km."""
    return f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"


def _ring(points: Sequence[Sequence[float]]) -> tuple[Point, ...]:
    return tuple((latitude, longitude) for longitude, latitude in points)


def _degrees(latitude: float, longitude: float) -> str:
    return f"{_rounded(latitude):g}, {_rounded(longitude):g}"


def _rounded(degrees: float) -> float:
    return round(degrees, DECIMALS)
