"""The web as a search for sitemaps sees it: through a visit, with good manners."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from scrapersky.crawl.errors import Gone
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.crawl.sitemaps.hints import join, robots_sitemaps
from scrapersky.crawl.sitemaps.read import ReadLimits
from scrapersky.crawl.sitemaps.result import SitemapResponse

STREAM_SECONDS = 120.0
ROBOTS_BYTES = 512_000


class VisitingWeb:
    """Asks through one visit; what robots.txt forbids and what the host's limits do not allow is not asked."""

    def __init__(self, visit: Visit, limits: ReadLimits | None = None, *, seconds: float = STREAM_SECONDS) -> None:
        self._visit = visit
        self._max_bytes = (limits or ReadLimits()).max_bytes
        self._seconds = seconds

    @asynccontextmanager
    async def stream(self, url: str) -> AsyncIterator[SitemapResponse]:
        """The body at this address, long enough for a sitemap."""
        async with self._visit.stream(url, max_bytes=self._max_bytes, seconds=self._seconds) as answer:
            yield answer

    async def robots_sitemaps(self, url: str) -> Sequence[str]:
        """The Sitemap lines, also where robots.txt is not honoured."""
        rules = await self._visit.rules(url)
        if rules is not None:
            if rules.trouble is not None:
                raise rules.trouble
            return rules.sitemaps
        try:
            page = await self._visit.fetch(join(url, "/robots.txt") or url, max_bytes=ROBOTS_BYTES)
        except Gone as gone:
            if gone.status is None:
                raise
            return []
        return robots_sitemaps(page.body.decode("utf-8", "replace"))
