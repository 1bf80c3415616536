"""Shapes on the globe: boxes, circles and polygons, in degrees."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from math import asin, cos, degrees, floor, radians, sin, sqrt
from typing import Self

METRES_PER_DEGREE = 111_320
EARTH_METRES = 6_371_009
BANDS = 256  # of a polygon: its edges are indexed by latitude

Point = tuple[float, float]  # latitude, longitude
Ring = tuple[Point, ...]  # closed: the last point is the first


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
        return min(self.height_metres, self.width_metres)

    @property
    def height_metres(self) -> float:
        """The height in metres."""
        return (self.north - self.south) * METRES_PER_DEGREE

    @property
    def width_metres(self) -> float:
        """The width in metres, in the middle of the box."""
        return self.width * cos(radians((self.south + self.north) / 2)) * METRES_PER_DEGREE

    @property
    def centre(self) -> Point:
        """The point in the middle."""
        return (self.south + self.north) / 2, wrapped(self.west + self.width / 2)

    def contains(self, latitude: float, longitude: float) -> bool:
        """Return whether a point is in the box, edges included."""
        is_between = (
            self.west <= longitude <= self.east
            if self.west <= self.east
            else longitude >= self.west or longitude <= self.east
        )
        return is_between and self.south <= latitude <= self.north

    def overlaps(self, other: "Box") -> bool:
        """Return whether the boxes have a point in common."""
        if self.north < other.south or other.north < self.south:
            return False
        return (other.west - self.west) % 360 <= self.width or (self.west - other.west) % 360 <= other.width

    def quarters(self) -> tuple["Box", "Box", "Box", "Box"]:
        """Return four boxes that share edges and cover this one."""
        latitude, longitude = self.centre
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
    def around(cls, points: list[Point], margin: float = 0.25) -> Self:
        """Return the smallest box around these points (latitude, longitude), with a margin as a share of its size."""
        latitudes = [point[0] for point in points]
        south, north = min(latitudes), max(latitudes)
        west, east = _narrowest([(point[1], point[1]) for point in points])
        exact = cls(south, west, north, east)
        high, wide = max(north - south, 0.01) * margin, max(exact.width, 0.01) * margin
        south, north = max(south - high, -90), min(north + high, 90)
        if exact.width + 2 * wide >= 360:
            return cls(south, -180, north, 180)
        return cls(south, wrapped(west - wide), north, wrapped(east + wide))


@dataclass(frozen=True, slots=True)
class Circle:
    """All points within a distance of a point."""

    latitude: float
    longitude: float
    radius_metres: float

    @property
    def box(self) -> Box:
        """The smallest box around the circle; around the whole globe if a pole is in the circle."""
        angle = degrees(self.radius_metres / EARTH_METRES)
        south, north = self.latitude - angle, self.latitude + angle
        if south <= -90 or north >= 90:
            return Box(max(south, -90), -180, min(north, 90), 180)
        wide = degrees(asin(min(1, sin(radians(angle)) / cos(radians(self.latitude)))))
        return Box(south, wrapped(self.longitude - wide), north, wrapped(self.longitude + wide))

    def contains(self, latitude: float, longitude: float) -> bool:
        """Return whether a point is in the circle."""
        return distance_metres((self.latitude, self.longitude), (latitude, longitude)) <= self.radius_metres

    def overlaps(self, box: Box) -> bool:
        """Return whether a box has a point in the circle: the one nearest to the centre."""
        latitude = min(max(self.latitude, box.south), box.north)
        return any(self.contains(latitude, side) for side in self._nearest_longitudes(box))

    def _nearest_longitudes(self, box: Box) -> tuple[float, ...]:
        is_beside = (self.longitude - box.west) % 360 <= box.width
        return (self.longitude,) if is_beside else (box.west, box.east)


@dataclass(frozen=True)
class Polygon:
    """One or several parts, each of closed rings: a ring within another of its part is a hole; parts may overlap.

    No ring crosses the antimeridian; parts may lie on both sides of it.
    """

    parts: tuple[tuple[Ring, ...], ...]

    @property
    def rings(self) -> Iterator[Ring]:
        """Yield the rings of all parts."""
        return chain.from_iterable(self.parts)

    @cached_property
    def box(self) -> Box:
        """The smallest box around the polygon."""
        latitudes = [point[0] for ring in self.rings for point in ring]
        longitudes = [[point[1] for ring in rings for point in ring] for rings in self.parts if rings]
        west, east = _narrowest([(min(part), max(part)) for part in longitudes])
        return Box(min(latitudes), west, max(latitudes), east)

    @property
    def corners(self) -> int:
        """The number of its corners."""
        return sum(len(ring) - 1 for ring in self.rings)

    def contains(self, latitude: float, longitude: float) -> bool:
        """Return whether a point is inside a part: a line to the east crosses an odd number of edges of it."""
        if not self.box.contains(latitude, longitude):
            return False
        inside = set[int]()
        for part, ((south, west), (north, east)) in self._bands.get(self._band(latitude), ()):
            if (south > latitude) != (north > latitude):
                crossing = west + (latitude - south) / (north - south) * (east - west)
                inside ^= {part} if longitude < crossing else set()
        return bool(inside)

    def overlaps(self, box: Box) -> bool:
        """Return whether a box has a point in the polygon."""
        return self.box.overlaps(box) and any(map(self._overlaps, box.halves()))

    def _overlaps(self, box: Box) -> bool:
        corners = [(box.south, box.west), (box.south, box.east), (box.north, box.east), (box.north, box.west)]
        if any(self.contains(*corner) for corner in corners):
            return True
        sides = list(pairwise([*corners, corners[0]]))
        return any(
            box.contains(*edge[0]) or any(crosses(edge, side) for side in sides)
            for band in range(self._band(box.south), self._band(box.north) + 1)
            for _, edge in self._bands.get(band, ())
        )

    def _band(self, latitude: float) -> int:
        height = self.box.north - self.box.south or 1.0
        return min(max(floor((latitude - self.box.south) / height * BANDS), 0), BANDS - 1)

    @cached_property
    def _bands(self) -> dict[int, list[tuple[int, tuple[Point, Point]]]]:
        bands: dict[int, list[tuple[int, tuple[Point, Point]]]] = {}
        for part, edge in ((part, edge) for part, rings in enumerate(self.parts) for edge in edges_of(rings)):
            ends = sorted((self._band(edge[0][0]), self._band(edge[1][0])))
            for band in range(ends[0], ends[1] + 1):
                bands.setdefault(band, []).append((part, edge))
        return bands


Shape = Box | Circle | Polygon


def edges_of(rings: Iterable[Ring]) -> Iterator[tuple[Point, Point]]:
    """Yield the edges of rings."""
    return chain.from_iterable(map(pairwise, rings))


def distance_metres(one: Point, other: Point) -> float:
    """Return the distance of two points on the globe."""
    north, east = radians(other[0] - one[0]), radians(other[1] - one[1])
    part = sin(north / 2) ** 2 + cos(radians(one[0])) * cos(radians(other[0])) * sin(east / 2) ** 2
    return 2 * EARTH_METRES * asin(min(1, sqrt(part)))


def crosses(edge: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Return whether two edges cross or touch."""
    (a, b), (c, d) = edge, other
    sides = (_side(c, d, a), _side(c, d, b), _side(a, b, c), _side(a, b, d))
    if sides[0] * sides[1] < 0 and sides[2] * sides[3] < 0:
        return True
    ends = ((c, d, a), (c, d, b), (a, b, c), (a, b, d))
    return any(side == 0 and _is_within(*end) for side, end in zip(sides, ends, strict=True))


