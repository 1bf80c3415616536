"""Google Places over real HTTP: pages to the end, boxes beyond sixty, money, quotas, and a key that nobody sees."""

import asyncio
import logging
import traceback
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import structlog
from pydantic import SecretStr

from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.areas.area import Area, FoundAreas
from scrapersky.providers.areas.geometry import Box
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import (
    Meter,
    PlaceDetails,
    PlaceNotFound,
    PlaceQuery,
    ProviderBusy,
    ProviderFailed,
    ProviderNotReached,
    ProviderRefused,
)
from scrapersky.providers.call_budget import BudgetReached, InMemoryCallBudget
from scrapersky.providers.cooldown import InMemoryCooldowns
from scrapersky.providers.google.api import GoogleApi
from scrapersky.providers.google.errors import PACIFIC, QuotaUsedUp, error_of
from scrapersky.providers.google.place import google_place
from scrapersky.providers.google.prices import ALL_FIELDS, call_micros
from scrapersky.providers.google.provider import GooglePlaces
from scrapersky.providers.http_api import ApiResponse, ClientSource
from scrapersky.providers.search_journal import InMemoryJournal
from tests.factories.google_server import KEY, TinyGoogle, error, exhausted, points
from tests.factories.http_server import Reply, ScriptedServer
from tests.providers.conftest import api_at

HELSINKI = Area("Helsinki", Box(60.16, 24.93, 60.18, 24.96), "FI")
QUERY = PlaceQuery("restaurants", Where.of("Helsinki"))


async def helsinki(*_: object) -> FoundAreas:
    return FoundAreas((HELSINKI,))


def google(client: ClientSource, server: ScriptedServer, key: str = KEY, **more: Any) -> GooglePlaces:
    api = GoogleApi(api_at(client, server.url, "Google"), SecretStr(key), more.pop("cooldowns", None))
    return GooglePlaces(api, more.pop("geocoder", helsinki), max_wait=more.pop("max_wait", timedelta(0)), **more)


async def found(provider: GooglePlaces, query: PlaceQuery = QUERY, meter: Meter | None = None) -> list[PlaceDetails]:
    return [place async for page in provider.search(query, meter or Meter()) for place in page]


async def collect(provider: GooglePlaces, meter: Meter, kept: list[PlaceDetails]) -> None:
    async for page in provider.search(QUERY, meter):
        kept += page


# -- pages and boxes ---------------------------------------------------------------------------------------------------


async def test_all_pages_are_requested_with_the_same_query(client: ClientSource, server: ScriptedServer) -> None:
    world = TinyGoogle(server, points(47))
    places = await found(google(client, server), PlaceQuery("restaurants", Where.of("Helsinki", "FI"), limit=60))
    assert [place.provider_id for place in places] == [place["id"] for place in world.places]
    bodies = [one.json for one in server.requests]
    assert [body.pop("pageToken", None) is None for body in bodies] == [True, False, False]
    assert bodies[0] == bodies[1] == bodies[2]
    assert bodies[0]["textQuery"] == "restaurants in Helsinki"
    assert (bodies[0]["regionCode"], bodies[0]["includePureServiceAreaBusinesses"]) == ("FI", True)


async def test_a_limit_is_kept_and_no_page_beyond_it_is_paid(client: ClientSource, server: ScriptedServer) -> None:
    world = TinyGoogle(server, points(200))
    meter = Meter()
    places = await found(google(client, server), PlaceQuery("restaurants in Helsinki", limit=25), meter)
    assert len(places) == 25
    assert (world.paid, world.free, meter.cents) == (2, 0, 7.0)


async def test_a_small_result_without_a_limit_is_counted_first_free_of_charge(
    client: ClientSource, server: ScriptedServer
) -> None:
    world = TinyGoogle(server, points(33))
    meter = Meter()
    assert len(await found(google(client, server), meter=meter)) == 33
    assert (world.free, world.paid, meter.cents) == (2, 2, 7.0)


async def test_zero_results_are_fine_and_free(client: ClientSource, server: ScriptedServer) -> None:
    world = TinyGoogle(server, [])
    meter = Meter()
    assert await found(google(client, server), meter=meter) == []
    assert (world.paid, meter.cents) == (0, 0)


