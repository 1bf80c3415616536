"""`scrapersky find` with a circle, a list of towns, and a name that several towns have."""

import json

import pytest

from scrapersky.providers.areas.geometry import Circle
from scrapersky.sandbox.sandbox import Sandbox


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=31, businesses=120) as little_internet:
        yield little_internet


async def test_find_searches_in_the_given_area(process, sandbox, database_url, tmp_path, admin):
    variables = {**sandbox.environment(), "DATABASE_URL": database_url, "CRAWL_PARSER_PROCESSES": "1"}
    out = ("--out", str(tmp_path / "leads.csv"), "--json", "--idle-timeout", "20")
    said = await process("find", "dentists", "in", "Springfield", *out, **variables).leave(120)
    assert said.code == 6, said.err
    assert "Springfield, Sangamon County, Illinois, United States" in said.out
    assert "--country AU" in said.err, "the only country with one of them"
    said = await process("find", "dentists", "--in", "Springfield", "--country", "US", *out, **variables).leave(120)
    assert said.code == 6, said.err
    assert said.err.rstrip().endswith('such as --in "Springfield, Sangamon County, Illinois, United States".')
    assert await admin.fetchval("SELECT count(*) FROM search") == 0

    circle = Circle(60.185, 24.96, 2000)
    where = ("--near", "60.185,24.96", "--radius", "2km")
    said = await process("find", "dentists", *where, *out, **variables).leave(240)
    told = json.loads(said.out)
    assert told["area"] == "a circle of 2 km around 60.185, 24.96"
    assert told["areas"] == ["a circle of 2 km around 60.185, 24.96 (Helsinki, Suomi)"]
    assert "The area is a circle of 2 km" in said.err
    places = await admin.fetch("SELECT latitude, longitude, search_id FROM place")
    assert places
    assert all(circle.contains(place["latitude"], place["longitude"]) for place in places)

    said = await process("find", "dentists", "--in", "Turku; Atlantis", *out, **variables).leave(240)
    told = json.loads(said.out)
    assert "No place named 'Atlantis' is known" in str(told["notes"]), said.out
    cities = await admin.fetch(
        "SELECT DISTINCT p.details ->> 'city' AS city FROM place p JOIN search s ON s.id = p.search_id WHERE area = $1",
        "Turku; Atlantis",
    )
    assert [city["city"] for city in cities] == ["Turku"]
