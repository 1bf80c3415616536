"""Areas that were found for a search: a box with a name, and the exact border as far as it is known."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scrapersky.providers.areas.geometry import Box, Circle, Point, Polygon, Shape
from scrapersky.providers.areas.where import Where, read_shape, shape_json


@dataclass(frozen=True)
class Area:
    """An area: its name, its box, its country, and its border as a relation of OpenStreetMap or as a shape."""

    name: str
    box: Box
    country: str | None = None
    relation: int | None = None
    label: str = ""  # the name that tells it from others of the same name: Springfield, Illinois, United States
    kind: str = ""  # city, town, postcode …
    centre: Point | None = None
    importance: float = 0.0  # how well known it is, between 0 and 1
    shape: Circle | Polygon | None = None
    postcode: str | None = None  # of every business in it, if it has one

    def contains(self, latitude: float | None, longitude: float | None, postcode: str | None = None) -> bool:
        """Return whether a business is in the area; one without coordinates is not known to be outside."""
        if self.postcode and postcode and not _plain(postcode).startswith(_plain(self.postcode)):
            return False
        if latitude is None or longitude is None:
            return True
        return (self.shape or self.box).contains(latitude, longitude)

    def overlaps(self, box: Box) -> bool:
        """Return whether a part of the area may be in a box."""
        return (self.shape or self.box).overlaps(box)

    def to_json(self) -> dict[str, Any]:
        """Return the area as it is stored with a search; a polygon is stored with the request only."""
        shape: Shape | None = self.shape if isinstance(self.shape, Circle) else None
        box = self.box
        known = {
            "name": self.name,
            "label": self.label,
            "kind": self.kind,
            "country": self.country,
            "relation": self.relation,
            "postcode": self.postcode,
            "edges": [box.south, box.west, box.north, box.east],
            **shape_json(shape),
        }
        return {name: value for name, value in known.items() if value}


def read_areas(stored: Sequence[Mapping[str, Any]] | None, where: Where) -> tuple[Area, ...]:
    """Return the areas that an earlier attempt found for this request."""
    return tuple(_area(one, where) for one in stored or ())


def _area(stored: Mapping[str, Any], where: Where) -> Area:
    shape = where.shape if isinstance(where.shape, Polygon) else read_shape(stored)
    return Area(
        name=stored["name"],
        box=Box(*stored["edges"]),
        country=stored.get("country"),
        relation=stored.get("relation"),
        label=stored.get("label", ""),
        kind=stored.get("kind", ""),
        shape=None if isinstance(shape, Box) else shape,
        postcode=stored.get("postcode"),
    )


@dataclass(frozen=True)
class FoundAreas:
    """The areas of a search, and sentences about those that were not found."""

    areas: tuple[Area, ...]
    notes: tuple[str, ...] = ()


# Finds the areas of a request; raises UnknownArea if there is none, AmbiguousArea if there are several.
Geocoder = Callable[[Where], Awaitable[FoundAreas]]


def _plain(postcode: str) -> str:
    return "".join(letter for letter in postcode.upper() if letter.isalnum())