@pytest.mark.parametrize(("count", "most_calls", "most_paid"), [(213, 90, 30), (1377, 500, 190)])
async def test_boxes_find_every_place_beyond_sixty(
    client: ClientSource, server: ScriptedServer, count: int, most_calls: int, most_paid: int
) -> None:
    world = TinyGoogle(server, points(count))
    meter = Meter()
    places = await found(google(client, server), meter=meter)
    assert {place.provider_id for place in places} == {place["id"] for place in world.places}
    assert len(places) == count
    print(f"{count} places: {world.free} free and {world.paid} paid calls, {meter.cents / 100:.2f} dollars")
    assert world.free + world.paid == meter.calls <= most_calls
    assert world.paid <= most_paid
    assert meter.cents == pytest.approx(world.paid * 3.5)
    assert meter.notes == []


async def test_a_limit_above_sixty_stops_the_boxes(client: ClientSource, server: ScriptedServer) -> None:
    world = TinyGoogle(server, points(1377))
    provider = google(client, server)
    query = PlaceQuery("restaurants", Where.of("Helsinki"), limit=150)
    meter, estimate = Meter(), await provider.estimate(query)
    assert len(await found(provider, query, meter)) == 150
    assert world.paid <= 15
    assert meter.cents <= estimate.cents


async def test_without_a_geocoder_the_first_sixty_places_define_the_box(
    client: ClientSource, server: ScriptedServer
) -> None:
    world = TinyGoogle(server, points(213))
    provider = google(client, server, geocoder=None)
    assert len(await found(provider)) == len(world.places)


async def test_an_area_unknown_to_the_geocoder_does_not_end_the_search(
    client: ClientSource, server: ScriptedServer
) -> None:
    async def nobody_knows(*_: object) -> FoundAreas:
        raise ProviderRefused("no such place")

    TinyGoogle(server, points(100))
    assert len(await found(google(client, server, geocoder=nobody_knows))) == 100


async def test_a_box_that_cannot_be_divided_is_noted(client: ClientSource, server: ScriptedServer) -> None:
    tower = [{"id": f"floor{n}", "location": {"latitude": 60.1713, "longitude": 24.9417}} for n in range(75)]
    TinyGoogle(server, [*tower, *points(70)])
    meter = Meter()
    places = await found(google(client, server), meter=meter)
    assert 120 <= len(places) < 145
    assert meter.notes == ["1 of the boxes have more places than Google returns: some places are missing."]


async def test_the_number_of_boxes_is_bounded(client: ClientSource, server: ScriptedServer) -> None:
    world = TinyGoogle(server, points(1377))
    meter = Meter()
    await found(google(client, server, max_tiles=5), meter=meter)
    assert world.free <= 3 * (5 + 1)
    assert "some places are missing" in meter.notes[0]


async def test_a_refused_page_token_restarts_the_query_once(client: ClientSource, server: ScriptedServer) -> None:
    world = TinyGoogle(server, points(30))
    pages = world.search
    refused = error(400, "INVALID_ARGUMENT", "Request parameters for paging requests must match.")
    script = [None, refused, None, None]
    server.replies["/v1/places:searchText"] = lambda asked: script.pop(0) or pages(asked)
    assert len(await found(google(client, server), PlaceQuery("x", Where.of("y"), limit=40))) == 30
    script = [None, refused, None, refused]
    server.replies["/v1/places:searchText"] = lambda asked: script.pop(0) or pages(asked)
    with pytest.raises(ProviderFailed, match="Twice"):
        await found(google(client, server), PlaceQuery("x", Where.of("y"), limit=40))


# -- money -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "fields", "cents"),
    [
        ("search", ("id",), 0),
        ("search", ("id", "location"), 3.2),
        ("search", ("id", "displayName"), 3.2),
        ("search", ("id", "websiteUri"), 3.5),
        ("search", ("id", "reviews"), 4.0),
        ("details", ("id",), 0),
        ("details", ("formattedAddress",), 0.5),
        ("details", ("displayName",), 1.7),
        ("details", ALL_FIELDS, 2.0),
        ("details", ("somethingNew",), 2.5),
    ],
)
def test_a_call_costs_as_much_as_its_most_expensive_field(method: Any, fields: tuple[str, ...], cents: float) -> None:
    assert call_micros(method, fields) == round(cents * 10_000)