def crossing_edges(edges: Iterable[tuple[Point, Point]]) -> tuple[Point, Point] | None:
    """Return the starts of two edges that cross or touch without being neighbours; None if there are none."""
    ordered = sorted(edges, key=lambda edge: min(edge[0][1], edge[1][1]))
    for position, edge in enumerate(ordered):
        east = max(edge[0][1], edge[1][1])
        south, north = sorted((edge[0][0], edge[1][0]))
        for other in ordered[position + 1 :]:
            if min(other[0][1], other[1][1]) > east:
                break
            is_apart = max(other[0][0], other[1][0]) < south or min(other[0][0], other[1][0]) > north
            if not is_apart and not _are_neighbours(edge, other) and crosses(edge, other):
                return edge[0], other[0]
    return None


def wrapped(longitude: float) -> float:
    """Return the longitude between -180 and 180."""
    if longitude > 180:
        return longitude - 360
    return longitude + 360 if longitude < -180 else longitude


def _side(start: Point, end: Point, point: Point) -> float:
    return (end[1] - start[1]) * (point[0] - start[0]) - (end[0] - start[0]) * (point[1] - start[1])


def _is_within(start: Point, end: Point, point: Point) -> bool:
    return min(start[0], end[0]) <= point[0] <= max(start[0], end[0]) and min(start[1], end[1]) <= point[1] <= max(
        start[1], end[1]
    )


def _are_neighbours(edge: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Return whether two edges share a corner and do not lie upon each other."""
    shared = {*edge} & {*other}
    if len(shared) != 1:
        return False
    corner = next(iter(shared))
    far, other_far = (next(point for point in one if point != corner) for one in (edge, other))
    return _side(corner, far, other_far) != 0 or not (
        _is_within(corner, far, other_far) or _is_within(corner, other_far, far)
    )


def _narrowest(spans: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return west and east of all spans of longitudes: outside of them is the widest gap between two neighbours."""
    (first, end), *others = sorted(spans)
    gaps = list[tuple[float, float, float]]()
    for west, east in others:
        gaps.append((west - end, end, west))
        end = max(end, east)
    around_the_back = (first + 360 - end, end, first)
    _, east, west = max([around_the_back, *gaps], key=lambda gap: gap[0])
    return west, east
