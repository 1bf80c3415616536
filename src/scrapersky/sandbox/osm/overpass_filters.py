"""The filters of an Overpass query: what tags an element must have, and where it must lie."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from scrapersky.sandbox.world.cities import CityBox


@dataclass(frozen=True, slots=True)
class TagFilter:
    """One filter in square brackets."""

    key: str
    operator: str  # "exists", "missing", "=", "!=", "~", "!~", "~~"
    value: str = ""
    flags: int = 0

    def passes(self, tags: Mapping[str, str]) -> bool:
        """Check that an element with these tags matches."""
        if self.operator == "~~":
            return any(
                re.search(self.key, key) and re.search(self.value, value, self.flags) for key, value in tags.items()
            )
        value = tags.get(self.key)
        if self.operator in ("exists", "missing"):
            return (value is not None) is (self.operator == "exists")
        if self.operator == "=":
            return value == self.value
        if self.operator == "!=":
            return value != self.value
        matches = value is not None and re.search(self.value, value, self.flags) is not None
        return matches is (self.operator == "~")


@dataclass(frozen=True, slots=True)
class Around:
    """Everything around a point."""

    metres: float
    latitude: float
    longitude: float

    def holds(self, latitude: float, longitude: float) -> bool:
        """Check that a point lies within the circle, computed on a plane."""
        north = (latitude - self.latitude) * 111_195
        east = (longitude - self.longitude) * 111_195 * math.cos(math.radians(self.latitude))
        return bool((north**2 + east**2) ** 0.5 <= self.metres)


@dataclass(slots=True)
class Statement:
    """Elements of some kinds with some tags in some places."""

    kinds: set[str]
    tags: list[TagFilter] = field(default_factory=list)
    boxes: list[CityBox] = field(default_factory=list)  # in every one of them
    areas: list[list[CityBox]] = field(default_factory=list)  # in any one of each list
    circles: list[Around] = field(default_factory=list)
    ids: set[int] = field(default_factory=set)

    def holds(self, latitude: float, longitude: float) -> bool:
        """Check that a point lies within the area of the statement."""
        places: list[CityBox | Around] = [*self.boxes, *self.circles]
        return all(place.holds(latitude, longitude) for place in places) and all(
            any(box.holds(latitude, longitude) for box in area) for area in self.areas
        )
