"""The web for a command that has time: when a host wants a moment between visits, it waits for it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from scrapersky.crawl.crawler import Crawler
from scrapersky.crawl.errors import RetryLater
from scrapersky.crawl.sitemaps.fetcher import SitemapResponse, VisitFetcher
from scrapersky.crawl.sitemaps.read import ReadLimits

MAX_WAIT = timedelta(seconds=30)
MAX_WAITS = 20


class PatientWeb:
    """Every request is a visit of its own, made as soon as the host's limits allow it."""

    def __init__(self, crawler: Crawler, limits: ReadLimits) -> None:
        self._crawler = crawler
        self._limits = limits

    @asynccontextmanager
    async def stream(self, url: str) -> AsyncIterator[SitemapResponse]:
        """The body at this address, after waiting for the host's turn."""
        async with AsyncExitStack() as stack:
            for waits in range(MAX_WAITS):
                try:
                    answer = await stack.enter_async_context(self._visit_once(url))
                    break
                except RetryLater as later:
                    await _wait(later, waits)
            yield answer

    async def robots_sitemaps(self, url: str) -> Sequence[str]:
        """The Sitemap lines of robots.txt, after waiting for the host's turn."""
        waits = 0
        while True:
            try:
                async with self._crawler.visit() as visit:
                    return await VisitFetcher(visit, self._limits).robots_sitemaps(url)
            except RetryLater as later:
                await _wait(later, waits)
                waits += 1

    @asynccontextmanager
    async def _visit_once(self, url: str) -> AsyncIterator[SitemapResponse]:
        async with self._crawler.visit() as visit, VisitFetcher(visit, self._limits).stream(url) as answer:
            yield answer


async def _wait(later: RetryLater, waits: int) -> None:
    """Wait for a host's turn; raise what cannot be waited for: the site's own refusal, or too long."""
    if later.status is not None or later.after is None or later.after > MAX_WAIT or waits + 1 >= MAX_WAITS:
        raise later
    await asyncio.sleep(later.after.total_seconds())
