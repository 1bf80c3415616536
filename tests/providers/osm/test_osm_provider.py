"""OpenStreetMap over real HTTP: what is found, what is refused, and how politely it is asked."""

import asyncio
from datetime import timedelta
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs

import pytest

from scrapersky.crawl.politeness.host_limits import HostPolicy, InProcessHostLimits
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Meter, PlaceDetails, PlaceQuery, ProviderBusy, ProviderFailed, ProviderRefused
from scrapersky.providers.call_budget import InMemoryCallBudget
from scrapersky.providers.http_api import ClientSource
from scrapersky.providers.osm.nominatim import Nominatim
from scrapersky.providers.osm.overpass import Overpass
from scrapersky.providers.osm.provider import OpenStreetMap
from scrapersky.providers.throttle import Throttle
from tests.factories.http_server import ReceivedRequest, Reply, ScriptedServer
from tests.providers.conftest import api_at

HELSINKI = {
    "place_id": 1,
    "osm_type": "relation",
    "osm_id": 34914,
    "category": "boundary",
    "boundingbox": ["59.9224887", "60.2978389", "24.7828749", "25.2544849"],
    "lat": "60.1674881",
    "lon": "24.9427473",
    "display_name": "Helsinki, Finland",
    "address": {"city": "Helsinki", "country": "Finland", "country_code": "fi"},
}
SMILE = {
    "type": "node",
    "id": 11,
    "lat": 60.17,
    "lon": 24.94,
    "tags": {
        "name": "Hymy",
        "amenity": "dentist",
        "website": "www.hymy.example;https://hymy.example/en",
        "phone": "09 612 3456; +358 40 123 4567",
        "contact:email": "ajanvaraus@hymy.example",
        "contact:facebook": "hymyoy",
        "opening_hours": "Mo-Fr 08:00-16:00",
        "addr:street": "Katu",
        "addr:housenumber": "3",
        "addr:city": "Helsinki",
        "addr:postcode": "00100",
    },
}
WAY = {"type": "way", "id": 12, "center": {"lat": 60.2, "lon": 24.9}, "tags": {"name": "Suu", "healthcare": "dentist"}}
PAGE = "<html><body><h1>Access blocked</h1></body></html>"
RATE_LIMITED = Reply("<p>::rate_limited. Please check /api/status</p>", 429, "text/html")


def overpass_answer(*elements: dict[str, Any], **more: Any) -> Reply:
    return Reply({"version": 0.6, "generator": "Overpass API", "osm3s": {}, "elements": list(elements), **more})


@pytest.fixture
def osm(server: ScriptedServer, client: ClientSource) -> OpenStreetMap:
    server.replies["/search"] = [Reply([HELSINKI])]
    server.replies["/api/interpreter"] = [overpass_answer(SMILE, WAY)]
    return built(server, client)


def throttle(pause: float = 0.0) -> Throttle:
    return Throttle("The service", "http://x.example", delay=timedelta(seconds=pause))


def built(server: ScriptedServer, client: ClientSource) -> OpenStreetMap:
    return OpenStreetMap(
        Nominatim(api_at(client, server.url, "Nominatim"), throttle()).locate,
        Overpass(api_at(client, f"{server.url}/api", "Overpass"), throttle()),
    )


async def found(provider: OpenStreetMap, text: str = "dentists in Helsinki", **more: Any) -> list[PlaceDetails]:
    meter = more.pop("meter", Meter())
    return [place async for page in provider.search(PlaceQuery(text, **more), meter) for place in page]


def question(asked: ReceivedRequest) -> str:
    return parse_qs(asked.body.decode())["data"][0]


# -- what is found -----------------------------------------------------------------------------------------------------


async def test_a_search_is_one_geocoding_and_one_query(osm: OpenStreetMap, server: ScriptedServer) -> None:
    meter = Meter(budget_cents=0)
    places = await found(osm, meter=meter, limit=40)
    assert [place.provider_id for place in places] == ["node/11", "way/12"]
    assert server.paths() == ["/search", "/api/interpreter"]
    assert server.requests[0].query["q"] == "Helsinki"
    assert question(server.requests[1]).endswith("out center tags qt 40;")
    assert "area(3600034914)" in question(server.requests[1])
    assert (meter.calls, meter.cents, meter.notes) == (2, 0, [])
    assert all("scrapersky.example/about" in one.headers["User-Agent"] for one in server.requests)