@pytest.mark.parametrize(
    ("limit", "calls", "cents"), [(1, 1, 4), (20, 1, 4), (60, 3, 11), (200, 60, 70), (None, 150, 175)]
)
async def test_the_estimate_is_made_without_a_call(
    client: ClientSource, server: ScriptedServer, limit: int | None, calls: int, cents: int
) -> None:
    estimate = await google(client, server).estimate(PlaceQuery("x", Where.of("y"), limit=limit))
    assert (estimate.calls, estimate.cents) == (calls, cents)
    assert server.requests == []


async def test_the_budget_stops_a_search_and_its_places_are_kept(client: ClientSource, server: ScriptedServer) -> None:
    world = TinyGoogle(server, points(213))
    meter, kept = Meter(budget_cents=20), list[PlaceDetails]()
    with pytest.raises(BudgetReached, match=r"0\.21, over the budget of 0\.20"):
        await collect(google(client, server), meter, kept)
    assert 0 < len(kept) <= 100
    assert world.paid == 5
    assert meter.cents == 17.5


async def test_no_budget_means_no_paid_call(client: ClientSource, server: ScriptedServer) -> None:
    world = TinyGoogle(server, points(10))
    with pytest.raises(BudgetReached):
        await found(google(client, server), meter=Meter(budget_cents=0))
    assert world.paid == 0


async def test_a_call_that_failed_is_not_charged(client: ClientSource, server: ScriptedServer) -> None:
    TinyGoogle(server, points(10)).faults = [error(503, "UNAVAILABLE", "")]
    meter = Meter()
    with pytest.raises(ProviderBusy):
        await found(google(client, server), PlaceQuery("x", Where.of("y"), limit=5), meter)
    assert (meter.calls, meter.cents) == (1, 0)


async def test_a_call_without_an_answer_stays_charged_and_one_that_was_not_sent_does_not(
    client: ClientSource, server: ScriptedServer
) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    provider, query = google(client, server), PlaceQuery("x", Where.of("y"), limit=5)
    await server.stop()
    silent = await asyncio.start_server(hang_up, "127.0.0.1", server.port)
    lost, unsent = Meter(), Meter()
    with pytest.raises(ProviderFailed):
        await found(provider, query, lost)
    assert (lost.calls, lost.cents) == (1, 3.5), "it may have been billed"
    silent.close()
    await silent.wait_closed()
    with pytest.raises(ProviderNotReached):
        await found(provider, query, unsent)
    assert (unsent.calls, unsent.cents) == (1, 0)


# -- quotas and troubles -----------------------------------------------------------------------------------------------


async def test_after_the_quota_of_a_minute_the_wait_is_a_minute(client: ClientSource, server: ScriptedServer) -> None:
    TinyGoogle(server, points(10)).faults = [exhausted("Minute")]
    with pytest.raises(ProviderBusy, match="quota of the minute") as busy:
        await found(google(client, server))
    assert busy.value.after == timedelta(minutes=1)


async def test_the_quota_of_a_day_ends_at_midnight_in_california(client: ClientSource, server: ScriptedServer) -> None:
    TinyGoogle(server, points(10)).faults = [exhausted("Day")]
    with pytest.raises(ProviderBusy, match="quota of the day") as busy:
        await found(google(client, server))
    assert timedelta(0) < busy.value.after <= timedelta(hours=25)
    assert (datetime.now(UTC) + busy.value.after).hour in (7, 8)


