"""The entries of a sitemap from a file, from standard input, or from the web."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

from scrapersky.cli.printing.sitemap import Output
from scrapersky.core.errors import BadRequest
from scrapersky.core.settings import Settings
from scrapersky.crawl.crawler import Crawler, open_crawler
from scrapersky.crawl.errors import RetryLater
from scrapersky.crawl.sitemaps.discover import discover
from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.fetcher import SitemapResponse, VisitFetcher
from scrapersky.crawl.sitemaps.read import ReadLimits, SitemapReader
from scrapersky.crawl.sitemaps.result import FoundBy, FoundSitemap, Miss, MissKind, SearchLimits, SitemapSearch

PROGRESS_SECONDS = 0.5
CHUNK_BYTES = 65_536
MAX_WAIT = timedelta(seconds=30)
MAX_WAITS = 20


class UnreadableSitemap(BadRequest):
    """The file cannot be read."""


async def search_web(settings: Settings, url: str, limits: SearchLimits, output: Output) -> SitemapSearch:
    """Find and print the sitemaps of a site."""
    async with open_crawler(settings) as crawler:
        progress = asyncio.create_task(_show_progress(output))
        try:
            return await discover(url, WaitingFetcher(crawler), limits, output.take)
        finally:
            progress.cancel()


def read_file(name: str, base: str | None, output: Output) -> SitemapSearch:
    """Print the entries of a file, or of standard input if the name is `-`. Raises UnreadableSitemap."""
    reader = SitemapReader(base)
    is_complete = all(output.take(name, batch) for batch in _batches(name, reader))
    report, search = reader.report, SitemapSearch(name)
    if reader.kind is SitemapKind.NONE:
        kind = MissKind.FAILED if report.partial else MissKind.NONE
        search.misses.append(Miss(name, FoundBy.GIVEN, kind, report.why_none_sentence))
    else:
        search.sitemaps.append(
            FoundSitemap(
                name,
                name,
                reader.kind,
                FoundBy.GIVEN,
                entries=report.entries if is_complete else None,
                skipped=dict(report.skipped),
                partial=report.partial if is_complete else None,
            )
        )
    return search


class WaitingFetcher:
    """Fetches sitemaps, one visit per request, and waits when the limits of the host require it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.limits = ReadLimits(max_bytes=crawler.client.limits.stream_bytes)

    @asynccontextmanager
    async def stream(self, url: str) -> AsyncIterator[SitemapResponse]:
        """Open the body at this URL."""
        async with AsyncExitStack() as stack:
            for waits in range(MAX_WAITS):
                try:
                    response = await stack.enter_async_context(self._visit_once(url))
                    break
                except RetryLater as later:
                    await _wait(later, waits)
            yield response

    async def robots_sitemaps(self, url: str) -> Sequence[str]:
        """Return the Sitemap lines of robots.txt."""
        waits = 0
        while True:
            try:
                async with self._crawler.visit() as visit:
                    return await VisitFetcher(visit).robots_sitemaps(url)
            except RetryLater as later:
                await _wait(later, waits)
                waits += 1

    @asynccontextmanager
    async def _visit_once(self, url: str) -> AsyncIterator[SitemapResponse]:
        async with self._crawler.visit() as visit, VisitFetcher(visit).stream(url) as response:
            yield response


async def _wait(later: RetryLater, waits: int) -> None:
    """Wait as long as the host limits require. Raises the error if the site itself refused, or if it takes too long."""
    if later.status is not None or later.after is None or later.after > MAX_WAIT or waits + 1 >= MAX_WAITS:
        raise later
    await asyncio.sleep(later.after.total_seconds())


async def _show_progress(output: Output) -> None:
    """Update the progress while no entry arrives."""
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        output.show_progress()


def _batches(name: str, reader: SitemapReader) -> Iterator[list[SitemapEntry]]:
    for chunk in _chunks(name):
        yield from reader.feed(chunk)
        if reader.finished:
            break
    yield from reader.close()


def _chunks(name: str) -> Iterator[bytes]:
    if name == "-":
        yield from iter(lambda: sys.stdin.buffer.read(CHUNK_BYTES), b"")
        return
    path = Path(name)
    try:
        if path.is_dir():
            raise UnreadableSitemap(f"{name} is a directory; name a file in it.")
        with path.open("rb") as file:
            yield from iter(lambda: file.read(CHUNK_BYTES), b"")
    except FileNotFoundError:
        cure = "" if name.startswith((".", "/")) else f" If it is an address, write https://{name}."
        raise UnreadableSitemap(f"There is no file {name}.{cure}") from None
    except (OSError, ValueError) as error:
        raise UnreadableSitemap(f"{name}: {getattr(error, 'strerror', None) or error}.") from None
