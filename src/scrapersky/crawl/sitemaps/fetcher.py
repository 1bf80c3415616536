"""How a search for sitemaps fetches: through a visit, within robots.txt and the limits of the host."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from scrapersky.crawl.errors import PageNotFound
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.crawl.sitemaps.hints import join, robots_sitemaps
from scrapersky.crawl.sitemaps.read import ReadLimits

STREAM_SECONDS = 120.0
ROBOTS_BYTES = 512_000


class SitemapResponse(Protocol):
    """A response: its URL after redirects, and its body piece by piece."""

    @property
    def final_url(self) -> str: ...
    def __aiter__(self) -> AsyncIterator[bytes]: ...


class SitemapFetcher(Protocol):
    """What a search needs to fetch; both methods raise FetchError."""

    def stream(self, url: str) -> AbstractAsyncContextManager[SitemapResponse]: ...
    async def robots_sitemaps(self, url: str) -> Sequence[str]: ...


class VisitFetcher:
    """Fetches through one visit; what robots.txt or the limits of the host forbid is not requested."""

    def __init__(self, visit: Visit, limits: ReadLimits | None = None, *, seconds: float = STREAM_SECONDS) -> None:
        self._visit = visit
        self._max_bytes = (limits or ReadLimits()).max_bytes
        self._seconds = seconds

    @asynccontextmanager
    async def stream(self, url: str) -> AsyncIterator[SitemapResponse]:
        """Open the response at this URL, with limits for a sitemap."""
        async with self._visit.stream(url, max_bytes=self._max_bytes, seconds=self._seconds) as response:
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
        return robots_sitemaps(page.body.decode("utf-8", "replace"))
