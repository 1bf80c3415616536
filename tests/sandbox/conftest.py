"""A sandbox to visit, and the ordinary guarded crawler to visit it with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from scrapersky.crawl.crawler import Crawler, open_crawler
from scrapersky.sandbox.sandbox import Sandbox
from tests.factories.settings import sandbox_settings

SEED = 7


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(SEED) as sandbox:
        yield sandbox


@asynccontextmanager
async def crawling(sandbox: Sandbox) -> AsyncIterator[Crawler]:
    """The crawler as an installation has it, told only where the sandbox is."""
    settings = sandbox_settings(sandbox, CRAWL_HOST_DELAY_SECONDS=0)
    async with open_crawler(settings) as crawler:
        yield crawler


@pytest.fixture
async def crawler(sandbox: Sandbox) -> AsyncIterator[Crawler]:
    async with crawling(sandbox) as crawler:
        yield crawler