@pytest.mark.parametrize(
    ("now", "midnight"),
    [
        (datetime(2026, 11, 15, 23, 0, tzinfo=UTC), datetime(2026, 11, 16, 8, tzinfo=UTC)),
        (datetime(2026, 7, 1, 6, 59, tzinfo=UTC), datetime(2026, 7, 1, 7, tzinfo=UTC)),
        (datetime(2026, 7, 1, 7, 0, tzinfo=UTC), datetime(2026, 7, 2, 7, tzinfo=UTC)),
        (datetime(2026, 11, 1, 7, 30, tzinfo=UTC), datetime(2026, 11, 2, 8, tzinfo=UTC)),  # a day of 25 hours
        (datetime(2027, 3, 14, 8, 30, tzinfo=UTC), datetime(2027, 3, 15, 7, tzinfo=UTC)),  # and one of 23
        (datetime(2026, 11, 1, 0, 30, tzinfo=PACIFIC), datetime(2026, 11, 2, 8, tzinfo=UTC)),
    ],
)
def test_the_day_of_the_quota_is_the_pacific_one(now: datetime, midnight: datetime) -> None:
    body = '{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "limit \'SearchTextRequest per day\'"}}'
    busy = error_of(ApiResponse(429, {}, body), now=now)
    assert isinstance(busy, QuotaUsedUp)
    assert now.astimezone(UTC) + busy.after == midnight


async def test_a_search_continues_where_the_quota_stopped_it_and_pays_nothing_twice(
    client: ClientSource, server: ScriptedServer
) -> None:
    world = TinyGoogle(server, points(213))
    journal = InMemoryJournal()
    provider, first = google(client, server), Meter(journal=journal)
    pages = provider.search(QUERY, first)
    await anext(pages)
    world.faults = [exhausted("Day")]
    with pytest.raises(ProviderBusy):
        await anext(pages)
    paid, asked = world.paid, len(server.requests)
    assert first.cents == pytest.approx(paid * 3.5)
    second = Meter(journal=journal)
    assert len(await found(google(client, server), meter=second)) == 213
    assert first.cents + second.cents == world.paid * 3.5  # what the first attempt paid is booked already
    assert len(server.requests) - asked < world.paid + world.free
    again = Meter()
    await found(google(client, server), meter=again)
    assert world.paid == 2 * round(again.cents / 3.5)  # a search of its own knows nothing of it


async def test_a_short_wait_is_waited_in_the_middle_of_a_search(
    client: ClientSource, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    really = asyncio.sleep

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds))
        await really(0)

    monkeypatch.setattr("scrapersky.providers.google.paging.asyncio.sleep", sleep)
    world = TinyGoogle(server, points(10))
    world.faults = [exhausted("Minute"), error(503, "UNAVAILABLE", ""), exhausted("Minute")]
    provider = google(
        client, server, max_wait=timedelta(seconds=130), cooldowns=InMemoryCooldowns(now=lambda: sum(slept))
    )
    assert len(await found(provider)) == 10
    assert [seconds for seconds in slept if seconds >= 1] == [60, 10, 60]
    world.faults = [exhausted("Minute")] * 5
    with pytest.raises(ProviderBusy):
        await found(provider)


