"""Cells of the map: squares of the mercator, numbered so that the squares within a square are one range of numbers.

The column place.cell has the number at the finest level; a coarser level is the number without its last bits.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

LEVELS = 20  # the finest level has 2^20 squares in each direction
MAX_LATITUDE = 85.0511287798066  # where the mercator ends
MAX_RANGES = 24  # of the cover of a box


class BadBox(ValueError):
    """A box is not four numbers: west, south, east, north."""


@dataclass(frozen=True)
class MapBox:
    """A part of the map, in degrees. If `west` is east of `east`, it crosses the 180th meridian."""

    west: float
    south: float
    east: float
    north: float

    def __str__(self) -> str:
        return ",".join(f"{round(value, 5):g}" for value in (self.west, self.south, self.east, self.north))

    @property
    def parts(self) -> tuple["MapBox", ...]:
        """The box, or the two parts of one that crosses the 180th meridian."""
        if self.west <= self.east:
            return (self,)
        return (MapBox(self.west, self.south, 180.0, self.north), MapBox(-180.0, self.south, self.east, self.north))

    @property
    def sides(self) -> tuple[float, float]:
        """The width and the height on the mercator, whose own are 1."""
        left, top = project(self.north, self.west)
        right, bottom = project(self.south, self.east)
        return (right - left) % 1.0 or float(self.west != self.east), bottom - top


def parse_box(text: str) -> MapBox:
    """Read `west,south,east,north` in degrees. Raises BadBox."""
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise BadBox("a box is four numbers: west,south,east,north") from None
    is_valid = -180 <= west <= 180 and -180 <= east <= 180 and -90 <= south <= north <= 90
    if not is_valid:  # also for what is not a number
        raise BadBox("longitudes are from -180 to 180, latitudes from -90 to 90, and south is not above north")
    return MapBox(west, south, east, north)


def project(latitude: float, longitude: float) -> tuple[float, float]:
    """Return the place on the mercator: 0 to 1 from west to east, 0 to 1 from north to south."""
    radians = math.radians(max(-MAX_LATITUDE, min(MAX_LATITUDE, latitude)))
    return (longitude + 180) / 360, (1 - math.asinh(math.tan(radians)) / math.pi) / 2


def unproject(x: float, y: float) -> tuple[float, float]:
    """Return the latitude and the longitude of a place on the mercator."""
    return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y)))), x * 360 - 180


def square(cell: int, level: int) -> tuple[int, int]:
    """Return the column and the row of a cell of this level."""
    column = sum((cell >> (2 * bit) & 1) << bit for bit in range(level))
    row = sum((cell >> (2 * bit + 1) & 1) << bit for bit in range(level))
    return column, row


def level_of(box: MapBox, zoom: int, max_cells: int) -> int:
    """Return the level for this zoom at which the box has no more than so many cells: a few for each 256 pixels."""
    width, height = box.sides
    for level in range(min(LEVELS, zoom + 3), 0, -1):
        if (width * 2**level + 2) * (height * 2**level + 2) <= max_cells:
            return level
    return 0


def cover(box: MapBox) -> list[tuple[int, int]]:
    """Return ranges of numbers of the finest level that contain all cells of the box, and not many others."""
    ranges = list[tuple[int, int]]()
    for part in box.parts:
        (left, top), (right, bottom) = project(part.north, part.west), project(part.south, part.east)
        level = max(
            (one for one in range(LEVELS + 1) if ((right - left) * 2**one + 1) * ((bottom - top) * 2**one + 1) <= 12),
            default=0,
        )
        edge = 2**level - 1
        columns = range(min(edge, int(left * 2**level)), min(edge, int(right * 2**level)) + 1)
        rows = range(min(edge, int(top * 2**level)), min(edge, int(bottom * 2**level)) + 1)
        shift = 2 * (LEVELS - level)
        cells = sorted(_number(column, row, level) for column in columns for row in rows)
        ranges += [(first << shift, ((last + 1) << shift) - 1) for first, last in _runs(cells)]
    return ranges[:MAX_RANGES] if len(ranges) <= MAX_RANGES else [(0, 4**LEVELS - 1)]


def _number(column: int, row: int, level: int) -> int:
    return sum((column >> bit & 1) << (2 * bit) | (row >> bit & 1) << (2 * bit + 1) for bit in range(level))


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Join numbers that follow each other."""
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last
