"""The fake of Google Places: masks, pages, boxes, quotas and errors as the real one has them."""

import json
from typing import Any

import aiohttp
import pytest

from scrapersky.crawl.web import Web
from scrapersky.providers.base import Meter, PlaceQuery
from scrapersky.providers.call_budget import InMemoryCallBudget
from scrapersky.providers.registry import configured_providers
from scrapersky.sandbox.google.place import place_id
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.server.response import Request
from tests.factories.settings import sandbox_settings

MASK = "places.id,places.displayName,places.websiteUri,places.location,places.businessStatus,nextPageToken"
HELSINKI = {"low": {"latitude": 60.15, "longitude": 24.89}, "high": {"latitude": 60.22, "longitude": 25.03}}


@pytest.fixture
def many() -> Sandbox:
    """More dentists than Google shows; it needs no socket to be asked."""
    return Sandbox(7, 1000)


def ask(
    sandbox: Sandbox, body: dict[str, Any], mask: str | None = MASK, key: str | None = "sandbox-google-key"
) -> tuple[int, dict[str, Any]]:
    headers = {"x-goog-api-key": key, "x-goog-fieldmask": mask}
    given = {name: value for name, value in headers.items() if value is not None}
    path = "/google/v1/places:searchText"
    answer = sandbox.respond(Request("POST", "127.0.0.1", path, "", given, json.dumps(body).encode()))
    return answer.status, json.loads(answer.body)


def details(sandbox: Sandbox, identity: str, mask: str = "id,displayName") -> tuple[int, dict[str, Any]]:
    headers = {"x-goog-api-key": sandbox.google.key, "x-goog-fieldmask": mask}
    answer = sandbox.respond(Request("GET", "127.0.0.1", f"/google/v1/places/{identity}", "", headers))
    return answer.status, json.loads(answer.body)


async def test_it_is_reached_over_http(sandbox: Sandbox):
    headers = {"X-Goog-Api-Key": sandbox.google.key, "X-Goog-FieldMask": MASK}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(
            f"{sandbox.google_url}/v1/places:searchText", json={"textQuery": "dentists in Helsinki"}
        ) as answer,
    ):
        found = await answer.json()

    assert answer.status == 200
    assert len(found["places"]) == 20
    assert found["nextPageToken"]


def test_three_pages_of_twenty_and_no_more(many: Sandbox):
    body = {"textQuery": "dentists in Helsinki", "pageSize": 50}
    sizes, identities, token = [], set(), None
    while True:
        status, found = ask(many, body | ({"pageToken": token} if token else {}))
        assert status == 200
        sizes.append(len(found["places"]))
        identities |= {place["id"] for place in found["places"]}
        token = found.get("nextPageToken")
        if token is None:
            break

    assert sizes == [20, 20, 20]
    assert len(identities) == 60
    assert many.google.calls["searchText"] == 3


def test_boxes_find_what_one_search_does_not_show(many: Sandbox):
    true = {one.number for one in many.world if one.city.name == "Helsinki" and one.trade.name == "dentist"}
    found: set[str] = set()

    def search(south: float, west: float, north: float, east: float) -> None:
        rectangle = {
            "low": {"latitude": south, "longitude": west},
            "high": {"latitude": north, "longitude": east},
        }
        body: dict[str, Any] = {"textQuery": "dentist", "locationRestriction": {"rectangle": rectangle}}
        inside, token = [], None
        while True:
            _, page = ask(many, body | ({"pageToken": token} if token else {}))
            inside += page.get("places", [])
            token = page.get("nextPageToken")
            if token is None:
                break
        for place in inside:
            assert south <= place["location"]["latitude"] <= north
            assert west <= place["location"]["longitude"] <= east
        if len(inside) == 60:
            middle, centre = (south + north) / 2, (west + east) / 2
            search(south, west, middle, centre)
            search(south, centre, middle, east)
            search(middle, west, north, centre)
            search(middle, centre, north, east)
        else:
            found.update(place["id"] for place in inside)

    search(60.15, 24.89, 60.22, 25.03)
    assert len(found) == len(true)


