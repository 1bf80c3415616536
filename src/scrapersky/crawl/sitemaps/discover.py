"""Discovers the sitemaps of a site: robots.txt, well-known paths, links of the home page, and children of indexes."""

import asyncio
from bisect import insort
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from urllib.parse import urlsplit

from scrapersky.crawl.errors import (
    BlockedByPolicy,
    FetchError,
    PageNotFound,
    RetryLater,
    TooSoon,
    UnreadableResponse,
    VisitLimitReached,
)
from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.fetcher import SitemapFetcher, SitemapResponse
from scrapersky.crawl.sitemaps.hints import (
    COMMON_PATHS,
    OTHER_PATHS,
    UNLIKELY,
    HtmlLinks,
    html_links,
    join,
    likelihood_rank,
)
from scrapersky.crawl.sitemaps.read import SitemapReader, read_batches
from scrapersky.crawl.sitemaps.result import (
    EntrySink,
    FoundBy,
    Miss,
    MissKind,
    SearchLimits,
    SitemapCandidate,
    SitemapSearch,
)


async def discover(
    url: str, fetcher: SitemapFetcher, limits: SearchLimits | None = None, sink: EntrySink | None = None
) -> SitemapSearch:
    """Search the site at this URL, or begin with the sitemap at it; the result has every URL that was tried.

    With a sink every sitemap is read to its end and its entries are passed to the sink; without one a sitemap is read
    until it is recognised, and an index for its children. The search stops at the first source that has a sitemap.
    """
    search = _Search(url, fetcher, limits or SearchLimits(), sink)
    if urlsplit(url).path.strip("/"):
        found = await search.follow([SitemapCandidate(url, FoundBy.GIVEN)])
        if found or not search.has_response:
            return search.result
    if await search.follow(await search.from_robots()) or search.unreachable:
        return search.result
    if await search.follow_first(search.well_known(COMMON_PATHS)):
        return search.result
    links = await search.from_html()
    if await search.follow([SitemapCandidate(link, FoundBy.HTML) for link in links.sitemaps]):
        return search.result
    if not await search.follow_first(search.well_known(OTHER_PATHS)):
        await search.follow([SitemapCandidate(link, FoundBy.FEED) for link in links.feeds])
    return search.result


