"""The sandbox as a whole: its addresses, its own room, its process, and an installation that lives in it."""

import asyncio
import json
import sys

import aiohttp
import pytest

from scrapersky.crawl.web import Web
from scrapersky.providers.base import Meter, PlaceQuery, ProviderBusy
from scrapersky.providers.registry import configured_providers
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.server.fault_injection import UnknownFault
from tests.factories.settings import sandbox_settings


async def test_the_truth_and_the_traffic_are_served_too(sandbox: Sandbox):
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{sandbox.url}/truth") as answer:
            truth = await answer.json()
        async with session.get(f"{sandbox.url}/traffic") as answer:
            traffic = await answer.json()
        async with session.get(f"{sandbox.url}/no-such-room") as answer:
            assert answer.status == 404

    assert truth == json.loads(json.dumps(sandbox.truth()))
    assert traffic["127.0.0.1"]["requests"] == 2


async def test_errors_are_ordered_over_http(sandbox: Sandbox):
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{sandbox.url}/fault?provider=overpass&kind=busy&times=1") as answer:
            assert answer.status == 200
        async with session.post(f"{sandbox.overpass_url}/interpreter", data={"data": "[out:json];out;"}) as answer:
            assert answer.status == 504
        async with session.post(f"{sandbox.url}/fault?provider=overpass&kind=nonsense") as answer:
            assert answer.status == 400
            assert "rate_limited" in (await answer.json())["error"]
        async with session.post(f"{sandbox.url}/fault?provider=nobody") as answer:
            assert answer.status == 400


def test_an_error_nobody_knows_is_refused():
    with pytest.raises(UnknownFault, match="per_minute"):
        Sandbox(7).google.fail("nonsense")


async def test_it_runs_as_a_program_and_stops_when_told():
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scrapersky.sandbox", "--seed", "3", "--businesses", "50"),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        addresses = json.loads(await process.stdout.readline())
        async with aiohttp.ClientSession() as session, session.get(addresses["truth_url"]) as answer:
            truth = await answer.json()
    finally:
        process.terminate()
        code = await process.wait()

    assert len(truth) == addresses["businesses"] == 50
    assert addresses["environment"]["CRAWL_HOST_OVERRIDES"].startswith("*:443=127.0.0.1:")
    assert code == 0


@pytest.mark.parametrize("provider", ["openstreetmap", "google_places"])
async def test_the_real_providers_find_the_dentists_of_helsinki(provider: str):
    async with Sandbox(7, 500) as sandbox:
        settings = sandbox_settings(sandbox)
        web = Web(settings)
        try:
            adapter = configured_providers(settings, web)[provider]
            found = [
                place async for page in adapter.search(PlaceQuery("dentists in Helsinki"), Meter()) for place in page
            ]
        finally:
            await web.close()
        true = [one for one in sandbox.world if one.city.name == "Helsinki" and one.trade.name == "dentist"]

    open_ones = [place for place in found if place.business_status != "CLOSED_PERMANENTLY"]
    assert len(true) > 60
    assert len(open_ones) == len([one for one in true if not one.closed])
    assert {place.website for place in open_ones} == {one.website for one in true if not one.closed}


async def test_a_busy_provider_is_told_as_busy():
    async with Sandbox(7) as sandbox:
        settings = sandbox_settings(sandbox)
        web = Web(settings)
        sandbox.overpass.fail("busy")
        try:
            adapter = configured_providers(settings, web)["openstreetmap"]
            with pytest.raises(ProviderBusy):
                async for _ in adapter.search(PlaceQuery("dentists in Helsinki"), Meter()):
                    pass
        finally:
            await web.close()