async def test_an_element_becomes_a_place_with_all_its_facts(osm: OpenStreetMap) -> None:
    smile, mouth = await found(osm)
    assert smile.name == "Hymy"
    assert smile.website == "https://www.hymy.example"
    assert smile.phone == "+35896123456"  # read with the country of the area
    assert (smile.street, smile.city, smile.postcode, smile.country) == ("Katu 3", "Helsinki", "00100", "FI")
    assert smile.address == "Katu 3, 00100 Helsinki"
    assert smile.categories == ("amenity=dentist",)
    assert smile.hours == {"opening_hours": "Mo-Fr 08:00-16:00"}
    assert smile.licence is not None
    assert "OpenStreetMap contributors" in smile.licence
    assert smile.fetched_at is not None
    assert smile.expires_at is None
    assert smile.extra == {
        "emails": ["ajanvaraus@hymy.example"],
        "phones": ["+358401234567"],
        "websites": ["https://hymy.example/en"],
        "socials": {"facebook": "hymyoy"},
    }
    assert (mouth.latitude, mouth.longitude) == (60.2, 24.9)


async def test_closed_ones_are_marked_and_benches_left_out(osm: OpenStreetMap, server: ScriptedServer) -> None:
    closed = {"type": "node", "id": 1, "tags": {"name": "Ei", "disused:amenity": "dentist"}}
    ended = {"type": "node", "id": 2, "tags": {"name": "Loppu", "shop": "bakery", "end_date": "2020"}}
    bench = {"type": "node", "id": 3, "tags": {"name": "Penkki", "amenity": "bench"}}
    nameless = {"type": "node", "id": 4, "tags": {"shop": "bakery"}}
    odd = {"type": "node", "id": 5, "tags": None}
    server.replies["/api/interpreter"] = [overpass_answer(closed, ended, bench, nameless, odd)]
    places = await found(osm)
    assert [(place.name, place.business_status) for place in places] == [
        ("Ei", "CLOSED_PERMANENTLY"),
        ("Loppu", "CLOSED_PERMANENTLY"),
    ]


@pytest.mark.parametrize(
    ("written", "phone"),
    [
        ("https://www.viini.example/2020", None),
        ("call us", None),
        ("0700", "0700"),
        ("0400 123 456/x9", "+358400123456"),
        ("; ;+358-9-3935-1234", "+358939351234"),
    ],
)
async def test_a_phone_number_is_read_kept_or_dropped(
    osm: OpenStreetMap, server: ScriptedServer, written: str, phone: str | None
) -> None:
    element = {"type": "node", "id": 1, "tags": {"name": "X", "shop": "wine", "phone": written}}
    server.replies["/api/interpreter"] = [overpass_answer(element)]
    assert [place.phone for place in await found(osm)] == [phone]


async def test_an_unknown_word_is_searched_in_names_and_noted(osm: OpenStreetMap, server: ScriptedServer) -> None:
    meter = Meter()
    await found(osm, "Hesburger in Helsinki", meter=meter)
    assert '["name"~"Hesburger",i]' in question(server.requests[1])
    assert meter.notes == [
        "'Hesburger' is not a known kind of business: names that contain it are searched for instead."
    ]
    assert "names that contain it" in (await osm.estimate(PlaceQuery("Hesburger", Where.of("Helsinki")))).explanation


@pytest.mark.parametrize("street", [{"osm_type": "way", "category": "highway"}, {"category": "waterway"}])
async def test_what_has_no_border_is_searched_by_its_box(
    osm: OpenStreetMap, server: ScriptedServer, street: dict[str, str]
) -> None:
    server.replies["/search"] = [Reply([{**HELSINKI, **street}])]
    await found(osm)
    assert "area" not in question(server.requests[1])
    assert "(59.9224887,24.7828749,60.2978389,25.2544849)" in question(server.requests[1])


async def test_a_town_comes_before_a_bar_of_its_name(osm: OpenStreetMap, server: ScriptedServer) -> None:
    bar = {**HELSINKI, "osm_type": "node", "osm_id": 5, "category": "amenity", "boundingbox": ["1", "2", "3", "4"]}
    server.replies["/search"] = [Reply([bar, HELSINKI])]
    await found(osm)
    assert "area(3600034914)" in question(server.requests[1])


async def test_no_result_is_fine(osm: OpenStreetMap, server: ScriptedServer) -> None:
    server.replies["/api/interpreter"] = [overpass_answer()]
    assert await found(osm) == []


async def test_details_by_id(osm: OpenStreetMap, server: ScriptedServer) -> None:
    assert (await osm.details("node/11", InMemoryCallBudget())).name == "Hymy"
    assert "node(11);" in question(server.requests[0])
    server.replies["/api/interpreter"] = [overpass_answer()]
    with pytest.raises(ProviderRefused, match="no business node/12 any more"):
        await osm.details("node/12", InMemoryCallBudget())
    with pytest.raises(ProviderRefused, match="looks like node/123"):
        await osm.details("ChIJ123", InMemoryCallBudget())


