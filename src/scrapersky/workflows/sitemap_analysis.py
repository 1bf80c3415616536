"""WF5: a domain's sitemaps are found, or the links of its home page instead."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import REJECTED
from scrapersky.crawl.errors import BlockedByPolicy, RetryLater
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.crawl.sitemaps.discover import discover
from scrapersky.crawl.sitemaps.fetcher import VisitFetcher
from scrapersky.crawl.sitemaps.result import MissKind, SearchLimits, SearchOutcome, SitemapSearch
from scrapersky.crawl.web import Web
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.extract.company_domain import home_urls
from scrapersky.models import Domain
from scrapersky.store.line import sitemaps
from scrapersky.store.line.advance_rules import advance, rules_of
from scrapersky.store.steps import step_after

LIMITS = SearchLimits(opens_unlikely=False)


@dataclass(frozen=True)
class SiteToSearch:
    """The addresses to search from, one after another until one responds."""

    homes: tuple[str, ...]


class SitemapAnalysis(Workflow[Domain, SiteToSearch, SitemapSearch]):
    """A domain's sitemaps are found: robots.txt, well-known paths, links; failing all, the links of its home page."""

    number = 5
    name = "sitemap_analysis"
    model = Domain
    reads = ("name", "final_url", "start_url")
    feeds = step_after(name).workflow
    visits_sites = True
    settings_prefix = "DOMAIN_SITEMAP_SCHEDULER_"
    tuning = Tuning(interval_minutes=1, batch_size=10, max_instances=1, concurrency=50, timeout_seconds=180)

    def __init__(self, web: Web) -> None:
        self._web = web

    def read(self, row: Claimed) -> SiteToSearch:
        """Read the URLs to start from: the final URL, or the given one, https and http of the bare domain."""
        if row.final_url:
            return SiteToSearch((row.final_url,))
        given = [row.start_url] if row.start_url else []
        return SiteToSearch(tuple(dict.fromkeys([*given, *home_urls(row.name, row.start_url)])))

    async def work(self, site: SiteToSearch) -> SitemapSearch:
        """Discover sitemaps. Raises RetryLater if no address responds, BlockedByPolicy if robots.txt forbids all."""
        crawler = await self._web.crawler()
        async with crawler.visit() as visit:
            searches = [found async for found in _search_each(visit, site.homes)]
        found = next((each for each in searches if each.outcome is not SearchOutcome.FAILED), searches[0])
        if found.outcome is not SearchOutcome.FAILED:
            return found
        if not _may_succeed_later(found):
            raise BlockedByPolicy(found.why, url=found.site)
        waits = [miss.retry_after for miss in found.misses if miss.retry_after is not None]
        raise RetryLater(found.why, after=max(waits, default=timedelta(0)), url=found.site)

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Domain, SitemapSearch]]) -> Iterable[UUID]:
        """Store every sitemap with how it was found; those that list pages advance unless their site is rejected."""
        for row, search in found:
            row.sitemap_result, row.sitemap_reason = search.outcome.value, search.why
        rules = await rules_of(session, {row.search_id for row, _ in found})
        only_likely = {row.id for row, _ in found if rules[row.search_id].sitemap_import == "likely"}
        wanted = await sitemaps.upsert(session, found, only_likely)
        produced = {
            sitemap_id: rules[row.search_id]
            for row, _ in found
            if row.curation_status not in REJECTED
            for sitemap_id in wanted[row.id]
        }
        return await advance(session, self.name, produced)


async def _search_each(visit: Visit, homes: Iterable[str]) -> AsyncIterator[SitemapSearch]:
    """Search from each address until one responds."""
    for home in homes:
        found = await discover(home, VisitFetcher(visit, keeps=True), LIMITS)
        yield found
        if not _may_succeed_later(found):
            return


def _may_succeed_later(found: SitemapSearch) -> bool:
    """Return whether the search failed because something did not respond."""
    return found.outcome is SearchOutcome.FAILED and any(miss.kind is MissKind.FAILED for miss in found.misses)
