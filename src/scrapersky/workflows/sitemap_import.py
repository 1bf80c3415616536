"""WF6: a sitemap becomes pages, however many it lists."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import REJECTED
from scrapersky.crawl.sitemaps.entry import SitemapKind
from scrapersky.crawl.sitemaps.fetcher import SitemapResponse, VisitFetcher
from scrapersky.crawl.sitemaps.read import SitemapReader, read_batches
from scrapersky.crawl.web import Web
from scrapersky.engine.outcomes import Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.extract.pages.classify import classify_page
from scrapersky.extract.pages.select import (
    MIN_SCORE,
    WORTH,
    PageLink,
    is_shallow_unknown,
    select_pages,
    select_unknown_pages,
)
from scrapersky.extract.site_metadata import read_metadata
from scrapersky.models import SitemapFile
from scrapersky.store.line import pages, sitemaps
from scrapersky.store.line.pages import PageRow, Spool
from scrapersky.store.line.sitemaps import LINKS
from scrapersky.store.steps import step_after

MAX_CANDIDATES = 5_000  # promising pages of one sitemap that are ranked
MAX_PICKS = 1_000
MAX_UNKNOWN = 100  # shallow pages of one list that are kept for a budget that is left over


@dataclass(frozen=True)
class PageList:
    """The URL and the kind of a list of pages."""

    url: str
    kind: str | None


@dataclass
class ImportedPages:
    """The pages of a list, on disk until they are stored, and the promising ones."""

    spool: Spool = field(default_factory=Spool)
    candidates: list[PageLink] = field(default_factory=list)
    unknown: list[PageLink] = field(default_factory=list)  # shallow pages of which nothing is known
    partial: str | None = None

    def add(self, url: str, text: str = "", last_modified: str | None = None) -> None:
        """Add a page with its kind; a promising one becomes a candidate."""
        guess = classify_page(url, text)
        self.spool.add(PageRow(url, guess.kind.value, guess.score, guess.reason, last_modified))
        promising = guess.kind in WORTH and guess.score >= MIN_SCORE
        if promising and len(self.candidates) < MAX_CANDIDATES:
            self.candidates.append(PageLink(url, text))
        elif len(self.unknown) < MAX_UNKNOWN and is_shallow_unknown(PageLink(url, text), guess):
            self.unknown.append(PageLink(url, text))


class SitemapImport(Workflow[SitemapFile, PageList, ImportedPages]):
    """A sitemap becomes pages: streamed, each URL once per domain, classified, the promising ones selected."""

    number = 6
    name = "sitemap_import"
    model = SitemapFile
    reads = ("url", "kind")
    feeds = step_after(name).workflow
    visits_sites = True
    tuning = Tuning(interval_minutes=1, batch_size=20, max_instances=1, timeout_seconds=900)

    def __init__(self, web: Web) -> None:
        self._web = web

    def read(self, row: Claimed) -> PageList:
        """Read the URL and kind of the list."""
        return PageList(row.url, row.kind)

    async def work(self, listing: PageList) -> ImportedPages:
        """Stream the list to disk in constant memory."""
        return await (self._links(listing) if listing.kind == LINKS else self._sitemap(listing))

    async def _sitemap(self, listing: PageList) -> ImportedPages:
        imported = ImportedPages()
        crawler = await self._web.crawler()
        async with crawler.visit() as visit:
            fetcher = VisitFetcher(visit)
            async with fetcher.stream(listing.url) as response:
                reader = SitemapReader(response.final_url, fetcher.limits)
                async with aclosing(read_batches(_pieces(response), reader)) as batches:
                    async for batch in batches:
                        for entry in batch:
                            imported.add(entry.loc, last_modified=entry.lastmod_text)
        if reader.report.kind in (SitemapKind.NONE, SitemapKind.INDEX):
            raise Skip(f"not a list of pages: {reader.report.why_none or reader.report.kind.value}")
        imported.partial = reader.report.partial
        return imported

    async def _links(self, listing: PageList) -> ImportedPages:
        async with (await self._web.crawler()).visit() as visit:
            page = await visit.fetch(listing.url)
            metadata = await self._web.read(read_metadata, page.encoded, page.final_url)
        imported = ImportedPages()
        for link in dict.fromkeys((PageLink(page.final_url), *metadata.links)):
            imported.add(link.url, link.text)
        return imported

    async def write_batch(
        self, session: AsyncSession, found: Sequence[tuple[SitemapFile, ImportedPages]]
    ) -> Iterable[UUID]:
        """Store the pages in bulk; the best few per site advance, unless the list or the site is rejected."""
        candidates: dict[UUID, list[PageLink]] = defaultdict(list)
        for row, imported in found:
            row.url_count, row.partial_reason = imported.spool.count, imported.partial
            candidates[row.domain_id] += imported.candidates if row.curation_status not in REJECTED else []
        domains = await pages.domains_of(session, (row for row, _ in found))
        await pages.store(session, domains, ((row, imported.spool) for row, imported in found))
        picks = {domain_id: _picks(of_site) for domain_id, of_site in candidates.items()}
        wanted = [domain for domain in domains.values() if domain.curation_status not in REJECTED]
        chosen = await pages.choose(session, wanted, picks)
        if self._web.fills_page_budget:
            chosen += await pages.fill_budget(session, wanted, _unknown(found), chosen)
        await sitemaps.skip_if_pages_suffice(session, wanted, chosen)
        return chosen


def _unknown(found: Iterable[tuple[SitemapFile, ImportedPages]]) -> dict[UUID, list[str]]:
    """Return the shallow pages of each domain of which nothing is known, the shortest first."""
    by_domain: dict[UUID, list[PageLink]] = defaultdict(list)
    for row, imported in found:
        by_domain[row.domain_id] += imported.unknown if row.curation_status not in REJECTED else []
    return {domain_id: select_unknown_pages(links, MAX_UNKNOWN) for domain_id, links in by_domain.items()}


def _picks(candidates: Iterable[PageLink]) -> list[tuple[str, str]]:
    """Return the URLs and kinds of the best pages, best first."""
    return [(page.url, page.classification.kind.value) for page in select_pages(candidates, MAX_PICKS)]


async def _pieces(response: SitemapResponse) -> AsyncIterator[bytes]:
    async for piece in response:
        yield piece