@pytest.mark.parametrize(
    ("reply", "outcome", "told"),
    [
        (error(400, "INVALID_ARGUMENT", "", "API_KEY_INVALID"), ProviderRefused, "PROVIDER_GOOGLE_API_KEY"),
        (error(400, "INVALID_ARGUMENT", "API key not valid. Please"), ProviderRefused, "PROVIDER_GOOGLE_API_KEY"),
        (error(400, "INVALID_ARGUMENT", "Bad type"), ProviderRefused, "not accepted"),
        (error(403, "PERMISSION_DENIED", "", "SERVICE_DISABLED"), ProviderRefused, "enable it"),
        (error(403, "PERMISSION_DENIED", "", "BILLING_DISABLED"), ProviderRefused, "billing"),
        (error(403, "PERMISSION_DENIED", "", "API_KEY_SERVICE_BLOCKED"), ProviderRefused, "API restrictions"),
        (error(403, "PERMISSION_DENIED", "", "API_KEY_IP_ADDRESS_BLOCKED"), ProviderRefused, "machine's address"),
        (error(403, "PERMISSION_DENIED", "", "CONSUMER_SUSPENDED"), ProviderRefused, "suspended"),
        (error(403, "PERMISSION_DENIED", "doesn't allow unregistered callers"), ProviderRefused, "no key"),
        (error(403, "PERMISSION_DENIED", "", "SOMETHING_NEW"), ProviderRefused, "SOMETHING_NEW"),
        (error(500, "INTERNAL", ""), ProviderBusy, "500 INTERNAL"),
        (error(503, "UNAVAILABLE", ""), ProviderBusy, "503 UNAVAILABLE"),
        (Reply("<html>Bad Gateway</html>", 502, "text/html"), ProviderBusy, "502"),
        (Reply("[]", 200), ProviderFailed, "not a list of places"),
        (Reply("{", 200), ProviderFailed, "not a list of places"),
        (Reply({"places": {"id": 1}}, 200), ProviderFailed, "not a list of places"),
        (Reply("", 302, "text/plain", {"Location": "https://evil.example/"}), ProviderRefused, "302"),
    ],
)
async def test_every_refusal_names_the_cure(
    client: ClientSource, server: ScriptedServer, reply: Reply, outcome: type[ScraperSkyError], told: str
) -> None:
    server.replies["/v1/places:searchText"] = [reply]
    with pytest.raises(outcome) as raised:
        await found(google(client, server))
    assert told in str(raised.value)
    assert len(server.requests) == 1


async def test_an_unavailable_google_is_retried(client: ClientSource, server: ScriptedServer) -> None:
    await server.stop()
    with pytest.raises(ProviderFailed, match="Google does not answer"):
        await found(google(client, server))


# -- details -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("unit", "longest"), [("Minute", timedelta(minutes=1)), ("Day", timedelta(hours=25))])
async def test_a_used_up_quota_of_details_stops_details_but_not_searches(
    client: ClientSource, server: ScriptedServer, unit: str, longest: timedelta
) -> None:
    TinyGoogle(server, points(3)).faults = [exhausted(unit)]
    provider, budget = google(client, server), InMemoryCallBudget()
    for _ in range(3):
        with pytest.raises(ProviderBusy, match=f"quota of the {unit.lower()}") as busy:
            await provider.details("place0001", budget)
        assert timedelta(0) < busy.value.after <= longest
    assert len(server.requests) == 1, "who was told does not ask again"
    assert (budget.calls, budget.cents) == (1, 0), "a call that failed is counted, and not paid"
    assert len(await found(provider)) == 3


async def test_details_of_one_place(client: ClientSource, server: ScriptedServer) -> None:
    TinyGoogle(server, points(3))
    budget = InMemoryCallBudget()
    place = await google(client, server).details("place0001", budget)
    assert (budget.calls, budget.cents) == (1, 2)
    assert (place.provider, place.provider_id, place.website) == (
        "google_places",
        "place0001",
        "https://place0001.example/",
    )
    assert "places." not in server.requests[0].headers["X-Goog-FieldMask"]


async def test_a_missing_place_is_reported(client: ClientSource, server: ScriptedServer) -> None:
    server.replies["/v1/places/old"] = [error(404, "NOT_FOUND", "The Place ID is no longer valid.")]
    with pytest.raises(PlaceNotFound, match="no longer valid; repeat its search"):
        await google(client, server).details("old", InMemoryCallBudget())
    for wrong in ("../v1/x", "", "a b", "x" * 301):
        with pytest.raises(ProviderRefused, match="not the id"):
            await google(client, server).details(wrong, InMemoryCallBudget())
    assert len(server.requests) == 1


