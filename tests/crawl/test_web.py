"""The parsers of a process: started early by a caller that knows that pages will be read."""

import asyncio

import pytest
from structlog.testing import capture_logs

from scrapersky.crawl.web import Web
from scrapersky.extract.parser_pool import child
from scrapersky.extract.parser_pool.pool import ParserCannotStart
from scrapersky.extract.readers import read_metadata
from tests.conftest import make_settings

HOME = "<html><title>Ada's bakery</title></html>"


async def test_an_early_start_is_the_start_of_the_first_page():
    web = Web(make_settings("postgresql://unused/", CRAWL_PARSER_PROCESSES="2"))
    web.start_parsers()
    web.start_parsers()
    try:
        found = await web.read(read_metadata, HOME, "http://bakery.example/")
        assert (found.title, web._parsers.counts.started) == ("Ada's bakery", 1)
    finally:
        await web.close()


async def test_closing_ends_a_start_that_has_not_ended():
    web = Web(make_settings("postgresql://unused/"))
    web.start_parsers()
    async with asyncio.timeout(60):
        while not web._parsers.process_ids:
            await asyncio.sleep(0)
        await web.close()
    assert web._parsers.process_ids == []


async def test_an_early_start_that_fails_is_logged_and_raised_for_the_first_page(tmp_path, monkeypatch):
    broken = tmp_path / "child.py"
    broken.write_text("raise SystemExit(3)")
    monkeypatch.setattr(child, "__file__", str(broken))
    web = Web(make_settings("postgresql://unused/"))
    with capture_logs() as logged:
        web.start_parsers()
        assert web._early_start is not None
        await asyncio.wait([web._early_start])
        with pytest.raises(ParserCannotStart, match="exit code 3"):
            await web.read(read_metadata, HOME, "http://bakery.example/")
    await web.close()
    assert [entry["event"] for entry in logged] == ["parser_start_failed"]
