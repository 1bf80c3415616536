"""Turns at OpenStreetMap's servers: all workers are one, whatever the settings of the crawler say."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest
from tests.conftest import make_settings
from tests.factories.http_server import ReceivedRequest, Reply, ScriptedServer

from scrapersky.core.database import Database
from scrapersky.crawl.politeness.host_limits import Permit
from scrapersky.crawl.web import Web
from scrapersky.providers.base import Meter, PlaceQuery, ProviderBusy, ProviderFailed
from scrapersky.providers.registry import configured_providers
from scrapersky.providers.throttle import Throttle
from scrapersky.store.shared.host_limits import SharedHostLimits

PAUSE = 0.3
TOWN = {"osm_type": "relation", "osm_id": 1, "boundingbox": ["60.16", "60.18", "24.93", "24.96"]}


@pytest.fixture
async def osm():
    async with ScriptedServer() as osm:
        osm.replies["/search"] = [Reply([TOWN])]
        yield osm


@pytest.fixture
async def workers(database_url, osm):
    """Two workers, each with a pool of its own, whose crawlers may do as they like."""
    settings = make_settings(
        database_url,
        CRAWL_MAX_CONCURRENCY_PER_HOST="20",
        CRAWL_HOST_DELAY_SECONDS="0",
        CRAWL_PARSER_PROCESSES="1",
        CRAWL_ALLOWED_PRIVATE_NETWORKS=f"127.0.0.1:{osm.port}",
        PROVIDER_NOMINATIM_URL=osm.url,
        PROVIDER_NOMINATIM_DELAY_SECONDS=str(PAUSE),
        PROVIDER_OVERPASS_URL=f"{osm.url}/api",
    )
    databases, webs = [Database(database_url, settings) for _ in "ab"], [Web(settings) for _ in "ab"]

    def provider(database: Database, web: Web):
        built = configured_providers(settings, web, lambda policy: SharedHostLimits(database, settings, policy))
        return built["openstreetmap"]

    yield [provider(database, web) for database, web in zip(databases, webs, strict=True)]
    for web in webs:
        await web.close()
    for database in databases:
        await database.close()


async def search(provider, text: str) -> None:
    async for _ in provider.search(PlaceQuery(text), Meter()):
        pass


async def test_overpass_gets_one_question_at_a_time_and_nominatim_its_pause(osm, workers):
    at_once, most = 0, 0

    async def slow(_: ReceivedRequest) -> Reply:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.05)
        at_once -= 1
        return Reply({"elements": []})

    osm.replies["/api/interpreter"] = slow
    mine, others = workers
    wishes = [
        (worker, f"{kind} in {town}")
        for kind in ("dentists", "cafes")
        for worker, town in ((mine, "Turku"), (others, "Oulu"), (mine, "Pori"))
    ]
    await asyncio.gather(*(search(worker, wish) for worker, wish in wishes))
    assert most == 1
    times = [one.at for one in osm.requests if one.path == "/search"]
    assert len(times) == 3, "who waited for a turn looks first whether the answer has come meanwhile"
    assert min(later - earlier for earlier, later in pairwise(times)) >= PAUSE


async def test_whoever_waits_too_long_for_a_turn_is_sent_away_and_the_turn_comes_back(database, settings):
    def limits(policy):
        return SharedHostLimits(database, settings, policy)

    slow, other = (
        Throttle("Overpass", "http://x.example", limits=limits, max_wait=timedelta(seconds=s)) for s in (9, 0.2)
    )
    async with slow.permit():
        with pytest.raises(ProviderBusy, match="Overpass is busy with other requests of ours"):
            async with other.permit():
                pass
    async with other.permit():
        pass


async def test_a_turn_ends_also_when_its_question_fails_and_is_no_visit_of_the_crawlers(database, settings):
    throttle = Throttle("N", "http://x.example", limits=lambda policy: SharedHostLimits(database, settings, policy))

    async def fail() -> None:
        async with throttle.permit():
            assert isinstance(await SharedHostLimits(database, settings).acquire("x.example"), Permit)
            raise ProviderFailed("It went wrong.")

    with pytest.raises(ProviderFailed):
        await fail()
    async with throttle.permit():
        pass
