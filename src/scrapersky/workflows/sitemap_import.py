"""WF6: a sitemap becomes pages, however many it lists."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
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
from scrapersky.extract.readers import read_metadata
from scrapersky.models import SitemapFile
from scrapersky.store.line import pages, sitemaps
from scrapersky.store.line.page_lists import ImportedPages, best_pages, unknown_pages
from scrapersky.store.line.sitemaps import LINKS
from scrapersky.store.steps import step_after


@dataclass(frozen=True)
class PageList:
    """The URL and the kind of a list of pages."""

    url: str
    kind: str | None


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
            page = await visit.fetch_shared(listing.url)
            metadata = await self._web.read(read_metadata, page.encoded, page.final_url)
        return ImportedPages.of_links(page.final_url, metadata.links)

    async def write_batch(
        self, session: AsyncSession, found: Sequence[tuple[SitemapFile, ImportedPages]]
    ) -> Iterable[UUID]:
        """Store the pages in bulk; the best few per site advance, unless the list or the site is rejected."""
        for row, imported in found:
            row.url_count, row.partial_reason = imported.spool.count, imported.partial
        domains = await pages.domains_of(session, (row for row, _ in found))
        await pages.store(session, domains, ((row, imported.spool) for row, imported in found))
        wanted = [domain for domain in domains.values() if domain.curation_status not in REJECTED]
        lists = [(row.domain_id, imported) for row, imported in found if row.curation_status not in REJECTED]
        chosen = [page.id for page in await pages.choose(session, wanted, best_pages(lists))]
        if self._web.fills_page_budget:
            chosen += await pages.fill_budget(session, wanted, unknown_pages(lists), chosen)
        await sitemaps.skip_if_pages_suffice(session, wanted, chosen)
        return chosen


async def _pieces(response: SitemapResponse) -> AsyncIterator[bytes]:
    async for piece in response:
        yield piece