class _Search:
    """One search: what was visited, what is queued, what was found."""

    def __init__(self, url: str, fetcher: SitemapFetcher, limits: SearchLimits, sink: EntrySink | None) -> None:
        self.result = SitemapSearch(url)
        self.unreachable = False
        self.has_response = False  # some URL had a body, sitemap or not
        self._site = url
        self._fetcher = fetcher
        self._limits = limits
        self._sink = sink
        self._seen: set[str] = set()
        # Sorted: the likeliest first, and those of one rank in the order in which they were found.
        self._queue: list[tuple[int, int, SitemapCandidate]] = []
        self._unlikely: list[SitemapCandidate] = []  # children of indexes that are opened if there is no other
        self._fetches = 0
        self._is_sink_full = False
        self._too_soon: TooSoon | None = None

    # -- the sources -----------------------------------------------------------------------------------------------

    async def from_robots(self) -> list[SitemapCandidate]:
        """Return the Sitemap lines of robots.txt; without robots.txt to read, the whole site is unreachable."""
        try:
            lines = await self._fetcher.robots_sitemaps(self._site)
        except FetchError as error:
            self.unreachable = True
            self._add_miss(SitemapCandidate(self._site, FoundBy.ROBOTS), error)
            return []
        return self._candidates(lines, FoundBy.ROBOTS)

    def well_known(self, paths: Iterable[str]) -> list[SitemapCandidate]:
        """Return the well-known paths of the site."""
        return self._candidates(paths, FoundBy.WELL_KNOWN)

    async def from_html(self) -> HtmlLinks:
        """Return the links of the home page."""
        home = SitemapCandidate(join(self._site, "/") or self._site, FoundBy.HTML)
        try:
            async with self._fetcher.stream(home.url) as response:
                html = await self._beginning_of(response)
        except FetchError as error:
            self._add_miss(home, error)
            return HtmlLinks([], [])
        return html_links(html.decode("utf-8", "replace"), response.final_url)

    def _candidates(self, references: Iterable[str], found_by: FoundBy) -> list[SitemapCandidate]:
        urls = (join(self._site, reference) for reference in references)
        return [SitemapCandidate(url, found_by) for url in urls if url is not None]

    async def _beginning_of(self, response: SitemapResponse) -> bytes:
        html = b""
        async with aclosing(_pieces(response)) as pieces:
            async for piece in pieces:
                html += piece
                if len(html) >= self._limits.html_bytes:
                    break
        return html[: self._limits.html_bytes]

    # -- visiting --------------------------------------------------------------------------------------------------

    async def follow_first(self, candidates: Iterable[SitemapCandidate]) -> bool:
        """Visit these URLs one after another until one of them is a sitemap; return whether one is."""
        for candidate in candidates:
            if await self.follow([candidate]):
                return True
        return False

    async def follow(self, candidates: Iterable[SitemapCandidate]) -> bool:
        """Visit these URLs and the children of indexes, a few at a time; return whether any sitemap was found."""
        for candidate in candidates:
            self._enqueue(candidate)
        await self._visit_queue()
        if self._unlikely and not any(found.kind is not SitemapKind.INDEX for found in self.result.sitemaps):
            for candidate in self._unlikely:
                self._add_to_queue(candidate)
            self._unlikely.clear()
            await self._visit_queue()
        self.result.sitemaps += [candidate.found(None, candidate.url) for candidate in self._unlikely]
        self._unlikely.clear()
        return bool(self.result.sitemaps)

    async def _visit_queue(self) -> None:
        """Visit the queued URLs, the likeliest first, until none is left or a limit is reached."""
        while self._queue and not self._is_sink_full and self._too_soon is None:
            if self._fetches >= self._limits.max_fetches:
                self._list_unread()
                break
            size = min(self._limits.concurrency, self._limits.max_fetches - self._fetches, len(self._queue))
            group = [candidate for _, _, candidate in self._queue[:size]]
            del self._queue[:size]
            self._fetches += len(group)
            await asyncio.gather(*(self._visit(candidate) for candidate in group))
        self._queue.clear()
        if self._too_soon is not None:
            raise self._too_soon

    def _enqueue(self, candidate: SitemapCandidate) -> None:
        if candidate.url in self._seen:
            return
        if len(self._seen) >= self._limits.max_sitemaps:
            self._limit_reached(f"more than {self._limits.max_sitemaps:,} sitemaps")
            return
        self._seen.add(candidate.url)
        if not self._limits.policy.allows(self._site, candidate.url):
            self._refuse(candidate, "It belongs to another site.")
        elif candidate.depth > self._limits.max_depth:
            self._refuse(candidate, f"It is more than {self._limits.max_depth} indexes deep.")
            self._limit_reached(f"more than {self._limits.max_depth} indexes deep")
        elif self._is_unlikely(candidate):
            self._unlikely.append(candidate)
        else:
            self._add_to_queue(candidate)

    def _is_unlikely(self, candidate: SitemapCandidate) -> bool:
        if self._limits.opens_unlikely or candidate.found_by is not FoundBy.INDEX:
            return False
        return len(self._unlikely) < self._limits.max_listed and likelihood_rank(candidate.url) == UNLIKELY

    def _add_to_queue(self, candidate: SitemapCandidate) -> None:
        insort(self._queue, (likelihood_rank(candidate.url), len(self._seen), candidate), key=lambda each: each[:2])
        if len(self._queue) > self._limits.max_listed:
            self._queue.pop()
            self._limit_reached(f"only {self._limits.max_listed:,} sitemaps are listed")

    async def _visit(self, candidate: SitemapCandidate) -> None:
        try:
            async with self._fetcher.stream(candidate.url) as response:
                if self._is_elsewhere(candidate, response.final_url):
                    return
                reader = SitemapReader(response.final_url, self._fetcher.limits)
                is_whole = await self._read(candidate, response, reader)
        except FetchError as error:
            self._add_miss(candidate, error)
            return
        self._add_result(candidate, response.final_url, reader, is_whole)

    def _is_elsewhere(self, candidate: SitemapCandidate, final_url: str) -> bool:
        """Return whether a redirect led to another site, or to a sitemap that was already visited."""
        if not self._limits.policy.allows(self._site, final_url):
            self._refuse(candidate, f"It redirects to another site: {final_url}")
            return True
        if final_url != candidate.url:
            if final_url in self._seen:
                return True
            self._seen.add(final_url)
        return False

    async def _read(self, candidate: SitemapCandidate, response: SitemapResponse, reader: SitemapReader) -> bool:
        """Read to the end, or until the format is known; return whether it was to the end."""
        try:
            async with aclosing(read_batches(_pieces(response), reader)) as batches:
                async for batch in batches:
                    if not self._take(candidate, response.final_url, reader.kind, batch):
                        return False
        except FetchError as error:
            reader.interrupt(error.reason, may_succeed_later=isinstance(error, RetryLater))
            for batch in reader.close():
                self._take(candidate, response.final_url, reader.kind, batch)
        return True

    def _take(self, candidate: SitemapCandidate, url: str, kind: SitemapKind, batch: list[SitemapEntry]) -> bool:
        """Queue the entries of an index, pass other entries to the sink; return whether to read on."""
        if kind is SitemapKind.INDEX:
            for entry in batch:
                child = join(url, entry.loc)
                if child is not None:
                    depth = candidate.depth + 1
                    self._enqueue(SitemapCandidate(child, FoundBy.INDEX, candidate.url, depth, entry.lastmod_text))
            return len(self._seen) < self._limits.max_sitemaps
        if self._sink is None:
            return False
        self._is_sink_full = self._is_sink_full or not self._sink(url, batch)
        return not self._is_sink_full

    # -- the result ------------------------------------------------------------------------------------------------

    def _add_result(self, candidate: SitemapCandidate, final_url: str, reader: SitemapReader, is_whole: bool) -> None:
        self.has_response = True
        report = reader.report
        if reader.kind is SitemapKind.NONE:
            kind = MissKind.FAILED if report.is_interrupted else MissKind.NONE
            self.result.misses.append(Miss(candidate.url, candidate.found_by, kind, report.why_none_sentence))
            return
        self.result.sitemaps.append(
            candidate.found(
                reader.kind,
                final_url,
                entries=report.entries if is_whole else None,
                skipped=dict(report.skipped),
                partial=report.partial if is_whole else None,
            )
        )

    def _list_unread(self) -> None:
        """List the children beyond `max_fetches`, which are sitemaps too, without reading them."""
        reason = f"not read: more than {self._limits.max_fetches:,} sitemaps" if self._sink is not None else None
        self.result.sitemaps += [
            candidate.found(None, candidate.url, partial=reason)
            for _, _, candidate in self._queue
            if candidate.found_by is FoundBy.INDEX
        ]
        self._limit_reached(f"only {self._limits.max_fetches:,} sitemaps were looked into")

    def _add_miss(self, candidate: SitemapCandidate, error: FetchError) -> None:
        if isinstance(error, VisitLimitReached) and candidate.found_by is FoundBy.INDEX:
            self._add_to_queue(candidate)  # to be listed unread
            self._fetches = self._limits.max_fetches
            return
        if isinstance(error, TooSoon) and not isinstance(error, VisitLimitReached):
            self._too_soon = error  # half a search would look like a whole one: it is repeated when the limits allow
            return
        kind = MissKind.FAILED
        is_missing = isinstance(error, PageNotFound) and error.status is not None
        if is_missing or (isinstance(error, UnreadableResponse) and not self.unreachable):
            kind = MissKind.NONE  # there is nothing to read, now and later
        elif isinstance(error, BlockedByPolicy):
            kind = MissKind.REFUSED
        self.result.misses.append(Miss(candidate.url, candidate.found_by, kind, error.reason, error.after))

    def _refuse(self, candidate: SitemapCandidate, why: str) -> None:
        if len(self.result.misses) < self._limits.max_sitemaps:
            self.result.misses.append(Miss(candidate.url, candidate.found_by, MissKind.REFUSED, why))

    def _limit_reached(self, limit: str) -> None:
        if limit not in self.result.limits_reached:
            self.result.limits_reached.append(limit)


async def _pieces(response: SitemapResponse) -> AsyncGenerator[bytes, None]:
    """Yield the body from a generator that can be closed before its end."""
    async for piece in response:
        yield piece
