"""Answers of providers: told to one worker, known to all, after restarts too, for a time and within bounds."""

from datetime import timedelta
from typing import Any

import pytest
from tests.factories.http_server import Reply, ScriptedServer
from tests.providers.conftest import api_at

from scrapersky.core.database import Database
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from scrapersky.engine.maintenance import run_periodic
from scrapersky.maintenance.prune import PruneResponseCache
from scrapersky.providers.http_api import ClientSource
from scrapersky.providers.osm.nominatim import Nominatim
from scrapersky.providers.osm.overpass import Overpass
from scrapersky.providers.response_cache import InMemoryResponseCache, ResponseCache
from scrapersky.providers.throttle import Throttle
from scrapersky.store.shared import response_cache
from scrapersky.store.shared.response_cache import StoredResponseCache

HOUR = timedelta(hours=1)
HELSINKI = {"osm_type": "relation", "osm_id": 34914, "category": "boundary", "boundingbox": ["59", "60", "24", "25"]}


@pytest.fixture
async def osm():
    async with ScriptedServer() as osm:
        yield osm


@pytest.fixture
async def client(osm):
    async with Client(
        SsrfGuard(allowance=Allowance([f"127.0.0.1:{osm.port}"])), user_agent="scrapersky/test"
    ) as client:

        async def source():
            return client

        yield source


@pytest.fixture
async def other_host(database_url, settings):
    host = Database(database_url, settings)
    yield host
    await host.close()


async def asked_by(answers: ResponseCache, client: ClientSource, osm: ScriptedServer) -> None:
    await Nominatim(api_at(client, osm.url), Throttle("N", osm.url), answers).candidates("Helsinki")
    await Overpass(api_at(client, f"{osm.url}/api"), Throttle("O", osm.url), answers).elements("node(1);out;")


async def test_what_one_process_asked_the_next_does_not_ask_again(database, other_host, osm, client):
    osm.replies["/search"] = [Reply([HELSINKI])]
    osm.replies["/api/interpreter"] = [Reply({"elements": [{"type": "node", "id": 1}]})]
    await asked_by(StoredResponseCache(database), client, osm)
    await asked_by(StoredResponseCache(other_host), client, osm)
    assert osm.paths() == ["/search", "/api/interpreter"]


async def test_another_server_is_asked_itself(database, osm, client):
    osm.replies["/api/interpreter"] = osm.replies["/mine/interpreter"] = [Reply({"elements": []})]
    for path in ("/api", "/mine"):
        overpass = Overpass(api_at(client, osm.url + path), Throttle("O", osm.url), StoredResponseCache(database))
        assert await overpass.elements("node(1);out;") == []
    assert osm.paths() == ["/api/interpreter", "/mine/interpreter"]


async def test_an_answer_comes_back_as_it_was(database):
    answers = StoredResponseCache(database)
    odd: list[Any] = [{"name": "a\x00b \ud800 ö 𝄞", "lat": 60.1674881}, None, []]
    await answers.keep("what?\x00\ud800" * 5000, odd, HOUR)
    assert await answers.find("what?\x00\ud800" * 5000) == odd
    assert await answers.find("what?") is None


async def test_an_old_answer_is_none_and_is_removed(database, admin):
    answers = StoredResponseCache(database)
    await answers.keep("old", [1], timedelta(0))
    await answers.keep("young", [2], HOUR)
    assert await answers.find("old") is None
    assert await run_periodic(PruneResponseCache(), database)
    assert await admin.fetchval("SELECT count(*) FROM provider_response") == 1
    assert (
        await admin.fetchval("SELECT result FROM maintenance WHERE name = 'prune_response_cache'")
        == "deleted 1 responses"
    )
    assert await answers.find("young") == [2]


async def test_an_answer_is_renewed(database):
    answers = StoredResponseCache(database)
    await answers.keep("what?", [1], timedelta(0))
    await answers.keep("what?", [2], HOUR)
    assert await answers.find("what?") == [2]


async def test_the_oldest_make_room_and_a_giant_is_not_kept(database, admin, monkeypatch):
    answers = StoredResponseCache(database, max_bytes=250)
    for number in range(5):
        await answers.keep(str(number), "x" * 98, HOUR + timedelta(minutes=number))
    assert [await answers.find(str(number)) is not None for number in range(5)] == [False, False, False, True, True]
    monkeypatch.setattr(response_cache, "MAX_RESPONSE_BYTES", 99)
    await answers.keep("giant", "x" * 98, HOUR)
    assert await answers.find("giant") is None
    assert await admin.fetchval("SELECT sum(size_bytes) FROM provider_response") == 200


async def test_no_tenant_reads_what_others_looked_for(admin):
    can = "SELECT has_table_privilege('scrapersky_app', 'provider_response', 'SELECT, INSERT, UPDATE, DELETE')"
    assert await admin.fetchval(can) is False


async def test_a_lone_process_keeps_them_alike():
    now = 0.0
    answers = InMemoryResponseCache(max_responses=2, now=lambda: now)
    assert await answers.find("a") is None
    for question in "abc":
        await answers.keep(question, [question], HOUR)
    assert [await answers.find(question) for question in "abc"] == [None, ["b"], ["c"]]
    now = 3600.0
    assert await answers.find("c") is None
