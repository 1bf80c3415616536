"""WF4: a domain's home page tells who is behind it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import UNWANTED
from scrapersky.crawl.errors import BlockedByPolicy, FetchError, PageNotFound, TooSoon
from scrapersky.crawl.page import FetchedPage
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.crawl.web import Web
from scrapersky.engine.outcomes import Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.extract.business.parked_domains import ParkedDomain, read_home_page
from scrapersky.extract.business.site_metadata import SiteMetadata
from scrapersky.models import Domain
from scrapersky.store.line import domains
from scrapersky.store.line.advance_rules import rules_of

HTML = ("", "text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class Site:
    """Where a domain's home page may be."""

    name: str
    start_url: str | None
    country: str | None


@dataclass(frozen=True)
class HomePage:
    """The home page as it was found."""

    final_url: str
    status: int
    redirects: tuple[str, ...]
    metadata: SiteMetadata


class DomainMetadata(Workflow[Domain, Site, HomePage]):
    """A domain gets its facts: title, language, logo, CMS, technologies, socials, final address."""

    number = 4
    name = "domain_metadata"
    model = Domain
    reads = ("name", "start_url", "country")
    feeds = "sitemap_analysis"
    settings_prefix = "DOMAIN_SCHEDULER_"
    tuning = Tuning(interval_minutes=1, batch_size=50, max_instances=3, concurrency=50)

    def __init__(self, web: Web) -> None:
        self._web = web

    def read(self, row: Claimed) -> Site:
        """The name of the site and the address somebody gave for it."""
        return Site(row.name, row.start_url, row.country)

    async def work(self, site: Site) -> HomePage:
        """Fetch the home page and read it in a process that may be killed; of a parked domain nothing is kept."""
        crawler = await self._web.crawler()
        async with crawler.visit() as visit:
            page = await _first_that_answers(visit, _homes(site))
        if page.content_type not in HTML:
            raise Skip(f"its home page is {page.content_type}, not HTML")
        found = await self._web.read(
            read_home_page, page.text, page.final_url, dict(page.headers), site.country, site.name
        )
        if isinstance(found, ParkedDomain):
            raise Skip(f"the domain is parked: {found.reason}")
        return HomePage(page.final_url, page.status, tuple(hop.url for hop in page.redirects), found)

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Domain, HomePage]]) -> Iterable[UUID]:
        """Keep the facts; the domains that nobody has turned down meanwhile go on to their sitemaps."""
        for row, home in found:
            domains.describe(row, home.final_url, home.status, home.redirects, home.metadata)
        wanted = [row for row, _ in found if row.curation_status not in UNWANTED]
        rules = await rules_of(session, {row.search_id for row in wanted})
        return [row.id for row in wanted if rules[row.search_id].sitemap_analysis == "all"]


def _homes(site: Site) -> list[str]:
    """The address somebody gave first (its scheme, www or not), then the bare domain, then the old way."""
    given = urlsplit(site.start_url or "")
    first = [f"{given.scheme}://{given.netloc}/"] if given.scheme in ("http", "https") and given.netloc else []
    return list(dict.fromkeys([*first, f"https://{site.name}/", f"http://{site.name}/"]))


async def _first_that_answers(visit: Visit, homes: list[str]) -> FetchedPage:
    """The first home that is there. If none is, the reason of the first counts: that is the address people know."""
    first: FetchError | None = None
    for home in homes:
        try:
            return await visit.fetch(home)
        except (BlockedByPolicy, TooSoon):
            raise
        except FetchError as error:
            first = first or error
    raise first or PageNotFound("It has no address to begin with.")