def test_a_place_with_everything() -> None:
    place = google_place(
        {
            "id": "ChIJ1",
            "displayName": {"text": "Hymy  Oy\x00", "languageCode": "fi"},
            "businessStatus": "CLOSED_PERMANENTLY",
            "types": ["dentist", "health"],
            "primaryType": "dental_clinic",
            "formattedAddress": "Katu 3, 00100 Helsinki, Finland",
            "postalAddress": {
                "regionCode": "FI",
                "postalCode": "00100",
                "locality": "Helsinki",
                "administrativeArea": "Uusimaa",
                "addressLines": ["Katu 3", "A 1"],
            },
            "location": {"latitude": 60.17, "longitude": 24.94},
            "timeZone": {"id": "Europe/Helsinki"},
            "websiteUri": "https://hymy.example/",
            "nationalPhoneNumber": "09 6123456",
            "internationalPhoneNumber": "+358 9 6123456",
            "rating": 4.5,
            "userRatingCount": 12,
            "priceLevel": "PRICE_LEVEL_MODERATE",
            "regularOpeningHours": {
                "periods": [{"open": {"day": 0, "hour": 0, "minute": 0}}],
                "weekdayDescriptions": ["Monday: 8:00\u202fAM\u2009–\u20094:00\u202fPM"],
            },
            "googleMapsUri": "https://maps.google.com/?cid=1",
        }
    )
    assert place.name == "Hymy Oy"
    assert place.phone == "+35896123456"
    assert place.categories == ("dental_clinic", "dentist", "health")
    assert (place.street, place.city, place.region, place.country) == ("Katu 3, A 1", "Helsinki", "Uusimaa", "FI")
    assert (place.rating, place.rating_count, place.price_level) == (4.5, 12, 2)
    assert place.business_status == "CLOSED_PERMANENTLY"
    assert place.hours is not None
    assert place.hours["weekdays"] == ["Monday: 8:00 AM – 4:00 PM"]
    assert place.fetched_at is not None
    assert place.expires_at is not None
    assert place.expires_at - place.fetched_at == timedelta(days=30)
    assert place.extra == {"google_maps_uri": "https://maps.google.com/?cid=1"}


def test_a_place_with_nothing_and_a_place_with_nonsense() -> None:
    assert google_place({"id": "x"}).name == "x"
    odd = {"id": "x", "location": [], "types": "a", "rating": True, "displayName": 7, "postalAddress": None}
    assert (google_place(odd).rating, google_place(odd).categories, google_place(odd).latitude) == (None, (), None)


# -- the key -----------------------------------------------------------------------------------------------------------


async def test_the_key_is_in_the_header_and_nowhere_else(
    client: ClientSource, server: ScriptedServer, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    troubles: list[BaseException] = []
    provider = google(client, server)
    with structlog.testing.capture_logs() as logs:
        TinyGoogle(server, points(3))
        await found(provider)
        assert all(
            one.headers["X-Goog-Api-Key"] == KEY and KEY not in str(one.query) + one.path for one in server.requests
        )
        replies = [
            error(400, "INVALID_ARGUMENT", f"API key {KEY} not valid", "API_KEY_INVALID"),
            error(403, f"DENIED {KEY}", f"key {KEY}", f"KEY_{KEY}"),
            error(429, "RESOURCE_EXHAUSTED", f"key {KEY}"),
            Reply(f"<html>{KEY}</html>", 503, "text/html"),
            Reply(f"{KEY}", 200),
            Reply("", 302, "text/plain", {"Location": f"{server.url}/?key={KEY}"}),
        ]
        for reply in replies:
            server.replies["/v1/places:searchText"] = [reply]
            troubles.append(await trouble(provider))
        await server.stop()
        troubles.append(await trouble(provider))
    said = [
        "".join(traceback.format_exception(one)) + repr(one) + repr(vars(one)) + repr(one.__context__)
        for one in troubles
    ]
    captured = capsys.readouterr()
    texts = [*said, repr(provider), repr(vars(provider)), repr(logs), caplog.text, captured.out, captured.err]
    texts += [repr(vars(provider._api)), repr(vars(provider._api._api))]
    assert [text for text in texts if KEY in text] == []
    assert len(troubles) == 7


async def trouble(provider: GooglePlaces) -> BaseException:
    with pytest.raises(ScraperSkyError) as raised:
        await found(provider)
    return raised.value


async def test_a_wrong_key_names_the_setting(client: ClientSource, server: ScriptedServer) -> None:
    TinyGoogle(server, points(3))
    with pytest.raises(ProviderRefused, match="PROVIDER_GOOGLE_API_KEY") as refused:
        await found(google(client, server, key="wrong-key-1"))
    assert "wrong-key-1" not in str(refused.value)
