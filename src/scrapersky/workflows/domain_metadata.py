"""WF4: a domain's home page gives its metadata."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import REJECTED, HiddenReason
from scrapersky.crawl.browser.browser import BrowserVisit
from scrapersky.crawl.errors import BlockedByPolicy, BotCheckRequired, FetchError, PageNotFound, TooSoon
from scrapersky.crawl.page import FetchedPage
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.crawl.web import DRAWN_REASONS, NEEDS_BROWSER, Web
from scrapersky.engine.outcomes import Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Produced, Workflow
from scrapersky.extract.company_domain import home_urls
from scrapersky.extract.readers import read_home_page
from scrapersky.extract.site_results import ParkedDomain, SiteMetadata
from scrapersky.models import Domain
from scrapersky.store.line import domains, home_links
from scrapersky.store.line.advance_rules import advance, rules_of
from scrapersky.store.line.browser_cost import add_cost
from scrapersky.store.line.page_lists import ImportedPages
from scrapersky.store.searches.browser_rule import BrowserRules
from scrapersky.store.steps import step_after

PAGES = step_after("sitemap_import").workflow
HTML = ("", "text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class DomainToFetch:
    """Where a domain's home page may be."""

    id: UUID
    tenant_id: UUID
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
    drawn: BrowserVisit | None = None


class DomainMetadata(Workflow[Domain, DomainToFetch, HomePage]):
    """A domain gets its metadata: title, language, logo, CMS, technologies, social profiles, final URL."""

    number = 4
    name = "domain_metadata"
    model = Domain
    reads = ("name", "start_url", "country")
    feeds = step_after(name).workflow
    also_feeds = (PAGES,)
    reason_code_column = "hidden_reason"
    visits_sites = True
    settings_prefix = "DOMAIN_SCHEDULER_"
    tuning = Tuning(interval_minutes=1, batch_size=50, max_instances=3, concurrency=50)

    def __init__(self, web: Web, rules: BrowserRules | None = None) -> None:
        self._web = web
        self._rules = rules

    def read(self, row: Claimed) -> DomainToFetch:
        """Read the domain and the URL that was given for it."""
        return DomainToFetch(row.id, row.tenant_id, row.name, row.start_url, row.country)

    async def work(self, site: DomainToFetch) -> HomePage:
        """Fetch the home page and parse it in a child process; a parked domain and a bot check are skipped."""
        crawler = await self._web.crawler()
        async with crawler.visit() as visit:
            page, drawn = await self._fetch(visit, site)
            found = await self._read(page, site)
            if drawn is None and found.contacts.hidden in DRAWN_REASONS:
                drawn = await self._web.draw(visit, page.final_url, page, partial(self._may_draw, site))
                if drawn is not None and drawn.page is not None:
                    page = drawn.page
                    found = await self._read(page, site)
        if found.contacts.hidden is HiddenReason.BOT_CHECK:
            reason = "its home page asks for a proof that the visitor is human"
            help_ = f"; {drawn.result}" if drawn is not None else f". {NEEDS_BROWSER}"
            raise Skip(f"{reason}{help_}", HiddenReason.BOT_CHECK)
        return HomePage(page.final_url, page.status, tuple(hop.url for hop in page.redirects), found, drawn)

    async def _fetch(self, visit: Visit, site: DomainToFetch) -> tuple[FetchedPage, BrowserVisit | None]:
        """Return the home page, drawn by the browser if a plain reader meets a bot check."""
        try:
            page = await _first_that_answers(visit, home_urls(site.name, site.start_url))
        except BotCheckRequired as check:
            return await self._web.draw_past_check(visit, check, partial(self._may_draw, site))
        await visit.keep(page.final_url, page)
        if page.content_type not in HTML:
            raise Skip(f"its home page is {page.content_type}, not HTML")
        return page, None

    async def _read(self, page: FetchedPage, site: DomainToFetch) -> SiteMetadata:
        found = await self._web.read(
            read_home_page, page.encoded, page.final_url, dict(page.headers), site.country, site.name
        )
        if isinstance(found, ParkedDomain):
            raise Skip(f"the domain is parked: {found.reason}", HiddenReason.PARKED)
        return found

    async def _may_draw(self, site: DomainToFetch) -> bool:
        return self._rules is None or await self._rules.may_draw(site.tenant_id, site.id)

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Domain, HomePage]]) -> Produced:
        """Store the metadata and the linked pages; the best pages advance, and domains that need their sitemaps."""
        for row, home in found:
            domains.describe(row, home.final_url, home.status, home.redirects, home.metadata)
            row.browser = add_cost(row.browser, home.drawn)
        await session.flush()
        wanted = [(row, home) for row, home in found if row.curation_status not in REJECTED]
        rules = await rules_of(session, {row.search_id for row, _ in wanted})
        lists = [(row, ImportedPages.of_links(home.final_url, home.metadata.links)) for row, home in wanted]
        chosen = await home_links.import_links(session, lists, rules)
        domains_left = [row for row, _ in wanted]
        domains_left = await home_links.skip_analysis_if_links_suffice(session, domains_left, chosen, rules)
        going_on = await advance(session, self.name, {row.id: rules[row.search_id] for row in domains_left})
        return Produced(going_on, {PAGES: [page.id for page in chosen]})


async def _first_that_answers(visit: Visit, homes: list[str]) -> FetchedPage:
    """Fetch the first URL that responds. If none does, raise the error of the first one."""
    first: FetchError | None = None
    for home in homes:
        try:
            return await visit.fetch_page(home)
        except (BlockedByPolicy, TooSoon):
            raise
        except FetchError as error:
            first = first or error
    raise first or PageNotFound("It has no address to begin with.")
