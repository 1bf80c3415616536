"""WF10: a business without a web site gets one, if its own pages prove it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.settings import Settings
from scrapersky.core.vocabularies import REJECTED, WebsiteHow
from scrapersky.crawl.network.mx_lookup import DnsUnavailable, NoNameServer
from scrapersky.crawl.site_reader import NoSite, ReadSite, SiteReader, home_of
from scrapersky.engine.outcomes import Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.site_search.names import candidate_domains, domain_of_email
from scrapersky.extract.site_search.proof import WantedBusiness, is_same_name, prove
from scrapersky.models import LocalBusiness
from scrapersky.providers.call_budget import CallBudgets, InMemoryCallBudgets
from scrapersky.providers.web_search import WebSearch
from scrapersky.store.line.advance_rules import advance, rules_of
from scrapersky.store.line.known_sites import KnownSites, NothingKnown, OtherRecord
from scrapersky.store.steps import step_after

SAME_PHONE, SAME_PLACE = 0.95, 0.9  # how sure another record of the same business makes its site


@dataclass(frozen=True)
class BusinessToFind:
    """A business, what it is recognised by, and the sites that a person has rejected."""

    id: UUID
    tenant_id: UUID
    search_id: UUID | None
    website: str | None
    wanted: WantedBusiness
    rejected: frozenset[str]


@dataclass(frozen=True)
class FoundWebsite:
    """The site, how it was found, how sure it is, and the proof."""

    website: str
    how: WebsiteHow
    confidence: float
    proof: str


class SiteSearch(Workflow[LocalBusiness, BusinessToFind, FoundWebsite]):
    """A missing web site is found: by email address, other records, the name, or a web search, with a proof."""

    number = 10
    name = "site_search"
    model = LocalBusiness
    reads = ("search_id", "website", "name", "phone", "street", "postcode", "city", "country", "rejected_websites")
    feeds = step_after(name).workflow
    visits_sites = True
    tuning = Tuning(interval_minutes=1, batch_size=20, concurrency=20, timeout_seconds=120)

    def __init__(
        self,
        sites: SiteReader,
        settings: Settings,
        known: KnownSites | None = None,
        web_search: WebSearch | None = None,
        call_budgets: CallBudgets | None = None,
    ) -> None:
        self._sites = sites
        self._from_names = settings.site_search_from_names
        self._max_candidates = settings.site_search_max_candidates
        self._known = known or NothingKnown()
        self._web_search = web_search
        self._call_budgets = call_budgets or InMemoryCallBudgets()

    def read(self, row: Claimed) -> BusinessToFind:
        """Read the facts by which the business is recognised."""
        wanted = WantedBusiness(row.name, row.phone, row.street, row.postcode, row.city, row.country)
        rejected = frozenset(row.rejected_websites)
        return BusinessToFind(row.id, row.tenant_id, row.search_id, row.website, wanted, rejected)

    async def work(self, business: BusinessToFind) -> FoundWebsite:
        """Look for the site in the cheapest way first; the first one that is proven is taken."""
        if business.website:
            raise Skip("has a web site")
        known = await self._known.of(business.tenant_id, business.id)
        if (found := _from_records(business, known.records)) is not None:
            return found
        tried: list[str] = []
        emails = list(dict.fromkeys(name for email in known.emails if (name := domain_of_email(email))))
        if (found := await self._try(business, emails, WebsiteHow.EMAIL, tried)) is not None:
            return found
        if self._from_names and (found := await self._by_name(business, tried)) is not None:
            return found
        if self._web_search is not None and (found := await self._by_web_search(business, tried)) is not None:
            return found
        count = len(tried)
        raise Skip(f"no web site: {f'candidates without a proof: {count}' if count else 'there is no candidate'}")

    async def write_batch(
        self, session: AsyncSession, found: Sequence[tuple[LocalBusiness, FoundWebsite]]
    ) -> Iterable[UUID]:
        """Store each site with its proof, unless a person has decided meanwhile; businesses not rejected go on."""
        for business, site in found:
            if business.website is None and site.website not in business.rejected_websites:
                business.website, business.website_how = site.website, site.how
                business.website_confidence, business.website_proof = site.confidence, site.proof
        await session.flush()
        wanted = [business for business, _ in found if business.curation_status not in REJECTED]
        rules = await rules_of(session, {business.search_id for business in wanted})
        return await advance(session, self.name, {business.id: rules[business.search_id] for business in wanted})

    async def _by_name(self, business: BusinessToFind, tried: list[str]) -> FoundWebsite | None:
        wanted = business.wanted
        names = candidate_domains(wanted.name, wanted.city, wanted.country, self._max_candidates)
        return await self._try(business, names, WebsiteHow.NAME, tried)

    async def _by_web_search(self, business: BusinessToFind, tried: list[str]) -> FoundWebsite | None:
        """Ask the web search for the name and the town; only the sites' own home and contact pages are a proof."""
        if self._web_search is None:
            return None
        wanted = business.wanted
        budget = self._call_budgets.of(business.tenant_id, business.search_id, self._web_search.name, "details")
        query = " ".join(part for part in (f'"{wanted.name}"', wanted.street, wanted.city) if part)
        addresses = await self._web_search.find(query, wanted.country, budget)
        names = [name for address in addresses if (name := _domain_of(address))]
        new = [name for name in dict.fromkeys(names) if name not in tried][: self._max_candidates]
        return await self._try(business, new, WebsiteHow.SEARCH, tried)

    async def _try(
        self, business: BusinessToFind, domains: Sequence[str], how: WebsiteHow, tried: list[str]
    ) -> FoundWebsite | None:
        """Return the first of the domains whose site is proven. Raises DnsUnavailable if none could be looked up."""
        failure: DnsUnavailable | None = None
        looked_up = 0
        for domain in (name for name in domains if name not in business.rejected and name not in tried):
            try:
                exists = await self._sites.exists(domain)
            except NoNameServer:
                raise
            except DnsUnavailable as error:
                failure = error
                continue
            looked_up += 1
            if not exists:
                continue
            tried.append(domain)
            site = await self._sites.read(domain, business.wanted.country)
            if (found := _proven(business, site, how)) is not None:
                return found
        if failure is not None and not looked_up:
            raise failure
        return None


def _proven(business: BusinessToFind, site: ReadSite | NoSite, how: WebsiteHow) -> FoundWebsite | None:
    if isinstance(site, NoSite) or site.domain in business.rejected:
        return None
    proof = prove(site.facts, business.wanted, site.domain, how)
    return FoundWebsite(home_of(site.facts.url), how, proof.confidence, proof.reason) if proof else None


def _from_records(business: BusinessToFind, records: Sequence[OtherRecord]) -> FoundWebsite | None:
    """Return the site of another record with the same name and number, or with the same name next door."""
    city = business.wanted.city
    for record in sorted(records, key=lambda one: (not one.same_phone, one.metres or 0.0, one.website)):
        domain = _domain_of(record.website)
        if domain is None or {domain, record.website} & business.rejected:
            continue
        if is_same_name(business.wanted.name, record.name, city):
            what = "the same name and number" if record.same_phone else "the same name, at the same place"
            sure = SAME_PHONE if record.same_phone else SAME_PLACE
            proof = f"a record of {record.provider or 'a file'} has {what}"
            return FoundWebsite(record.website, WebsiteHow.RECORD, sure, proof)
    return None


def _domain_of(website: str) -> str | None:
    try:
        found = parse_website(website)
    except InvalidWebsite:
        return None
    return found.name if isinstance(found, CompanyDomain) else None