def test_the_mask_decides_what_is_shown(many: Sandbox):
    _, found = ask(many, {"textQuery": "dentists in Helsinki"}, mask="places.id,places.displayName.text")

    assert all(set(place) == {"id", "displayName"} for place in found["places"])
    assert all(set(place["displayName"]) == {"text"} for place in found["places"])
    assert "nextPageToken" not in found


def test_a_star_shows_everything(many: Sandbox):
    _, found = ask(many, {"textQuery": "dentists in Helsinki"}, mask="*")

    assert {"postalAddress", "regularOpeningHours", "rating", "internationalPhoneNumber"} <= set(found["places"][0])
    assert "nextPageToken" in found


@pytest.mark.parametrize(("mask", "told"), [(None, "FieldMask is a required"), ("places.nonsense", "places.nonsense")])
def test_a_missing_or_wrong_mask_is_refused(many: Sandbox, mask: str | None, told: str):
    status, found = ask(many, {"textQuery": "dentists in Helsinki"}, mask=mask)

    assert (status, found["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert told in found["error"]["message"]


def test_nothing_found_is_an_empty_object(many: Sandbox):
    assert ask(many, {"textQuery": "submarine builders in Helsinki"}) == (200, {})
    assert ask(many, {"textQuery": "dentists in Atlantis"}) == (200, {})


def test_a_wrong_key_is_400_and_no_key_403(many: Sandbox):
    wrong, told = ask(many, {"textQuery": "x"}, key="wrong")
    none, also_told = ask(many, {"textQuery": "x"}, key=None)

    assert (wrong, told["error"]["details"][0]["reason"]) == (400, "API_KEY_INVALID")
    assert (none, also_told["error"]["status"]) == (403, "PERMISSION_DENIED")


def test_a_token_belongs_to_its_search(many: Sandbox):
    _, first = ask(many, {"textQuery": "dentists in Helsinki"})
    token = first["nextPageToken"]

    status, told = ask(many, {"textQuery": "dentists in Turku", "pageToken": token})
    alone, also_told = ask(many, {"pageToken": token})
    forged, _ = ask(many, {"textQuery": "dentists in Helsinki", "pageToken": "bm9uc2Vuc2U="})

    assert status == alone == forged == 400
    assert "must match the initial SearchText request" in told["error"]["message"]
    assert also_told["error"]["message"].startswith("Empty text_query.")
    assert ask(many, {"textQuery": "dentists in Helsinki", "pageSize": 5, "pageToken": token})[0] == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"textQuery": "dentist", "pageSize": -1},
        {"textQuery": "dentist", "locationRestriction": {"circle": {}}},
        {"textQuery": "dentist", "locationRestriction": {"rectangle": HELSINKI}, "locationBias": {}},
        {
            "textQuery": "dentist",
            "locationRestriction": {"rectangle": {"low": HELSINKI["high"], "high": HELSINKI["low"]}},
        },
    ],
)
def test_a_wrong_question_is_an_invalid_argument(many: Sandbox, body: dict[str, Any]):
    status, told = ask(many, body)

    assert (status, told["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_quotas_of_the_minute_and_of_the_day_are_told_apart(many: Sandbox):
    many.google.per_minute, many.google.per_day = 1, 2
    body = {"textQuery": "dentists in Helsinki"}
    answers = [ask(many, body), ask(many, body)]
    many.google.reset_minute()
    answers += [ask(many, body), ask(many, body)]

    assert [status for status, _ in answers] == [200, 429, 200, 429]
    minute, day = (answers[place][1]["error"]["details"][0]["metadata"] for place in (1, 3))
    assert minute["quota_limit"] == "SearchTextRequestPerMinutePerProject"
    assert (day["quota_limit"], day["quota_unit"]) == ("SearchTextRequestPerDayPerProject", "1/d/{project}")


@pytest.mark.parametrize(
    ("kind", "code", "status"),
    [
        ("per_minute", 429, "RESOURCE_EXHAUSTED"),
        ("per_day", 429, "RESOURCE_EXHAUSTED"),
        ("service_disabled", 403, "PERMISSION_DENIED"),
        ("billing_disabled", 403, "PERMISSION_DENIED"),
        ("blocked", 403, "PERMISSION_DENIED"),
        ("key_invalid", 400, "INVALID_ARGUMENT"),
        ("internal", 500, "INTERNAL"),
        ("unavailable", 503, "UNAVAILABLE"),
        ("deadline", 504, "DEADLINE_EXCEEDED"),
    ],
)
def test_errors_come_to_order_and_then_stop(many: Sandbox, kind: str, code: int, status: str):
    many.google.fail(kind, times=2)
    body = {"textQuery": "dentists in Helsinki"}

    answers = [ask(many, body) for _ in range(3)]

    assert [answer[0] for answer in answers] == [code, code, 200]
    assert answers[0][1]["error"]["status"] == status


def test_details_show_one_place(many: Sandbox):
    _, found = ask(many, {"textQuery": "dentists in Helsinki"})
    place = found["places"][0]

    status, shown = details(many, place["id"], "id,displayName,internationalPhoneNumber,websiteUri")

    assert status == 200
    assert shown["displayName"] == place["displayName"]
    assert shown["internationalPhoneNumber"].startswith("+358 ")
    assert shown.get("websiteUri") == place.get("websiteUri")


def test_a_place_that_is_gone_is_404_and_nonsense_400(many: Sandbox):
    _, found = ask(many, {"textQuery": "dentists in Helsinki"})
    identity = found["places"][0]["id"]
    forged = identity[:-1] + ("A" if identity[-1] != "A" else "B")

    assert details(many, forged)[0] == 404
    assert details(many, "nonsense")[0] == 400


def test_closed_businesses_are_marked(many: Sandbox):
    closed = next(one for one in many.world if one.closed)
    _, found = ask(many, {"textQuery": f"{closed.name} {closed.city.name}"}, mask="places")

    assert "CLOSED_PERMANENTLY" in {place["businessStatus"] for place in found["places"]}


def test_plumbers_without_a_place_come_only_when_asked_for(many: Sandbox):
    body = {"textQuery": "plumbers in Helsinki"}
    _, without = ask(many, body, mask="places")
    _, all_of_them = ask(many, body | {"includePureServiceAreaBusinesses": True}, mask="places")
    moving = [place for place in all_of_them["places"] if place.get("pureServiceAreaBusiness")]

    assert moving
    assert len(without["places"]) == len(all_of_them["places"]) - len(moving)
    assert all("location" not in place for place in moving)


def test_what_is_near_a_point_is_capped_at_twenty(many: Sandbox):
    def near(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        headers = {"x-goog-api-key": many.google.key, "x-goog-fieldmask": "places.id,places.primaryType"}
        path = "/google/v1/places:searchNearby"
        answer = many.respond(Request("POST", "127.0.0.1", path, "", headers, json.dumps(body).encode()))
        return answer.status, json.loads(answer.body)

    circle = {"circle": {"center": {"latitude": 60.18, "longitude": 24.95}, "radius": 20_000}}
    status, found = near({"locationRestriction": circle, "includedTypes": ["dentist"]})

    assert (status, len(found["places"])) == (200, 20)
    assert {place["primaryType"] for place in found["places"]} == {"dentist"}
    assert near({"locationRestriction": circle, "maxResultCount": 21})[0] == 400
    assert near({})[0] == 400


def rectangle(west: float, east: float) -> dict[str, Any]:
    low, high = {"latitude": 60.15, "longitude": west}, {"latitude": 60.22, "longitude": east}
    return {"textQuery": "dentist", "locationRestriction": {"rectangle": {"low": low, "high": high}}}


def test_a_rectangle_is_half_of_the_globe_at_most_and_may_cross_the_antimeridian(many: Sandbox):
    assert len(ask(many, rectangle(-100, 80))[1]["places"]) == 20
    assert ask(many, rectangle(-100, 80.1))[0] == 400
    assert ask(many, rectangle(24, 24 - 175))[0] == 400, "185 degrees, the other way round"
    assert len(ask(many, rectangle(24, -160))[1]["places"]) == 20
    assert ask(many, rectangle(170, -170)) == (200, {}), "there is nothing between Japan and Alaska"
    assert ask(many, rectangle(26, -160)) == (200, {})


def everybody(sandbox: Sandbox) -> list[dict[str, Any]]:
    return [details(sandbox, place_id(7, number), "*")[1] for number in range(300)]


def test_what_google_does_not_know_is_absent(many: Sandbox):
    places = everybody(many)
    for field in ("internationalPhoneNumber", "rating", "regularOpeningHours", "websiteUri", "location"):
        assert 0 < sum(field in place for place in places) < len(places), field
    assert all(("rating" in place) is ("userRatingCount" in place) for place in places)
    assert all(("location" in place) is ("pureServiceAreaBusiness" not in place) for place in places)
    assert not any(value is None for place in places for value in place.values())


def test_some_never_close_and_some_are_closed_for_now(many: Sandbox):
    places = everybody(many)
    weeks = [place["regularOpeningHours"]["periods"] for place in places if "regularOpeningHours" in place]
    assert [{"open": {"day": 0, "hour": 0, "minute": 0}}] in weeks
    assert {place["businessStatus"] for place in places} == {"OPERATIONAL", "CLOSED_TEMPORARILY", "CLOSED_PERMANENTLY"}


def test_no_stars_are_fewer_than_any(many: Sandbox):
    _, found = ask(many, {"textQuery": "dentists in Helsinki", "minRating": 1.0}, mask="places.rating")
    assert all("rating" in place for place in found["places"])


def test_an_id_becomes_obsolete_after_it_was_found(many: Sandbox):
    first = ask(many, {"textQuery": "dentists in Helsinki"})[1]["places"][0]["id"]
    many.google.forget(first)
    status, told = details(many, first)
    assert (status, told["error"]["status"]) == (404, "NOT_FOUND")
    assert first not in [one["id"] for one in ask(many, {"textQuery": "dentists in Helsinki"})[1]["places"]]


def test_a_business_that_moved_says_where_to(many: Sandbox):
    old, new = place_id(7, 0), place_id(7, 1)
    many.google.move(old, new)
    assert details(many, old, "id,businessStatus,movedPlace,movedPlaceId")[1] == {
        "id": old,
        "businessStatus": "CLOSED_PERMANENTLY",
        "movedPlace": f"places/{new}",
        "movedPlaceId": new,
    }
    assert details(many, new, "id,movedPlaceId")[1] == {"id": new}


def test_the_dearest_field_is_billed_and_a_refusal_is_not(many: Sandbox):
    for mask in ("id", "id,types", "displayName", "rating", "reviews", "*"):
        details(many, place_id(7, 0), mask)
    details(many, "nonsense")
    ask(many, {"textQuery": "dentists"}, mask="places.id,nextPageToken")
    ask(many, {"textQuery": "dentists"}, mask="places.location")
    ask(many, {"textQuery": ""})
    assert many.google.bill.calls == {
        "Place Details Essentials (IDs Only)": 1,
        "Place Details Essentials": 1,
        "Place Details Pro": 1,
        "Place Details Enterprise": 1,
        "Place Details Enterprise + Atmosphere": 2,
        "Text Search Essentials (IDs Only)": 1,
        "Text Search Pro": 1,
    }
    assert many.google.bill.cents == pytest.approx(0.5 + 1.7 + 2 + 2 * 2.5 + 3.2)


async def test_the_client_reckons_what_google_bills_for_a_whole_search():
    async with Sandbox(7, 1000) as sandbox:
        settings = sandbox_settings(sandbox, CRAWL_PARSER_PROCESSES=1)
        web = Web(settings)
        try:
            google = configured_providers(settings, web)["google_places"]
            meter, purse = Meter(), InMemoryCallBudget()
            found = [one async for page in google.search(PlaceQuery("dentists in Helsinki"), meter) for one in page]
            for one in found[:5]:
                await google.details(one.provider_id, purse)
        finally:
            await web.close()

        true = [one for one in sandbox.world if one.city.name == "Helsinki" and one.trade.name == "dentist"]
        bill = sandbox.google.bill
        assert len(found) == len(true) > 60, "so the area was divided"
        assert bill.calls["Text Search Essentials (IDs Only)"] > bill.calls["Text Search Enterprise"] > 3
        assert bill.calls["Place Details Enterprise"] == purse.calls == 5
        assert bill.calls.total() == meter.calls + purse.calls
        assert bill.cents == pytest.approx(meter.cents + purse.cents)
