"""The fakes of Nominatim and Overpass: shapes, questions they understand, ways of failing."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from scrapersky.crawl.web import Web
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Meter, PlaceQuery
from scrapersky.providers.registry import configured_providers
from scrapersky.sandbox.osm.servers import FakeNominatim
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.server.response import Request, Response
from tests.factories.settings import sandbox_settings

AGENT = {"user-agent": "tests/1.0"}
BOX = "60.155,24.90,60.215,25.02"


@pytest.fixture
def many() -> Sandbox:
    return Sandbox(7, 1000)


def locate(sandbox: Sandbox, headers: dict[str, str] = AGENT, path: str = "/search", **asked: str) -> Response:
    return sandbox.respond(Request("GET", "127.0.0.1", f"/nominatim{path}", urlencode(asked), headers))


def run(sandbox: Sandbox, query: str) -> Response:
    body = urlencode({"data": query}).encode()
    return sandbox.respond(Request("POST", "127.0.0.1", "/overpass/api/interpreter", "", AGENT, body))


def elements(sandbox: Sandbox, query: str) -> list[dict[str, Any]]:
    answer = run(sandbox, query)
    assert answer.status == 200, answer.body
    return list(json.loads(answer.body)["elements"])


def dentists(sandbox: Sandbox) -> set[int]:
    """The numbers of those that are open; one that has closed is disused on the map."""
    return {
        one.number
        for one in sandbox.world
        if one.city.name == "Helsinki" and one.trade.name == "dentist" and not one.closed
    }


def test_a_city_is_found_with_its_numbers_as_strings(many: Sandbox):
    (place,) = json.loads(locate(many, q="Helsinki, Finland", format="jsonv2", addressdetails="1").body)

    assert place["name"] == "Helsinki"
    assert (place["osm_type"], place["category"], place["addresstype"]) == ("relation", "boundary", "city")
    assert isinstance(place["lat"], str)
    south, north, west, east = (float(side) for side in place["boundingbox"])
    assert south < float(place["lat"]) < north
    assert west < float(place["lon"]) < east
    assert place["address"]["country_code"] == "fi"


def test_a_city_is_found_by_its_english_name_and_by_its_country(many: Sandbox):
    assert json.loads(locate(many, q="Gothenburg").body)[0]["name"] == "Göteborg"
    assert json.loads(locate(many, city="Turku", country="Finland").body)[0]["name"] == "Turku"
    assert json.loads(locate(many, q="Turku", countrycodes="se").body) == []


def test_what_is_nowhere_is_an_empty_list(many: Sandbox):
    assert locate(many, q="Atlantis").body == b"[]"


def test_a_wrong_format_and_an_empty_question_are_400(many: Sandbox):
    answer = locate(many, q="Turku", format="csv")

    assert answer.status == 400
    assert "Parameter 'format' must be one of" in json.loads(answer.body)["error"]["message"]
    assert locate(many).status == 400


def test_whoever_does_not_say_who_they_are_is_blocked(many: Sandbox):
    for agent in ("", "python-requests/2.32.3", "python-httpx/0.28", "Python/3.11 aiohttp/3.13", "curl/8.5.0"):
        answer = locate(many, headers={"user-agent": agent} if agent else {}, q="Turku")
        assert (answer.status, answer.content_type) == (403, "text/html; charset=utf-8"), agent
    assert locate(many, headers={"user-agent": "scrapersky/1.0 (+https://me.example)"}, q="Turku").status == 200


def test_whoever_asks_more_than_once_a_second_is_blocked():
    now = 100.0
    nominatim = FakeNominatim(min_seconds=1.0, now=lambda: now)
    statuses = []
    for now in (100.0, 100.9, 101.5, 102.5):  # noqa: B007 - the clock of the fake
        statuses.append(nominatim.answer(Request("GET", "x", "", "q=Turku", AGENT), "/search").status)
    assert statuses == [200, 429, 429, 200], "a question that was refused counts, too"


async def test_our_client_is_never_blocked():
    async with Sandbox(7, 30) as sandbox:
        sandbox.nominatim.min_seconds = 1.0
        settings = sandbox_settings(sandbox, CRAWL_PARSER_PROCESSES=1, CRAWL_HOST_DELAY_SECONDS=0)
        web = Web(settings)
        try:
            osm = configured_providers(settings, web)["openstreetmap"]
            for city in ("Turku", "Helsinki", "Tampere"):
                [page async for page in osm.search(PlaceQuery("dentists", Where.of(city)), Meter())]
        finally:
            await web.close()
        assert sandbox.nominatim.calls == 3


def test_the_address_comes_only_when_asked_for(many: Sandbox):
    assert "address" not in json.loads(locate(many, q="Turku").body)[0]
    assert "address" in json.loads(locate(many, q="Turku", addressdetails="1").body)[0]


def test_overpass_takes_no_box_across_the_antimeridian(many: Sandbox):
    answer = run(many, '[out:json];nwr["amenity"](60.1,179.9,60.2,-179.9);out;')
    assert answer.status == 400
    assert b"west of a bounding box" in answer.body


@pytest.mark.parametrize(("kind", "status"), [("blocked", 403), ("too_many", 429), ("broken", 500)])
def test_nominatim_fails_to_order(many: Sandbox, kind: str, status: int):
    many.nominatim.fail(kind)

    answers = [locate(many, q="Turku") for _ in range(2)]

    assert [answer.status for answer in answers] == [status, 200]
    assert answers[0].content_type.startswith("text/html")


def test_nothing_is_found_backwards(many: Sandbox):
    answer = locate(many, path="/reverse", lat="60.1", lon="24.9")

    assert json.loads(answer.body) == {"error": "Unable to geocode"}


@pytest.mark.parametrize(
    "place",
    [
        f'nwr["name"]["amenity"="dentist"]({BOX});',
        f'(nwr["amenity"~"^(dentist|clinic)$"]({BOX}); node["shop"="no-such-shop"]({BOX}););',
        f'node["amenity"="dentist"]({BOX});way["amenity"="dentist"]({BOX});rel["amenity"="dentist"]({BOX});',
        'area["name"="Helsinki"]["admin_level"="8"]->.a; nwr(area.a)["amenity"="dentist"];',
        'area(3600900000)->.here; ( nwr["amenity"="dentist"](area.here); );',
        'nwr["amenity"="dentist"](area:3600900000);',
        'nwr(around:30000,60.18,24.95)["amenity"="dentist"]["name"];',
        f'nwr["amenity"~"DENTIST",i]["amenity"!="clinic"][!"disused:amenity"]({BOX});',
        f'nwr[~"^(amenity|healthcare)$"~"^dentist$"]({BOX}); // a remark',
    ],
)
def test_the_same_question_in_many_words(many: Sandbox, place: str):
    found = elements(many, f"[out:json][timeout:60];\n{place}\nout center tags;")

    assert {one["id"] - 7_000_000_000 for one in found} == dentists(many)


def test_a_global_box_counts_for_every_statement(many: Sandbox):
    found = elements(many, f'[out:json][bbox:{BOX}];\nnwr["amenity"="dentist"];\nout center;')

    assert len(found) == len(dentists(many))


def test_points_have_a_place_and_others_a_centre(many: Sandbox):
    found = elements(many, f'[out:json];nwr["amenity"="dentist"]({BOX});out center tags;')
    kinds = {one["type"] for one in found}

    assert kinds == {"node", "way", "relation"}
    for one in found:
        place = one if one["type"] == "node" else one["center"]
        assert 60.155 <= place["lat"] <= 60.215
        assert all(isinstance(value, str) for value in one["tags"].values())
    without = elements(many, f'[out:json];way["amenity"="dentist"]({BOX});out;')
    assert all("center" not in one and one["nodes"] for one in without)


def test_contacts_are_spelled_in_two_ways(many: Sandbox):
    found = elements(many, f'[out:json];nwr[~"^(contact:)?website$"~"."]({BOX});out center tags;')
    keys = {key for one in found for key in one["tags"]}

    assert {"website", "contact:website", "phone", "contact:phone"} <= keys


def test_a_limit_and_an_order_are_obeyed(many: Sandbox):
    assert len(elements(many, f'[out:json];nwr["name"]({BOX});out center tags qt 7;')) == 7


def test_counting_gives_strings(many: Sandbox):
    (count,) = elements(many, f'[out:json];nwr["amenity"="dentist"]({BOX});out count;')

    assert count["type"] == "count"
    assert count["tags"]["total"] == str(len(dentists(many)))
    assert sum(int(count["tags"][kind]) for kind in ("nodes", "ways", "relations")) == len(dentists(many))


def test_one_element_by_its_id(many: Sandbox):
    first = elements(many, f'[out:json];nwr["amenity"="dentist"]({BOX});out center tags;')[0]

    again = elements(many, f"[out:json];{first['type']}({first['id']});out center tags;")

    assert again == [first]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "nonsense",
        "[out:json];nonsense;out;",
        '[out:json];node["a"="b"](1,2,3);out;',
        '[out:json];node["a"~"("](1,2,3,4);out;',
        '[out:json];node["a"="b"',
        'node["a"="b"](1,2,3,4);out;',
        '[out:json];node["a"="b"](around:x,1,2);out;',
    ],
)
def test_what_cannot_be_read_is_400_with_the_line(many: Sandbox, query: str):
    answer = run(many, query)

    assert answer.status == 400
    assert b'<strong style="color:#FF0000">Error</strong>: line ' in answer.body


@pytest.mark.parametrize(("kind", "status"), [("rate_limited", 429), ("busy", 504)])
def test_overpass_fails_to_order(many: Sandbox, kind: str, status: int):
    many.overpass.fail(kind)
    query = f'[out:json];node["name"]({BOX});out;'

    assert [run(many, query).status for _ in range(2)] == [status, 200]


@pytest.mark.parametrize(("kind", "told"), [("timeout", "timed out"), ("memory", "out of memory")])
def test_a_failure_can_look_like_success(many: Sandbox, kind: str, told: str):
    many.overpass.fail(kind)

    answer = run(many, f'[out:json];node["name"]({BOX});out;')

    assert answer.status == 200
    assert told in json.loads(answer.body)["remark"]
    assert json.loads(answer.body)["elements"] == []


def test_the_status_is_text(many: Sandbox):
    answer = many.respond(Request("GET", "127.0.0.1", "/overpass/api/status", "", AGENT))

    assert b"2 slots available now." in answer.body
    assert answer.content_type.startswith("text/plain")


def test_a_query_may_come_in_the_address_or_alone(many: Sandbox):
    query = f'[out:json];nwr["amenity"="dentist"]({BOX});out center tags;'
    path = "/overpass/api/interpreter"
    by_address = many.respond(Request("GET", "127.0.0.1", path, urlencode({"data": query}), AGENT))
    alone = many.respond(Request("POST", "127.0.0.1", path, "", AGENT, query.encode()))

    assert by_address.body == alone.body == run(many, query).body
