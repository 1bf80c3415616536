"""Finds the sitemaps of a site: robots.txt, then well-known paths, then links, and the children of every index."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from urllib.parse import urlsplit

from scrapersky.crawl.errors import BlockedByPolicy, FetchError, Gone, RetryLater, TooSoon, VisitOver
from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.hints import WELL_KNOWN_FIRST, WELL_KNOWN_THEN, HtmlLinks, html_links, join
from scrapersky.crawl.sitemaps.read import SitemapReader, read_batches
from scrapersky.crawl.sitemaps.result import (
    Candidate,
    EntrySink,
    FoundSitemap,
    How,
    Miss,
    MissKind,
    SearchLimits,
    SitemapResponse,
    SitemapSearch,
    SitemapWeb,
)


async def discover(
    url: str, web: SitemapWeb, limits: SearchLimits | None = None, sink: EntrySink | None = None
) -> SitemapSearch:
    """Search the site at this URL, or begin with the sitemap at it; every address tried is in the result.

    With a sink every sitemap is read to its end and its entries are handed over; without one a sitemap is only looked
    into until it is recognised, and an index read for its children. Stops at the first way that leads to a sitemap.
    """
    search = _Search(url, web, limits or SearchLimits(), sink)
    if urlsplit(url).path.strip("/"):
        found = await search.follow([Candidate(url, How.GIVEN)])
        if found or not search.answered:
            return search.result
    if await search.follow(await search.from_robots()) or search.unreachable:
        return search.result
    if await search.follow(search.well_known(WELL_KNOWN_FIRST)):
        return search.result
    links = await search.from_html()
    for candidates in (
        [Candidate(link, How.HTML) for link in links.sitemaps],
        search.well_known(WELL_KNOWN_THEN),
        [Candidate(link, How.FEED) for link in links.feeds],
    ):
        if await search.follow(candidates):
            break
    return search.result


class _Search:
    """One search: what was visited, what is waiting, what was found."""

    def __init__(self, url: str, web: SitemapWeb, limits: SearchLimits, sink: EntrySink | None) -> None:
        self.result = SitemapSearch(url)
        self.unreachable = False
        self.answered = False  # some address had something to give, sitemap or not
        self._site = url
        self._web = web
        self._limits = limits
        self._sink = sink
        self._seen: set[str] = set()
        self._waiting: deque[Candidate] = deque()
        self._fetches = 0
        self._enough = False
        self._too_soon: TooSoon | None = None

    # -- where to look ---------------------------------------------------------------------------------------------

    async def from_robots(self) -> list[Candidate]:
        """The Sitemap lines of robots.txt; a site that cannot be asked for it cannot be asked for anything."""
        try:
            lines = await self._web.robots_sitemaps(self._site)
        except FetchError as error:
            self._miss(Candidate(self._site, How.ROBOTS), error)
            self.unreachable = True
            return []
        urls = (join(self._site, line) for line in lines)
        return [Candidate(url, How.ROBOTS) for url in urls if url is not None]

    def well_known(self, paths: Iterable[str]) -> list[Candidate]:
        """The usual places."""
        urls = (join(self._site, path) for path in paths)
        return [Candidate(url, How.WELL_KNOWN) for url in urls if url is not None]

    async def from_html(self) -> HtmlLinks:
        """The links of the home page."""
        home = Candidate(join(self._site, "/") or self._site, How.HTML)
        try:
            async with self._web.stream(home.url) as answer:
                html = await self._beginning_of(answer)
        except FetchError as error:
            self._miss(home, error)
            return HtmlLinks([], [])
        return html_links(html.decode("utf-8", "replace"), answer.final_url)

    async def _beginning_of(self, answer: SitemapResponse) -> bytes:
        html = b""
        async with aclosing(_pieces(answer)) as pieces:
            async for piece in pieces:
                html += piece
                if len(html) >= self._limits.html_bytes:
                    break
        return html[: self._limits.html_bytes]

    # -- looking ---------------------------------------------------------------------------------------------------

    async def follow(self, candidates: Iterable[Candidate]) -> bool:
        """Look at these and at everything they lead to, a few at once; whether there is any sitemap now."""
        for candidate in candidates:
            self._enqueue(candidate)
        while self._waiting and not self._enough and self._too_soon is None:
            if self._fetches >= self._limits.max_fetches:
                self._list_the_rest()
                break
            room = min(self._limits.at_once, self._limits.max_fetches - self._fetches)
            group = [self._waiting.popleft() for _ in range(min(room, len(self._waiting)))]
            self._fetches += len(group)
            await asyncio.gather(*(self._look_at(candidate) for candidate in group))
        self._waiting.clear()
        if self._too_soon is not None:
            raise self._too_soon
        return bool(self.result.sitemaps)

    def _enqueue(self, candidate: Candidate) -> None:
        if candidate.url in self._seen:
            return
        if len(self._seen) >= self._limits.max_sitemaps:
            self._reached(f"more than {self._limits.max_sitemaps:,} sitemaps")
            return
        self._seen.add(candidate.url)
        if not self._limits.policy.allows(self._site, candidate.url):
            self._refuse(candidate, "It belongs to another site.")
        elif candidate.depth > self._limits.max_depth:
            self._refuse(candidate, f"It is more than {self._limits.max_depth} indexes deep.")
            self._reached(f"more than {self._limits.max_depth} indexes deep")
        else:
            self._waiting.append(candidate)

    async def _look_at(self, candidate: Candidate) -> None:
        try:
            async with self._web.stream(candidate.url) as answer:
                if self._is_elsewhere(candidate, answer.final_url):
                    return
                reader = SitemapReader(answer.final_url, self._limits.read)
                whole = await self._read(candidate, answer, reader)
        except FetchError as error:
            self._miss(candidate, error)
            return
        self._settle(candidate, answer.final_url, reader, whole)

    def _is_elsewhere(self, candidate: Candidate, final_url: str) -> bool:
        """Whether a redirect led to another site, or to a sitemap that is known already."""
        if not self._limits.policy.allows(self._site, final_url):
            self._refuse(candidate, f"It redirects to another site: {final_url}")
            return True
        if final_url != candidate.url:
            if final_url in self._seen:
                return True
            self._seen.add(final_url)
        return False

    async def _read(self, candidate: Candidate, answer: SitemapResponse, reader: SitemapReader) -> bool:
        """Read to the end, or as far as is needed to know what it is; whether it was to the end."""
        try:
            async with aclosing(read_batches(_pieces(answer), reader)) as batches:
                async for batch in batches:
                    if not self._take(candidate, answer.final_url, reader.kind, batch):
                        return False
        except FetchError as error:
            reader.interrupt(error.reason)
            for batch in reader.close():
                self._take(candidate, answer.final_url, reader.kind, batch)
        return True

    def _take(self, candidate: Candidate, url: str, kind: SitemapKind, batch: list[SitemapEntry]) -> bool:
        """Entries of an index are addresses to look at, others are handed over; whether to read on."""
        if kind is SitemapKind.INDEX:
            self._take_children(candidate, url, batch)
            return True
        return self._hand_over(url, batch)

    def _take_children(self, parent: Candidate, parent_url: str, batch: list[SitemapEntry]) -> None:
        for entry in batch:
            url = join(parent_url, entry.loc)
            if url is not None:
                self._enqueue(Candidate(url, How.INDEX, parent.url, parent.depth + 1, entry.lastmod_text))

    def _hand_over(self, url: str, batch: list[SitemapEntry]) -> bool:
        if self._sink is None:
            return False
        self._enough = self._enough or not self._sink(url, batch)
        return not self._enough

    # -- what came of it -------------------------------------------------------------------------------------------

    def _settle(self, candidate: Candidate, final_url: str, reader: SitemapReader, whole: bool) -> None:
        self.answered = True
        if reader.kind is SitemapKind.NONE:
            why = f"It is {reader.report.why_none}."
            kind = MissKind.FAILED if reader.report.partial else MissKind.NONE
            self.result.misses.append(Miss(candidate.url, candidate.how, kind, why))
            return
        self.result.sitemaps.append(
            FoundSitemap(
                candidate.url,
                final_url,
                reader.kind,
                candidate.how,
                candidate.parent,
                candidate.depth,
                candidate.lastmod_text,
                entries=reader.report.entries if whole else None,
                skipped=dict(reader.report.skipped),
                partial=reader.report.partial if whole else None,
            )
        )

    def _list_the_rest(self) -> None:
        """Children beyond the budget are sitemaps too, though nobody has looked into them."""
        told = f"not read: more than {self._limits.max_fetches:,} sitemaps"
        for candidate in self._waiting:
            if candidate.how is How.INDEX:
                self.result.sitemaps.append(
                    FoundSitemap(
                        candidate.url,
                        candidate.url,
                        None,
                        candidate.how,
                        candidate.parent,
                        candidate.depth,
                        candidate.lastmod_text,
                        partial=told if self._sink is not None else None,
                    )
                )
        self._reached(f"only {self._limits.max_fetches:,} sitemaps were looked into")

    def _miss(self, candidate: Candidate, error: FetchError) -> None:
        if isinstance(error, VisitOver) and candidate.how is How.INDEX:
            self._waiting.appendleft(candidate)  # to be listed with the rest, unread
            self._fetches = self._limits.max_fetches
            return
        if isinstance(error, TooSoon) and not isinstance(error, VisitOver):
            self._too_soon = error  # half a search would look like a whole one: it is made again when manners allow
            return
        retry_after = error.after if isinstance(error, RetryLater) else None
        kind = MissKind.FAILED
        if isinstance(error, Gone) and error.status is not None:
            kind = MissKind.NONE
        elif isinstance(error, BlockedByPolicy):
            kind = MissKind.REFUSED
        self.result.misses.append(Miss(candidate.url, candidate.how, kind, error.reason, retry_after))

    def _refuse(self, candidate: Candidate, why: str) -> None:
        if len(self.result.misses) < self._limits.max_sitemaps:
            self.result.misses.append(Miss(candidate.url, candidate.how, MissKind.REFUSED, why))

    def _reached(self, limit: str) -> None:
        if limit not in self.result.limits_reached:
            self.result.limits_reached.append(limit)


async def _pieces(answer: SitemapResponse) -> AsyncGenerator[bytes, None]:
    """The body as a generator that can be closed before its end."""
    async for piece in answer:
        yield piece
