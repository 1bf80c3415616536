"""Reads polygons from GeoJSON, and refuses those whose inside is not certain."""

from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from scrapersky.core import strict_json
from scrapersky.providers.areas.geometry import Point, Polygon, Ring, crossing_edges, edges_of
from scrapersky.providers.areas.where import UnclearSearch

MAX_BYTES = 5_000_000
MAX_CORNERS = 5_000
MAX_NUMBER = 1e12
COLLECTIONS = {"FeatureCollection": "features", "GeometryCollection": "geometries"}
CUT = "Cut it there into two polygons (a MultiPolygon), as RFC 7946 asks in section 3.1.9."


class BadPolygon(UnclearSearch):
    """The polygon cannot be used."""

    fields = ("where.polygon",)


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
    """Return all polygons of a geometry, a Feature or a collection as one; raise BadPolygon."""
    parts = tuple(tuple(map(_ring, rings)) for rings in _parts(geojson))
    if not any(parts):
        raise BadPolygon("There is no polygon: a GeoJSON Polygon, MultiPolygon, Feature or FeatureCollection is read.")
    polygon = Polygon(parts)
    if polygon.corners > MAX_CORNERS:
        raise BadPolygon(f"The polygon has {polygon.corners} corners; {MAX_CORNERS} are allowed. Simplify it.")
    for rings in parts:  # several parts may touch or overlap, as neighbouring districts do
        if (crossing := crossing_edges(edges_of(rings))) is not None:
            at, other = (f"{point[1]:g}, {point[0]:g}" for point in crossing)
            meet = f"the edges from [{at}] and from [{other}] meet"
            raise BadPolygon(f"The polygon crosses itself: {meet}. Draw it without a crossing.")
    return polygon


def _parts(geojson: Any) -> Iterator[list[Any]]:
    """Yield the coordinates of every polygon: of each of its rings."""
    if not isinstance(geojson, Mapping):
        raise BadPolygon("GeoJSON is an object with a type, such as Polygon.")
    kind = geojson.get("type")
    if kind in COLLECTIONS:
        members = geojson.get(COLLECTIONS[kind])
        for member in members if isinstance(members, list) else ():
            yield from _parts(member)
    elif kind == "Feature":
        yield from _parts(geojson.get("geometry"))
    elif kind in ("Polygon", "MultiPolygon") and isinstance(geojson.get("coordinates"), list):
        parts = geojson["coordinates"]
        yield from (part for part in ([parts] if kind == "Polygon" else parts) if isinstance(part, list))
    else:
        raise BadPolygon(f"{str(kind)[:40]!r} is not an area: give a Polygon or a MultiPolygon.")


def _ring(points: Any) -> Ring:
    """Return a closed ring; a corner that is written twice in a row is one."""
    ring = tuple(point for point, _ in groupby(map(_point, points))) if isinstance(points, list) else ()
    if ring and ring[0] != ring[-1]:
        ring = (*ring, ring[0])
    if len(ring) < 4:
        raise BadPolygon("A ring of the polygon has fewer than three corners.")
    if len({*ring}) < len(ring) - 1:
        raise BadPolygon("The polygon touches itself: a corner occurs twice in one ring. Draw it without.")
    for one, other in pairwise(ring):
        if abs(one[1] - other[1]) > 180:
            between = f"between longitudes {one[1]:g} and {other[1]:g}"
            raise BadPolygon(f"The polygon crosses the antimeridian {between}. {CUT}")
    return ring


def _point(point: Any) -> Point:
    numbers = point[:2] if isinstance(point, list) else []
    if len(numbers) != 2 or not all(map(_is_number, numbers)):
        raise BadPolygon(f"{str(point)[:40]} is not a point: GeoJSON has [longitude, latitude].")
    longitude, latitude = float(numbers[0]), float(numbers[1])
    if max(abs(latitude), abs(longitude)) > 360:
        raise BadPolygon(
            f"[{longitude:g}, {latitude:g}] is not in degrees: GeoJSON has [longitude, latitude] in WGS 84 (EPSG:4326)."
        )
    if abs(latitude) > 90:
        swapped = " They may be swapped: longitude comes first." if abs(longitude) <= 90 else ""
        raise BadPolygon(f"[{longitude:g}, {latitude:g}] is not a point: the latitude is beyond 90.{swapped}")
    if abs(longitude) > 180:
        raise BadPolygon(f"The polygon crosses the antimeridian: it has the longitude {longitude:g}. {CUT}")
    return latitude, longitude


def _is_number(value: Any) -> bool:
    """Return whether a value is a finite number: Python reads NaN and Infinity in JSON, too."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER
