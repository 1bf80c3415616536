"""WF4: a domain's home page gives its metadata."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import REJECTED, HiddenReason
from scrapersky.crawl.errors import BlockedByPolicy, FetchError, PageNotFound, TooSoon
from scrapersky.crawl.page import FetchedPage
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.crawl.web import Web
from scrapersky.engine.outcomes import Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.extract.company_domain import home_urls
from scrapersky.extract.parked_domains import ParkedDomain, read_home_page
from scrapersky.extract.site_metadata import SiteMetadata
from scrapersky.models import Domain
from scrapersky.store.line import domains
from scrapersky.store.line.advance_rules import advance, rules_of
from scrapersky.store.steps import step_after

HTML = ("", "text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class DomainToFetch:
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


class DomainMetadata(Workflow[Domain, DomainToFetch, HomePage]):
    """A domain gets its metadata: title, language, logo, CMS, technologies, social profiles, final URL."""

    number = 4
    name = "domain_metadata"
    model = Domain
    reads = ("name", "start_url", "country")
    feeds = step_after(name).workflow
    reason_code_column = "hidden_reason"
    visits_sites = True
    settings_prefix = "DOMAIN_SCHEDULER_"
    tuning = Tuning(interval_minutes=1, batch_size=50, max_instances=3, concurrency=50)

    def __init__(self, web: Web) -> None:
        self._web = web

    def read(self, row: Claimed) -> DomainToFetch:
        """Read the domain and the URL that was given for it."""
        return DomainToFetch(row.name, row.start_url, row.country)

    async def work(self, site: DomainToFetch) -> HomePage:
        """Fetch the home page and parse it in a child process; a parked domain and a bot check are skipped."""
        crawler = await self._web.crawler()
        async with crawler.visit() as visit:
            page = await _first_that_answers(visit, home_urls(site.name, site.start_url))
            if page.content_type not in HTML:
                raise Skip(f"its home page is {page.content_type}, not HTML")
            found = await self._web.read(
                read_home_page, page.encoded, page.final_url, dict(page.headers), site.country, site.name
            )
        if isinstance(found, ParkedDomain):
            raise Skip(f"the domain is parked: {found.reason}", HiddenReason.PARKED)
        if found.contacts.hidden is HiddenReason.BOT_CHECK:
            raise Skip("its home page asks for a proof that the visitor is human", HiddenReason.BOT_CHECK)
        return HomePage(page.final_url, page.status, tuple(hop.url for hop in page.redirects), found)

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Domain, HomePage]]) -> Iterable[UUID]:
        """Store the metadata; domains that are not rejected advance to sitemap analysis."""
        for row, home in found:
            domains.describe(row, home.final_url, home.status, home.redirects, home.metadata)
        wanted = [row for row, _ in found if row.curation_status not in REJECTED]
        rules = await rules_of(session, {row.search_id for row in wanted})
        return await advance(session, self.name, {row.id: rules[row.search_id] for row in wanted})


async def _first_that_answers(visit: Visit, homes: list[str]) -> FetchedPage:
    """Fetch the first URL that responds. If none does, raise the error of the first one."""
    first: FetchError | None = None
    for home in homes:
        try:
            return await visit.fetch(home)
        except (BlockedByPolicy, TooSoon):
            raise
        except FetchError as error:
            first = first or error
    raise first or PageNotFound("It has no address to begin with.")
