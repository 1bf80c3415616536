"""Reads what a site shows about its owner: once for all businesses that ask, with bounded memory."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from scrapersky.crawl.errors import FetchError, NoNetwork, ProxiesCoolingDown, TooSoon
from scrapersky.crawl.page import FetchedPage
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.crawl.web import Web
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.emails.deliverability import MailAcceptance
from scrapersky.extract.parser_pool.pool import PoisonPage
from scrapersky.extract.readers import read_site_facts
from scrapersky.extract.site_results import ParkedDomain, SiteFacts

MAX_CACHED = 500  # sites of one process; one has some 40 kB
TTL_SECONDS = 3600.0
HTML = ("", "text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class NoSite:
    """A domain without a site that could be read, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class ReadSite:
    """The registrable domain at which a site was read, and its facts."""

    domain: str
    facts: SiteFacts


SiteAnswer = ReadSite | NoSite
Asked = tuple[str, str | None]


class SiteReader:
    """Looks a domain up in DNS, reads its home page and, if that shows too little, its contact page."""

    def __init__(self, web: Web, *, max_cached: int = MAX_CACHED, clock: Callable[[], float] = time.monotonic) -> None:
        self._web = web
        self._max_cached = max_cached
        self._clock = clock
        # By domain and region, which decides how a number without a country code is read.
        self._cache: dict[Asked, tuple[float, SiteAnswer]] = {}
        self._in_flight: dict[Asked, asyncio.Task[SiteAnswer]] = {}

    async def exists(self, domain: str) -> bool:
        """Return whether DNS knows the domain. Raises DnsUnavailable."""
        return (await self._web.mx_lookup.lookup(domain)).acceptance is not MailAcceptance.NO_DOMAIN

    async def read(self, domain: str, region: str | None) -> SiteAnswer:
        """Return what the site of the domain shows. Raises TooSoon, NoNetwork."""
        asked = (domain, region)
        cached = self._cache.get(asked)
        if cached is not None and cached[0] > self._clock():
            return cached[1]
        task = self._in_flight.get(asked)
        if task is None:
            task = asyncio.create_task(self._read(domain, region), name=f"site of {domain}")
            self._in_flight[asked] = task
            task.add_done_callback(lambda done: self._finished(asked, done))
        return await asyncio.shield(task)  # a cancelled caller does not cancel the reading of the others

    def _finished(self, asked: Asked, task: "asyncio.Task[SiteAnswer]") -> None:
        del self._in_flight[asked]
        if task.cancelled() or task.exception() is not None:
            return
        if len(self._cache) >= self._max_cached:
            del self._cache[next(iter(self._cache))]  # the oldest
        self._cache[asked] = (self._clock() + TTL_SECONDS, task.result())

    async def _read(self, domain: str, region: str | None) -> SiteAnswer:
        crawler = await self._web.crawler()
        async with crawler.visit() as visit:
            try:
                page = await _first_that_answers(visit, domain)
            except (TooSoon, NoNetwork):
                raise
            except FetchError as error:
                return NoSite(error.reason)
            name = _company_domain(page.final_url)
            if name is None:
                return NoSite("it leads to a platform")
            facts = await self._facts(page, name, region)
            if isinstance(facts, SiteFacts) and not facts.is_complete and facts.contact_url:
                facts = await self._with_contact_page(visit, facts, name, region)
        return facts if isinstance(facts, NoSite) else ReadSite(name, facts)

    async def _facts(self, page: FetchedPage, domain: str, region: str | None) -> SiteFacts | NoSite:
        if page.content_type not in HTML:
            return NoSite(f"its home page is {page.content_type}")
        try:
            found = await self._web.read(read_site_facts, page.encoded, page.final_url, region, domain)
        except PoisonPage as error:  # of a candidate: it says nothing about the business
            return NoSite(str(error))
        return NoSite(f"the domain is parked: {found.reason}") if isinstance(found, ParkedDomain) else found

    async def _with_contact_page(self, visit: Visit, facts: SiteFacts, domain: str, region: str | None) -> SiteFacts:
        try:
            page = await visit.fetch(facts.contact_url)
        except (ProxiesCoolingDown, NoNetwork):
            raise
        except FetchError:
            return facts  # the home page is what the site shows
        more = await self._facts(page, domain, region)
        return facts if isinstance(more, NoSite) else facts.with_page(more)


def home_of(url: str) -> str:
    """Return the address of the home page of a site: scheme and host."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"


def _company_domain(url: str) -> str | None:
    try:
        found = parse_website(url)
    except InvalidWebsite:
        return None
    return found.name if isinstance(found, CompanyDomain) else None


async def _first_that_answers(visit: Visit, domain: str) -> FetchedPage:
    """Fetch the home page over https, with www, and over http; raise the error of the first if none responds."""
    first: FetchError | None = None
    for home in (f"https://{domain}/", f"https://www.{domain}/", f"http://{domain}/"):
        try:
            return await visit.fetch(home)
        except (TooSoon, NoNetwork):
            raise
        except FetchError as error:
            first = first or error
    raise first or NoNetwork("no address")