async def test_the_estimate_is_nothing(osm: OpenStreetMap, server: ScriptedServer) -> None:
    estimate = await osm.estimate(PlaceQuery("dentists", Where.of("Helsinki")))
    assert (estimate.calls, estimate.cents) == (2, 0)
    assert server.requests == []


# -- manners -----------------------------------------------------------------------------------------------------------


async def test_the_same_query_is_sent_once(osm: OpenStreetMap, server: ScriptedServer) -> None:
    first, second = await found(osm), await found(osm)
    assert [place.provider_id for place in first] == [place.provider_id for place in second] == ["node/11", "way/12"]
    assert len(server.requests) == 2


async def test_requests_to_nominatim_have_a_delay_between_them(server: ScriptedServer, client: ClientSource) -> None:
    server.replies["/search"] = [Reply([HELSINKI])]
    nominatim = Nominatim(api_at(client, server.url), throttle(0.2))
    await asyncio.gather(*(nominatim.candidates(name) for name in ("Turku", "Oulu", "Pori")))
    times = [one.at for one in server.requests]
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.2


async def test_overpass_gets_one_query_at_a_time(server: ScriptedServer, client: ClientSource) -> None:
    at_once, most = 0, 0

    async def slow(_: ReceivedRequest) -> Reply:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.05)
        at_once -= 1
        return overpass_answer()

    server.replies["/api/interpreter"] = slow
    overpass = Overpass(api_at(client, f"{server.url}/api"), throttle())
    await asyncio.gather(*(overpass.elements(f"node({number});out;") for number in range(4)))
    assert (most, len(server.requests)) == (1, 4)


async def test_limits_shared_by_all_workers_are_waited_for(server: ScriptedServer, client: ClientSource) -> None:
    server.replies["/search"] = [Reply([HELSINKI])]
    pause = timedelta(seconds=0.3)
    shared = InProcessHostLimits(HostPolicy(slots=1, delay=pause))
    throttles = [Throttle("N", server.url, delay=pause, limits=lambda _: shared) for _ in "ab"]
    workers = [Nominatim(api_at(client, server.url), throttle) for throttle in throttles]
    await asyncio.gather(*(worker.candidates("Turku") for worker in workers))
    assert server.requests[1].at - server.requests[0].at >= 0.29


# -- refusals and troubles ---------------------------------------------------------------------------------------------


async def test_an_unknown_place_is_named(osm: OpenStreetMap, server: ScriptedServer) -> None:
    server.replies["/search"] = [Reply([])]
    with pytest.raises(ProviderRefused, match="No place named 'Atlantis' is known"):
        await found(osm, "dentists", where=Where.of("Atlantis"))


async def test_a_search_without_an_area_is_refused_with_an_example(osm: OpenStreetMap, server: ScriptedServer) -> None:
    with pytest.raises(ProviderRefused, match="dentists in Helsinki"):
        await found(osm, "dentists")
    assert server.requests == []


@pytest.mark.parametrize("status", [403, 429, 200])
async def test_an_html_page_of_nominatim_names_the_policy(
    osm: OpenStreetMap, server: ScriptedServer, status: int
) -> None:
    server.replies["/search"] = [Reply(PAGE, status, "text/html")]
    with pytest.raises(ProviderRefused, match=r"operations\.osmfoundation\.org/policies/nominatim") as refused:
        await found(osm)
    assert "CRAWL_CONTACT_URL" in str(refused.value)


async def test_an_html_page_of_overpass_names_its_rules(osm: OpenStreetMap, server: ScriptedServer) -> None:
    server.replies["/api/interpreter"] = [Reply(PAGE, 403, "text/html")]
    with pytest.raises(ProviderRefused, match="PROVIDER_OVERPASS_URL"):
        await found(osm)


@pytest.mark.parametrize(
    ("status_page", "seconds"),
    [
        ("Rate limit: 2\nSlot available after: 2026-11-15T12:46:05Z, in 20 seconds.\n", 21),
        (
            "Rate limit: 2\nSlot available after: 2026-11-15T12:46:05Z, in 90 seconds.\n"
            "Slot available after: 2026-11-15T12:46:05Z, in 40 seconds.\n",
            41,
        ),
        ("Rate limit: 2\n1 slots available now.\nSlot available after: 2026-11-15T12:46:05Z, in 20 seconds.\n", 5),
        ("Slot available after: 2026-11-15T12:46:05Z, in -3 seconds.\n", 5),
        ("Slot available after: 2026-11-15T12:46:05Z, in 99999 seconds.\n", 600),
        ("what?", 60),
    ],
)
@pytest.mark.parametrize("status", [429, 504])
async def test_a_busy_overpass_is_retried_when_it_has_a_slot(
    osm: OpenStreetMap, server: ScriptedServer, status: int, status_page: str, seconds: int
) -> None:
    server.replies["/api/interpreter"] = [Reply(RATE_LIMITED.body, status, "text/html")]
    server.replies["/api/status"] = [Reply(status_page, 200, "text/plain")]
    with pytest.raises(ProviderBusy, match=str(status)) as busy:
        await found(osm)
    assert busy.value.after == timedelta(seconds=seconds)


