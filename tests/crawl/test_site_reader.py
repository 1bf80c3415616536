"""What a site shows about its owner: a hostile site is not a site, and the country of the asker decides its numbers."""

import pytest

from scrapersky.core.settings import Settings
from scrapersky.crawl import site_reader
from scrapersky.crawl.site_reader import NoSite, ReadSite, SiteReader
from scrapersky.crawl.web import Web
from tests.factories import hostile_readers
from tests.hostile.odd_web import OddWeb, Visitor


async def home(visitor: Visitor) -> None:
    await visitor.answer(b"<html><title>Kallio</title><p>Tel. 040 512 8834</p></html>", Content_Type="text/html")


@pytest.fixture
async def reader():
    async with OddWeb(routes={"/": home}) as site:
        given = {
            "CRAWL_ALLOWED_PRIVATE_NETWORKS": site.place,
            "CRAWL_HOST_OVERRIDES": f"kallio.fi={site.place}",
            "CRAWL_HOST_DELAY_SECONDS": "0",
            "CRAWL_PARSER_PROCESSES": "1",
        }
        web = Web(Settings.model_validate(given))
        yield SiteReader(web)
        await web.close()


async def test_a_page_that_no_parser_can_read_is_no_site(reader, monkeypatch):
    monkeypatch.setattr(site_reader, "read_site_facts", hostile_readers.abort)
    answer = await reader.read("kallio.fi", "FI")
    assert isinstance(answer, NoSite)
    assert "crashed the parser" in answer.reason


async def test_numbers_are_read_for_the_country_of_each_asker(reader):
    answers = [await reader.read("kallio.fi", region) for region in ("FI", "SE", "FI")]
    assert all(isinstance(answer, ReadSite) for answer in answers)
    found = [sorted(answer.facts.phones) for answer in answers if isinstance(answer, ReadSite)]
    assert found == [["+358405128834"], ["+46405128834"], ["+358405128834"]]
