"""How a search for sitemaps fetches: through a visit, within robots.txt and the limits of the host."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from scrapersky.crawl.errors import FetchError, PageNotFound
from scrapersky.crawl.http.response_stream import ResponseStream
from scrapersky.crawl.page import FetchedPage
from scrapersky.crawl.politeness.robots import ROBOTS_BYTES
from scrapersky.crawl.politeness.robots_file import read_robots
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.crawl.sitemaps.hints import join
from scrapersky.crawl.sitemaps.read import ReadLimits

STREAM_SECONDS = 120.0
KEPT_BYTES = 262_144  # a longer sitemap is not kept: it is fetched again when it is imported
PIECE_BYTES = 65_536
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
    """Fetches through one visit; what robots.txt or the limits of the host forbid is not requested.

    With `keeps` a sitemap is read whole and kept, so that its import needs no request.
    """

    def __init__(self, visit: Visit, *, keeps: bool = False) -> None:
        self.limits = ReadLimits(max_bytes=visit.stream_bytes)
        self._visit = visit
        self._keeps = keeps

    @asynccontextmanager
    async def stream(self, url: str) -> AsyncIterator[SitemapResponse]:
        """Open the response at this URL; a body beyond the limit of the reader is cut off, not refused."""
        kept = await self._visit.find_kept(url)
        if kept is not None:
            yield _KeptResponse(kept)
            return
        max_bytes = self.limits.max_bytes + SLACK_BYTES
        async with self._visit.stream(url, max_bytes=max_bytes, truncate=True, seconds=STREAM_SECONDS) as response:
            yield await self._read_ahead(url, response) if self._keeps else response

    async def _read_ahead(self, url: str, response: ResponseStream) -> "_ReadAhead":
        """Read the body, or the beginning of a long one; keep it if it is whole."""
        ahead = _ReadAhead(response)
        await ahead.read(KEPT_BYTES)
        if ahead.is_whole:
            body = b"".join(ahead.pieces)
            page = FetchedPage(**vars(response.head), body=body, seconds=0.0, raw_bytes=response.raw_bytes)
            await self._visit.keep(url, page)
        return ahead

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


class _KeptResponse:
    """A response out of the cache."""

    def __init__(self, page: FetchedPage) -> None:
        self.final_url = page.final_url
        self._body = page.body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._body), PIECE_BYTES):
            yield self._body[start : start + PIECE_BYTES]


class _ReadAhead:
    """A response whose beginning has been read; an error of the reading is raised where the beginning ends."""

    def __init__(self, response: ResponseStream) -> None:
        self.final_url = response.final_url
        self.pieces: list[bytes] = []
        self.is_whole = False
        self._rest = aiter(response)
        self._error: FetchError | None = None

    async def read(self, max_bytes: int) -> None:
        """Read up to about so many bytes."""
        size = 0
        try:
            while size <= max_bytes:
                piece = await anext(self._rest)
                self.pieces.append(piece)
                size += len(piece)
        except StopAsyncIteration:
            self.is_whole = True
        except FetchError as error:
            self._error = error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        if self._error is not None:
            raise self._error
        if not self.is_whole:
            async for piece in self._rest:
                yield piece