async def test_a_remark_is_a_failure_and_is_not_cached(osm: OpenStreetMap, server: ScriptedServer) -> None:
    remark = 'runtime error: Query timed out in "query" at line 4 after 60 seconds.'
    failed = overpass_answer(SMILE, remark=remark)
    server.replies["/api/interpreter"] = [failed, failed, failed, overpass_answer(WAY)]
    with pytest.raises(ProviderFailed, match="Query timed out"):
        await found(osm)
    assert [place.name for place in await found(osm)] == ["Suu"]


async def test_an_area_that_is_too_much_for_the_server_is_divided(osm: OpenStreetMap, server: ScriptedServer) -> None:
    too_large = overpass_answer(remark='runtime error: Query run out of memory in "query" at line 4.')
    server.replies["/api/interpreter"] = [too_large, overpass_answer(SMILE), overpass_answer(SMILE, WAY)]
    assert [place.name for place in await found(osm)] == ["Hymy", "Suu"]
    assert server.paths().count("/api/interpreter") == 5


async def test_a_query_that_overpass_does_not_accept_is_reported(osm: OpenStreetMap, server: ScriptedServer) -> None:
    body = '<p><strong style="color:#FF0000">Error</strong>: line 2: parse error: Unknown type "x" </p>'
    server.replies["/api/interpreter"] = [Reply(body, 400, "text/html")]
    with pytest.raises(ProviderRefused, match="line 2: parse error"):
        await found(osm)


@pytest.mark.parametrize(
    ("path", "reply", "outcome"),
    [
        ("/search", Reply("oops", 500, "text/plain"), ProviderBusy),
        ("/search", Reply({"error": {"code": 429, "message": "slow down"}}, 429), ProviderBusy),
        ("/search", Reply({"error": {"code": 400, "message": "Parameter 'q' is bad"}}, 400), ProviderRefused),
        ("/search", Reply("{{{{", 200), ProviderFailed),
        ("/api/interpreter", Reply("oops", 500, "text/plain"), ProviderFailed),
        ("/api/interpreter", Reply("{{{{", 200), ProviderFailed),
    ],
)
async def test_every_other_response_is_reported(
    osm: OpenStreetMap, server: ScriptedServer, path: str, reply: Reply, outcome: type[Exception]
) -> None:
    server.replies[path] = [reply]
    with pytest.raises(outcome):
        await found(osm)


async def test_an_unavailable_provider_is_retried(client: ClientSource, server: ScriptedServer) -> None:
    nominatim = Nominatim(api_at(client, server.url, "Nominatim"), throttle())
    await server.stop()
    with pytest.raises(ProviderFailed, match=r"Nominatim does not answer: 127\.0\.0\.1 cannot be reached"):
        await nominatim.candidates("Helsinki")


async def test_a_provider_that_never_responds_times_out(client: ClientSource, server: ScriptedServer) -> None:
    async def never(_: ReceivedRequest) -> Reply:
        await asyncio.sleep(1)
        return Reply([])

    server.replies["/search"] = never
    with pytest.raises(ProviderFailed, match="longer than"):
        await Nominatim(api_at(client, server.url, "Nominatim", seconds=0.2), throttle()).candidates("Helsinki")


async def test_a_private_address_is_requested_only_if_it_is_allowed(client: ClientSource) -> None:
    with pytest.raises(ProviderRefused, match="CRAWL_ALLOWED_PRIVATE_NETWORKS"):
        await Nominatim(api_at(client, "http://10.0.0.7", "Nominatim"), throttle()).candidates("Helsinki")


async def test_a_redirect_is_not_a_response(osm: OpenStreetMap, server: ScriptedServer) -> None:
    server.replies["/search"] = [Reply("", 302, "text/plain", {"Location": f"{server.url}/elsewhere"})]
    with pytest.raises(ProviderFailed, match="302"):
        await found(osm)
    assert server.paths() == ["/search"]


@pytest.mark.parametrize(
    "place",
    [
        {"osm_type": "node"},
        {**HELSINKI, "boundingbox": ["x", "y", "z", "w"]},
        {**HELSINKI, "boundingbox": ["60", "59", "24", "25"]},
        {**HELSINKI, "osm_id": "many"},
    ],
)
async def test_an_invalid_place_is_left_out(osm: OpenStreetMap, server: ScriptedServer, place: dict[str, Any]) -> None:
    server.replies["/search"] = [Reply([place])]
    with pytest.raises(ProviderRefused, match="No place named"):
        await found(osm)
