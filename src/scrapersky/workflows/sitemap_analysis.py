"""WF5: a domain's sitemaps are found, or the links of its home page instead."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import REJECTED
from scrapersky.crawl.errors import RetryLater
from scrapersky.crawl.sitemaps.discover import discover
from scrapersky.crawl.sitemaps.fetcher import VisitFetcher
from scrapersky.crawl.sitemaps.result import MissKind, SearchOutcome, SitemapSearch
from scrapersky.crawl.web import Web
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.models import Domain
from scrapersky.store.line import sitemaps
from scrapersky.store.line.advance_rules import advance, rules_of
from scrapersky.store.steps import step_after


@dataclass(frozen=True)
class SiteToSearch:
    """The address to search from."""

    home: str


class SitemapAnalysis(Workflow[Domain, SiteToSearch, SitemapSearch]):
    """A domain's sitemaps are found: robots.txt, well-known paths, links; failing all, the links of its home page."""

    number = 5
    name = "sitemap_analysis"
    model = Domain
    reads = ("name", "final_url", "start_url")
    feeds = step_after(name).workflow
    settings_prefix = "DOMAIN_SITEMAP_SCHEDULER_"
    tuning = Tuning(interval_minutes=1, batch_size=10, max_instances=1, concurrency=50, timeout_seconds=180)

    def __init__(self, web: Web) -> None:
        self._web = web

    def read(self, row: Claimed) -> SiteToSearch:
        """Read the URL to start from: the final URL, the given one, or the bare domain."""
        return SiteToSearch(row.final_url or row.start_url or f"https://{row.name}/")

    async def work(self, site: SiteToSearch) -> SitemapSearch:
        """Discover sitemaps; raise RetryLater if the site did not respond."""
        crawler = await self._web.crawler()
        async with crawler.visit() as visit:
            found = await discover(site.home, VisitFetcher(visit))
        if found.outcome is SearchOutcome.FAILED and any(miss.kind is MissKind.FAILED for miss in found.misses):
            waits = [miss.retry_after for miss in found.misses if miss.retry_after is not None]
            raise RetryLater(found.why, after=max(waits, default=timedelta(0)), url=site.home)
        return found

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Domain, SitemapSearch]]) -> Iterable[UUID]:
        """Store every sitemap with how it was found; those that list pages advance unless their site is rejected."""
        for row, search in found:
            row.sitemap_result, row.sitemap_reason = search.outcome.value, search.why
        wanted = await sitemaps.upsert(session, found)
        rules = await rules_of(session, {row.search_id for row, _ in found})
        produced = {
            sitemap_id: rules[row.search_id]
            for row, _ in found
            if row.curation_status not in REJECTED
            for sitemap_id in wanted[row.id]
        }
        return await advance(session, self.name, produced)
