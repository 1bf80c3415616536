"""Boxes on a round earth: what lies on both sides of the antimeridian is one small area, and is searched as one."""

import random
from typing import Any
from urllib.parse import parse_qs

import pytest

from scrapersky.providers.areas.area import Area, FoundAreas
from scrapersky.providers.areas.geometry import Box, wrapped
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Meter, PlaceQuery
from scrapersky.providers.http_api import ClientSource
from scrapersky.providers.osm.nominatim import Nominatim
from scrapersky.providers.osm.overpass import Overpass, query_by_tags
from scrapersky.providers.osm.provider import OpenStreetMap
from scrapersky.providers.throttle import Throttle
from tests.factories.google_server import TinyGoogle, points
from tests.factories.http_server import Reply, ScriptedServer
from tests.providers.conftest import api_at
from tests.providers.google.test_google_provider import found, google

FIJI = Box(-18.2, 177.2, -16.1, -179.8)


def holds(box: Box, latitude: float, longitude: float) -> bool:
    wide = box.west <= longitude <= box.east if box.west <= box.east else not box.east < longitude < box.west
    return box.south <= latitude <= box.north and wide


def test_a_box_around_points_on_both_sides_of_the_antimeridian_is_small() -> None:
    box = Box.around([(-18.1, 178.4), (-16.8, -179.9)])
    assert (round(box.west, 3), round(box.east, 3)) == (177.975, -179.475)
    assert box.width == pytest.approx(1.7 * 1.5)


@pytest.mark.parametrize(
    ("longitudes", "west", "east"),
    [
        ([24.9, 25.1], 24.85, 25.15),
        ([5.0], 4.9975, 5.0025),
        ([-179.9], -179.9025, -179.8975),
        ([180.0], 179.9975, -179.9975),
        ([179.9, 180.0, -180.0, -179.9], 179.85, -179.85),
        ([-10.0, 10.0], -15, 15),
        ([-170.0, -60.0, 60.0, 170.0], -180, 180),
    ],
)
def test_the_widest_gap_stays_outside(longitudes: list[float], west: float, east: float) -> None:
    box = Box.around([(0.0, longitude) for longitude in longitudes])
    assert (round(box.west, 4), round(box.east, 4)) == (west, east)


def test_every_box_holds_its_points_and_its_quarters_and_halves_cover_it() -> None:
    chance = random.Random(7)
    for _ in range(300):
        middle, spread = chance.uniform(-180, 180), chance.uniform(0.001, 100)
        around = [(chance.uniform(-80, 80), wrapped(middle + chance.uniform(-spread, spread))) for _ in range(5)]
        box = Box.around(around)
        assert -180 <= box.west <= 180
        assert -180 <= box.east <= 180
        assert box.width <= 3 * spread + 0.01
        for point in around:
            assert holds(box, *point)
            assert any(holds(quarter, *point) for quarter in box.quarters())
            assert any(holds(half, *point) for half in box.halves())
        assert all(half.west < half.east for half in box.halves())
        assert sum(quarter.width for quarter in box.quarters()) == pytest.approx(2 * box.width)


def test_a_query_for_overpass_has_both_sides_of_the_antimeridian() -> None:
    question = query_by_tags(("amenity=dentist",), Area("Fiji", FIJI), 10)
    assert question.count("nwr") == 2
    assert "(-18.2000000,177.2000000,-16.1000000,180.0000000)" in question
    assert "(-18.2000000,-180.0000000,-16.1000000,-179.8000000)" in question
    at_the_line = query_by_tags(("shop",), Area("Taveuni", Box(-17, 180.0, -16, -179.8)), 10)
    assert at_the_line.count("nwr") == 1


@pytest.mark.parametrize("point", [("-16.9", "180"), ("-16.9", "-180"), ("90", "0"), ("-90", "12")])
async def test_a_village_at_the_edge_of_the_map_has_a_box(
    server: ScriptedServer, client: ClientSource, point: tuple[str, str]
) -> None:
    latitude, longitude = point
    server.replies["/search"] = [Reply([{"osm_type": "node", "osm_id": 1, "lat": latitude, "lon": longitude}])]
    server.replies["/api/interpreter"] = [Reply({"elements": []})]
    throttle = Throttle("OpenStreetMap", server.url)
    osm = OpenStreetMap(
        Nominatim(api_at(client, server.url), throttle).locate, Overpass(api_at(client, f"{server.url}/api"), throttle)
    )
    assert [page async for page in osm.search(PlaceQuery("dentists", Where.of("Somewhere")), Meter())] == []
    question = parse_qs(server.requests[1].body.decode())["data"][0]
    for box in question.split("nwr")[1:]:
        south, west, north, east = (float(edge) for edge in box.partition("(")[2].partition(")")[0].split(","))
        assert -90 <= south < north <= 90
        assert -180 <= west < east <= 180


def across(count: int) -> list[dict[str, Any]]:
    """Return places of an archipelago on both sides of the antimeridian."""
    made = points(count, box=(-17.0, 179.9, -16.8, 180.2))
    for place in made:
        place["location"]["longitude"] = wrapped(place["location"]["longitude"])
    return made


@pytest.mark.parametrize("knows", [True, False])
async def test_google_finds_every_place_across_the_antimeridian(
    client: ClientSource, server: ScriptedServer, knows: bool
) -> None:
    async def archipelago(*_: object) -> FoundAreas:
        return FoundAreas((Area("Taveuni", Box(-17.0, 179.9, -16.8, -179.8)),))

    world = TinyGoogle(server, across(400))
    places = await found(google(client, server, geocoder=archipelago if knows else None))
    assert len(places) == len(world.places)
    bodies = [request.json for request in server.requests]
    boxes = [body["locationRestriction"]["rectangle"] for body in bodies if "locationRestriction" in body]
    assert any(box["low"]["longitude"] > box["high"]["longitude"] for box in boxes)
    assert max((box["high"]["longitude"] - box["low"]["longitude"]) % 360 for box in boxes) < 1
    assert len(server.requests) < 150


async def test_no_query_to_google_covers_more_than_half_of_the_globe(
    client: ClientSource, server: ScriptedServer
) -> None:
    async def earth(*_: object) -> FoundAreas:
        return FoundAreas((Area("Earth", Box(-90, -180, 90, 180)),))

    world = TinyGoogle(server, points(70, box=(-40, -170, 60, 170)))
    assert len(await found(google(client, server, geocoder=earth))) == len(world.places)
    bodies = [request.json for request in server.requests]
    boxes = [body["locationRestriction"]["rectangle"] for body in bodies if "locationRestriction" in body]
    assert max(box["high"]["longitude"] - box["low"]["longitude"] for box in boxes) == 180
