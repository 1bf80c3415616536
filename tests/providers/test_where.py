"""Where a search looks: how it is written, what is refused, and what is inside."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from scrapersky.providers.areas.area import Area, read_areas
from scrapersky.providers.areas.geojson import BadPolygon, read_polygon, read_polygon_file
from scrapersky.providers.areas.geometry import Box, Circle, Polygon, distance_metres
from scrapersky.providers.areas.read_search import GivenWhere
from scrapersky.providers.areas.tiles import tile_count, tiles
from scrapersky.providers.areas.where import UnclearSearch, Where, read_where
from scrapersky.providers.base import AmbiguousArea
from scrapersky.providers.registry import read_search

SQUARE = {"type": "Polygon", "coordinates": [[[24, 60], [25, 60], [25, 61], [24, 61], [24, 60]]]}


def read(text: str, **given: Any) -> tuple[str, Where]:
    return read_search(text, GivenWhere(**given), "openstreetmap")


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        ("dentists, Turku", "dentists", Where.of("Turku")),
        ("dentists, Springfield, Illinois", "dentists", Where.of("Springfield, Illinois")),
        ("hammaslääkärit Turku", "hammaslääkärit", Where.of("Turku")),
        ("italian restaurants New York", "italian restaurants", Where.of("New York")),
        ("pet store Austin", "pet store", Where.of("Austin")),
        ("hotels near Lake Como", "hotels", Where(("Lake Como",), radius_metres=5000)),
        ("hotels within 2 km of Oulu", "hotels", Where(("Oulu",), radius_metres=2000)),
        ("hotels within 1.5mi of Oulu", "hotels", Where(("Oulu",), radius_metres=2414)),
        ("Zahnarzt bei Köln", "Zahnarzt", Where(("Köln",), radius_metres=5000)),
        ("Zahnarzt in der Nähe von Köln", "Zahnarzt", Where(("Köln",), radius_metres=5000)),
        ("hotels within 2 kilometres of Oulu", "hotels", Where(("Oulu",), radius_metres=2000)),
        ("hotels 5 km around Oulu", "hotels", Where(("Oulu",), radius_metres=5000)),
        ("hotels in Oulu within 800 m", "hotels", Where(("Oulu",), radius_metres=800)),
        ("dentists near 60.17, 24.94", "dentists", Where(shape=Circle(60.17, 24.94, 5000))),
        ("dentists within 3 km of 60.17,24.94", "dentists", Where(shape=Circle(60.17, 24.94, 3000))),
        ("dentists near 00100", "dentists", Where(("00100",), radius_metres=5000)),
        ("restaurants Turku, Finland", "restaurants", Where.of("Turku, Finland")),
        ("dentists Springfield, Illinois", "dentists", Where.of("Springfield, Illinois")),
        ("pizza delivery, Turku", "pizza delivery", Where.of("Turku")),
        ("dentists in Turku in Finland", "dentists", Where.of("Turku, Finland")),
        ("bed in a box shops in Turku", "bed in a box shops", Where.of("Turku")),
        ("bars in hotels in Turku", "bars in hotels", Where.of("Turku")),
        ("dentists in Turku; Oulu", "dentists", Where(("Turku", "Oulu"))),
        ("dentists; Turku", "dentists", Where.of("Turku")),
        ("dentists Turku; Oulu", "dentists", Where(("Turku", "Oulu"))),
        ("dentists | Turku", "dentists", Where.of("Turku")),
        ("dentists in in Turku", "dentists", Where.of("Turku")),
        ("dentists at Turku", "dentists", Where.of("Turku")),
        ("Zahnarzt Berlin Mitte", "Zahnarzt", Where.of("Berlin Mitte")),
        ('dentists in "New York"?', "dentists", Where.of("New York")),
        ("dentists in Turku.", "dentists", Where.of("Turku")),
        ("plumbers in Washington D.C.", "plumbers", Where.of("Washington D.C.")),
        ("стоматологи в Москве", "стоматологи", Where.of("Москве")),
        ('"dentists in Turku"', "dentists", Where.of("Turku")),
        ("“dentists” in “New York”", "dentists", Where.of("New York")),
        ("McDonald's in Turku", "McDonald's", Where.of("Turku")),
        ("dentists (Turku)", "dentists", Where.of("Turku")),
        ("dentists nearby Turku", "dentists", Where(("Turku",), radius_metres=5000)),
        ("dentists in 60.17,24.94", "dentists", Where(shape=Circle(60.17, 24.94, 5000))),
        ("dentists 60.17, -24.94", "dentists", Where(shape=Circle(60.17, -24.94, 5000))),
        ("dentists @60.17,24.94", "dentists", Where(shape=Circle(60.17, 24.94, 5000))),
        ("dentists near 00-950", "dentists", Where(("00-950",), radius_metres=5000)),
        ("dentists in 110 00", "dentists", Where.of("110 00")),
        ("dentists, lawyers in Turku", "dentists, lawyers", Where.of("Turku")),
        ("cafes and bakeries Turku", "cafes and bakeries", Where.of("Turku")),
        ("restauracje i kawiarnie w Krakowie", "restauracje i kawiarnie", Where.of("Krakowie")),
    ],
)
def test_what_and_where_are_read_from_words(text: str, what: str, where: Where) -> None:
    assert read(text) == (what, where)


def test_each_way_to_say_where_is_one_value() -> None:
    assert read("dentists", near="60.17, 24.94", radius="5km")[1] == Where(shape=Circle(60.17, 24.94, 5000))
    assert read("dentists", near="Turku")[1] == Where(("Turku",), radius_metres=5000)
    assert read("dentists", names=("60.17, 24.94",))[1] == Where(shape=Circle(60.17, 24.94, 5000))
    assert read("dentists", names=('"Turku"', "Pori"))[1] == Where(("Turku", "Pori"))
    assert read("dentists", box="60.1,24.9,60.2,25.0")[1] == Where(shape=Box(60.1, 24.9, 60.2, 25.0))
    assert read("dentists", names=("Turku; Oulu", "Pori"))[1] == Where(("Turku", "Oulu", "Pori"))
    assert read("dentists", names=("Turku",), country="Finland", language="FI")[1] == Where(("Turku",), "FI", "fi")
    assert read("dentists in Springfield", country="us")[1] == Where(("Springfield",), "US")


@pytest.mark.parametrize(
    "where",
    [
        Where.of("Helsinki"),
        Where(("Turku", "Oulu"), "FI"),
        Where(("Turku",), radius_metres=800),
        Where(shape=Circle(60.17, 24.94, 5000)),
        Where(shape=Box(-18.2, 177.2, -16.1, -179.8)),
        Where(shape=read_polygon(SQUARE)),
    ],
)
def test_a_value_is_stored_and_read_back(where: Where) -> None:
    stored = json.loads(json.dumps(where.to_json()))
    assert read_where(where.words, stored) == where
    area = Area("somewhere", Box(1, 2, 3, 4), "FI", 7, label="x", shape=getattr(where, "shape", None))
    if not isinstance(where.shape, Box):
        assert read_areas([json.loads(json.dumps(area.to_json()))], where) == (area,)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"names": ("Turku",), "country": "Atlantis"}, "no country 'Atlantis'"),
        ({"near": "60.17,24.94", "radius": "0"}, "radius of 0 m"),
        ({"near": "60.17,24.94", "radius": "20000km"}, "radius of 20000 km"),
        ({"near": "60.17,24.94", "radius": "far"}, "not a radius"),
        ({"near": "124.94,60.17"}, "latitude comes first"),
        ({"near": "60.17"}, "latitude,longitude"),
        ({"box": "-90,-180,90,180"}, "wider than half the world"),
        ({"box": "60.2,24.9,60.1,25.0"}, "south,west,north,east"),
        ({"box": "1,2,3"}, "is not a box"),
        ({"names": ("Turku",), "near": "Oulu"}, "one of these"),
        ({"names": ("Turku",), "language": "Finnish!"}, "language"),
        ({"radius": "5km"}, 'give "near", too'),
        ({"names": tuple(f"Town {number}" for number in range(201))}, "201 places"),
    ],
)
def test_what_cannot_be_searched_is_refused_with_a_sentence(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UnclearSearch, match=says):
        read("dentists", **given)


def test_advice_does_not_repeat_what_is_wrong() -> None:
    with pytest.raises(UnclearSearch) as refused:
        read("in Helsinki")
    assert "what to look for" in str(refused.value)
    assert "in Helsinki in Helsinki" not in str(refused.value)
    with pytest.raises(UnclearSearch, match='behind what to look for: write "dentists in Helsinki"'):
        read("New York dentists")
    with pytest.raises(UnclearSearch, match="give a point"):
        read("dentists near me")


def test_a_country_is_asked_for_only_where_it_decides() -> None:
    springfields = [Area(f"Springfield {number}", Box(1, 2, 3, 4), "US") for number in (1, 2)]
    assert str(AmbiguousArea("Springfield", springfields)).endswith("as it is listed here.")
    australian = Area("Springfield 3", Box(5, 6, 7, 8), "AU")
    assert "give its country, such as AU." in str(AmbiguousArea("Springfield", [*springfields, australian]))


@pytest.mark.parametrize(
    ("rings", "says"),
    [
        ([[[24, 60], [25, 61], [25, 60], [24, 61], [24, 60]]], "crosses itself"),
        ([[[24, 60], [25, 60], [24.5, 60.5], [25, 61], [24, 61], [24.5, 60.5], [24, 60]]], "touches itself"),
        ([[[179, 60], [-179, 60], [-179, 61], [179, 61], [179, 60]]], "antimeridian"),
        ([[[179, 60], [181, 60], [181, 61], [179, 61], [179, 60]]], "antimeridian"),
        ([[[60, 124], [61, 124], [61, 125], [60, 124]]], "longitude comes first"),
        ([[[24, 60], [25, 60], [24, 60]]], "three corners"),
        ([[[24, "x"], [25, 60], [25, 61], [24, 60]]], "not a point"),
        ([], "no polygon"),
        ([[[24, float("nan")], [25, 60], [25, 61], [24, 60]]], "not a point"),
        ([[[24, float("inf")], [25, 60], [25, 61], [24, 60]]], "not a point"),
        ([[[24, 10**400], [25, 60], [25, 61], [24, 60]]], "not a point"),
        ([[[385_000, 6_672_000], [385_100, 6_672_000], [385_100, 6_672_100]]], "not in degrees"),
    ],
)
def test_a_polygon_whose_inside_is_not_certain_is_refused(rings: Any, says: str) -> None:
    with pytest.raises(BadPolygon, match=says):
        read_polygon({"type": "Polygon", "coordinates": rings})


def test_a_polygon_is_read_from_every_kind_of_file(tmp_path: Path) -> None:
    path, feature = tmp_path / "area.geojson", {"type": "Feature", "geometry": SQUARE, "properties": {}}
    features = {"type": "FeatureCollection", "features": [feature]}
    for written in (SQUARE, feature, features, {"type": "GeometryCollection", "geometries": [SQUARE]}):
        path.write_text(json.dumps(written))
        assert read_polygon_file(path).box == Box(60, 24, 61, 25)
    for text, says in (("{", "not GeoJSON"), ('{"type": "Point"}', "not an area"), ("[]", "an object")):
        path.write_text(text)
        with pytest.raises(BadPolygon, match=says):
            read_polygon_file(path)
    with pytest.raises(BadPolygon, match="cannot be read"):
        read_polygon_file(tmp_path / "missing")


def test_parts_of_a_polygon_may_touch_and_overlap_and_a_corner_may_be_written_twice() -> None:
    def square(west: float, size: float = 1) -> Any:
        return [[[west, 60], [west, 60], [west + size, 60], [west + size, 61], [west, 61]]]

    polygon = read_polygon(
        {"type": "MultiPolygon", "coordinates": [square(24), square(25), square(24.5), square(24.2, 0.1)]}
    )
    assert polygon.corners == 16
    for longitude in (24.1, 24.25, 24.7, 25.0, 25.2, 25.9):
        assert polygon.contains(60.5, longitude), longitude
    assert not polygon.contains(60.5, 26.1)
    assert polygon.overlaps(Box(60.4, 24.21, 60.5, 24.22))
    where = Where(shape=polygon)
    assert read_where(where.words, where.to_json()) == where


def test_a_polygon_that_is_cut_at_the_antimeridian_is_one_area_around_it() -> None:
    def part(west: float, east: float) -> Any:
        return [[[west, -18], [east, -18], [east, -16], [west, -16]]]

    polygon = read_polygon({"type": "MultiPolygon", "coordinates": [part(-180, -179), part(178, 180), part(179, 180)]})
    assert polygon.box == Box(-18, 178, -16, -179)
    assert polygon.contains(-17, 179.9)
    assert polygon.contains(-17, -179.9)
    assert not polygon.contains(-17, 0)
    # Across it, without a corner inside: only edges meet.
    assert polygon.overlaps(Box(-18.5, 179.4, -15.5, -179.5))
    assert not polygon.overlaps(Box(-15, 179.4, -14, -179.5))
    area = Area("Fiji", polygon.box, shape=polygon)
    assert len(tiles(area, 120_000)) == tile_count(area, 120_000) == 6
    far = read_polygon({"type": "MultiPolygon", "coordinates": [part(-100, 20), part(10, 90)]})
    assert far.box == Box(-18, -100, -16, 90), "no gap is within a part"


def test_a_hole_is_outside_and_a_circle_is_a_circle() -> None:
    hole = [[24.4, 60.4], [24.6, 60.4], [24.6, 60.6], [24.4, 60.6], [24.4, 60.4]]
    polygon = read_polygon({"type": "Polygon", "coordinates": [*SQUARE["coordinates"], hole]})
    assert polygon.contains(60.2, 24.2)
    assert not polygon.contains(60.5, 24.5)
    circle = Circle(60, 179.99, 5000)
    corner = circle.box.south, circle.box.west
    assert circle.box.contains(60, -179.99)
    assert circle.contains(60, -179.99)
    assert circle.box.contains(*corner)
    assert not circle.contains(*corner)
    assert Circle(89.99, 0, 5000).box == Box(pytest.approx(89.945, abs=1e-3), -180, 90, 180)  # type: ignore[arg-type]
    assert distance_metres((60, 24), (61, 24)) == pytest.approx(111_195, rel=1e-3)


def test_tiles_cover_the_area_and_nothing_far_from_it() -> None:
    chance = random.Random(3)
    shapes: list[Circle | Polygon] = [Circle(60, 179.5, 150_000), read_polygon(SQUARE), Circle(-33, 20, 90_000)]
    for shape in shapes:
        area = Area("x", shape.box, shape=shape)
        cut = tiles(area, 30_000)
        assert len(cut) <= tile_count(area, 30_000) * 1.2
        assert all(tile.height_metres <= 30_001 and tile.width_metres <= 31_000 for tile in cut)
        for _ in range(300):
            latitude = chance.uniform(shape.box.south, shape.box.north)
            longitude = shape.box.west + chance.uniform(0, shape.box.width)
            longitude -= 360 if longitude > 180 else 0
            if shape.contains(latitude, longitude):
                assert any(tile.contains(latitude, longitude) for tile in cut)


@pytest.mark.parametrize("given", [{"names": ("Helsinki",)}, {"near": "60.17,24.94"}, {"box": "60.1,24.9,60.2,25.0"}])
def test_two_areas_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UnclearSearch, match=r"Two areas are given, 'Turku' and .*: leave out one of them"):
        read("dentists in Turku", **given)


def test_words_that_name_no_second_area_are_kept() -> None:
    assert read("dentists in Turku", names=("Turku",)) == ("dentists", Where(("Turku",)))
    assert read("bed in a box shops", names=("Leeds",))[0] == "bed in a box shops"
    assert read("walk in clinics", names=("Leeds",))[0] == "walk in clinics"


@pytest.mark.parametrize("given", [{}, {"names": ("Turku",)}])
@pytest.mark.parametrize(("text", "word"), [("dentists in", "in"), ("dentists near ,", "near")])
def test_a_text_that_ends_before_its_place_is_refused(given: dict[str, Any], text: str, word: str) -> None:
    with pytest.raises(UnclearSearch, match=f'No place follows "{word}"'):
        read(text, **given)
