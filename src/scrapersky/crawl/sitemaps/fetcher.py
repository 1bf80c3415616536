"""How a search for sitemaps fetches: through a visit, within robots.txt and the limits of the host."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from scrapersky.crawl.errors import PageNotFound
from scrapersky.crawl.politeness.robots import ROBOTS_BYTES
from scrapersky.crawl.politeness.robots_file import read_robots
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.crawl.sitemaps.hints import join
from scrapersky.crawl.sitemaps.read import ReadLimits

STREAM_SECONDS = 120.0
SLACK_BYTES = 1_048_576  # the reader reaches its limit, and says so, before the body is cut off


class SitemapResponse(Protocol):
    """A response: its URL after redirects, and its body piece by piece."""

    @property
    def final_url(self) -> str: ...
    def __aiter__(self) -> AsyncIterator[bytes]: ...


class SitemapFetcher(Protocol):
    """What a search needs to fetch; both methods raise FetchError."""

    @property
    def limits(self) -> ReadLimits: ...
    def stream(self, url: str) -> AbstractAsyncContextManager[SitemapResponse]: ...
    async def robots_sitemaps(self, url: str) -> Sequence[str]: ...


class VisitFetcher:
    """Fetches through one visit; what robots.txt or the limits of the host forbid is not requested."""

    def __init__(self, visit: Visit) -> None:
        self.limits = ReadLimits(max_bytes=visit.stream_bytes)
        self._visit = visit

    @asynccontextmanager
    async def stream(self, url: str) -> AsyncIterator[SitemapResponse]:
        """Open the response at this URL; a body beyond the limit of the reader is cut off, not refused."""
        max_bytes = self.limits.max_bytes + SLACK_BYTES
        async with self._visit.stream(url, max_bytes=max_bytes, truncate=True, seconds=STREAM_SECONDS) as response:
            yield response

    async def robots_sitemaps(self, url: str) -> Sequence[str]:
        """Return the Sitemap lines of robots.txt, also if robots.txt is not honoured."""
        rules = await self._visit.rules(url)
        if rules is not None:
            if rules.error is not None:
                raise rules.error
            return rules.sitemaps
        try:
            page = await self._visit.fetch(join(url, "/robots.txt") or url, max_bytes=ROBOTS_BYTES)
        except PageNotFound as missing:
            if missing.status is None:
                raise
            return []
        return read_robots(page.body, "*").sitemaps
