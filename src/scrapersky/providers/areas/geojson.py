"""Reads polygons from GeoJSON, and refuses those whose inside is not certain."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from scrapersky.core import strict_json
from scrapersky.providers.areas.geometry import Point, Polygon, Ring, crossing_edges
from scrapersky.providers.areas.where import UnclearSearch

MAX_BYTES = 5_000_000
MAX_CORNERS = 5_000
SIZES = {"Polygon": 2, "MultiPolygon": 3}
CUT = "Cut it there into two polygons (a MultiPolygon), as RFC 7946 asks in section 3.1.9."


class BadPolygon(UnclearSearch):
    """The polygon cannot be used."""

    fields = ("polygon",)


def read_polygon_file(path: Path) -> Polygon:
    """Return the polygon of a GeoJSON file; raise BadPolygon with the cure."""
    try:
        with path.open("rb") as stream:
            text = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadPolygon(f"{path} cannot be read: {error.strerror}.") from None
    if len(text) > MAX_BYTES:
        raise BadPolygon(f"{path} is larger than {MAX_BYTES // 1_000_000} MB: simplify the polygon.")
    try:
        found = strict_json.parse(text)
    except (ValueError, RecursionError) as error:
        raise BadPolygon(f"{path} is not GeoJSON: {str(error)[:100]}.") from None
    return read_polygon(found)


def read_polygon(geojson: Any) -> Polygon:
    """Return all polygons of a geometry, a Feature or a FeatureCollection as one; raise BadPolygon."""
    rings = tuple(_ring(points) for points in _rings(geojson))
    if not rings:
        raise BadPolygon("There is no polygon: a GeoJSON Polygon, MultiPolygon, Feature or FeatureCollection is read.")
    polygon = Polygon(rings)
    if polygon.corners > MAX_CORNERS:
        raise BadPolygon(f"The polygon has {polygon.corners} corners; {MAX_CORNERS} are allowed. Simplify it.")
    crossing = crossing_edges(polygon.edges())
    if crossing is not None:
        at, other = (f"{point[1]:g}, {point[0]:g}" for point in crossing)
        raise BadPolygon(
            f"The polygon crosses itself: the edges from [{at}] and from [{other}] meet. Draw it without a crossing."
        )
    return polygon


def _rings(geojson: Any) -> Iterator[Any]:
    """Yield the coordinates of every ring."""
    if not isinstance(geojson, Mapping):
        raise BadPolygon("GeoJSON is an object with a type, such as Polygon.")
    kind = geojson.get("type")
    if kind == "FeatureCollection":
        features = geojson.get("features")
        for feature in features if isinstance(features, list) else ():
            yield from _rings(feature)
    elif kind == "Feature":
        yield from _rings(geojson.get("geometry"))
    elif kind in SIZES and isinstance(geojson.get("coordinates"), list):
        parts = geojson["coordinates"]
        for part in [parts] if kind == "Polygon" else parts:
            yield from part if isinstance(part, list) else ()
    else:
        raise BadPolygon(f"{str(kind)[:40]!r} is not an area: give a Polygon or a MultiPolygon.")


def _ring(points: Any) -> Ring:
    if not isinstance(points, list) or len(points) < 4:
        raise BadPolygon("A ring of the polygon has fewer than three corners.")
    ring = tuple(_point(point) for point in points)
    if ring[0] != ring[-1]:
        ring = (*ring, ring[0])
    if len({*ring}) < len(ring) - 1:
        raise BadPolygon("The polygon touches itself: a corner occurs twice in one ring. Draw it without.")
    for one, other in pairwise(ring):
        if abs(one[1] - other[1]) > 180:
            between = f"between longitudes {one[1]:g} and {other[1]:g}"
            raise BadPolygon(f"The polygon crosses the antimeridian {between}. {CUT}")
    return ring


def _point(point: Any) -> Point:
    numbers = point[:2] if isinstance(point, list) else []
    if len(numbers) != 2 or not all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
        raise BadPolygon(f"{str(point)[:40]} is not a point: GeoJSON has [longitude, latitude].")
    longitude, latitude = float(numbers[0]), float(numbers[1])
    if abs(latitude) > 90 or abs(longitude) > 360:
        swapped = " They may be swapped: longitude comes first." if abs(longitude) <= 90 else ""
        raise BadPolygon(f"[{longitude:g}, {latitude:g}] is not a point: the latitude is beyond 90.{swapped}")
    if abs(longitude) > 180:
        raise BadPolygon(f"The polygon crosses the antimeridian: it has the longitude {longitude:g}. {CUT}")
    return latitude, longitude
