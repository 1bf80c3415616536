"""What the contract tests must know of each workflow: how a row of it comes to be, and what finding something means."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from scrapersky.core import clock
from scrapersky.core.vocabularies import Verdict, WebsiteHow
from scrapersky.crawl.sitemaps.entry import SitemapKind
from scrapersky.crawl.sitemaps.result import FoundBy, FoundSitemap, SitemapSearch
from scrapersky.engine.pipeline import Pipeline
from scrapersky.extract.company_domain import CompanyDomain
from scrapersky.extract.emails.deliverability import Verification
from scrapersky.extract.results import Contacts, Email
from scrapersky.extract.site_results import SiteMetadata
from scrapersky.pipeline import build_pipeline
from scrapersky.providers.base import PlaceDetails
from scrapersky.sandbox.example_workflows import example_pipeline
from scrapersky.store.line.page_lists import ImportedPages
from scrapersky.workflows.delivery import AcceptedDelivery
from scrapersky.workflows.domain_metadata import HomePage
from scrapersky.workflows.page_curation import PageRead
from scrapersky.workflows.place_search import SearchResult
from scrapersky.workflows.site_search import FoundWebsite


@dataclass(frozen=True)
class Case:
    """A workflow under contract."""

    name: str
    line: Callable[[], Pipeline]
    insert: str  # $1 tenant, $2 number, $3 status
    found: Callable[[], Any]
    products: str | None = None  # counts what success leaves in the next inbox

    async def add(
        self, admin: asyncpg.Connection, tenant: UUID, count: int = 1, status: str = "Queued", start: int = 0
    ) -> list[UUID]:
        """Rows in this order."""
        return [await admin.fetchval(self.insert, tenant, f"{start + n}", status) for n in range(count)]

    def __str__(self) -> str:
        return self.name


def real_line() -> Pipeline:
    return build_pipeline({})


def found_home() -> HomePage:
    return HomePage("https://one.fi/", 200, (), SiteMetadata(title="One"))


def found_sitemap() -> SitemapSearch:
    sitemap = FoundSitemap("https://one.fi/s.xml", "https://one.fi/s.xml", SitemapKind.URLSET, FoundBy.ROBOTS)
    return SitemapSearch("https://one.fi/", [sitemap])


def found_pages() -> ImportedPages:
    imported = ImportedPages()
    imported.add("https://one.fi/contact")
    return imported


def found_contacts() -> PageRead:
    email = Email("info@one.fi", "role", "text", "info@one.fi", 0.9)
    return PageRead(200, "https://one.fi/contact", None, clock.now(), Contacts(emails=(email,)))


DOMAIN = "(SELECT id FROM made)"
WITH_DOMAIN = (
    "WITH made AS (INSERT INTO domain (tenant_id, name) VALUES ($1, $2 || '.fi') "
    "ON CONFLICT (tenant_id, name) DO UPDATE SET name = excluded.name RETURNING id) "
)

CASES = [
    Case(
        "place_search",
        real_line,
        "INSERT INTO search (tenant_id, text, provider, place_search_status) VALUES ($1, $2, 'test', $3) RETURNING id",
        lambda: SearchResult([PlaceDetails("test", "p", "A Place")], None),
        "SELECT count(*) FROM place WHERE deep_scan_status = 'Queued'",
    ),
    Case(
        "domain_metadata",
        real_line,
        "INSERT INTO domain (tenant_id, name, domain_metadata_status) VALUES ($1, $2 || '.fi', $3) RETURNING id",
        found_home,
        "SELECT count(*) FROM domain WHERE sitemap_analysis_status = 'Queued'",
    ),
    Case(
        "sitemap_analysis",
        real_line,
        "INSERT INTO domain (tenant_id, name, sitemap_analysis_status) VALUES ($1, $2 || '.fi', $3) RETURNING id",
        found_sitemap,
        "SELECT count(*) FROM sitemap_file WHERE sitemap_import_status = 'Queued'",
    ),
    Case(
        "sitemap_import",
        real_line,
        WITH_DOMAIN + "INSERT INTO sitemap_file (tenant_id, domain_id, url, sitemap_import_status) "
        f"VALUES ($1, {DOMAIN}, 'https://one.fi/s.xml', $3) RETURNING id",
        found_pages,
        "SELECT count(*) FROM page WHERE page_processing_status = 'Queued'",
    ),
    Case(
        "page_curation",
        real_line,
        WITH_DOMAIN + "INSERT INTO page (tenant_id, domain_id, url, page_processing_status) "
        f"VALUES ($1, {DOMAIN}, 'https://one.fi/contact', $3) RETURNING id",
        found_contacts,
        "SELECT count(*) FROM contact WHERE contact_verification_status = 'Queued'",
    ),
    Case(
        "contact_verification",
        real_line,
        "INSERT INTO contact (tenant_id, identity, email, contact_verification_status) "
        "VALUES ($1, $2, $2 || '@one.fi', $3) RETURNING id",
        lambda: Verification(Verdict.DELIVERABLE, ("its domain takes mail",), "info@one.fi", clock.now()),
        "SELECT count(*) FROM contact WHERE verdict = 'deliverable'",
    ),
    Case(
        "delivery",
        real_line,
        "WITH d AS (INSERT INTO destination (tenant_id, name, kind, url) VALUES ($1, 'd', 'webhook', 'http://one.fi') "
        "ON CONFLICT (tenant_id, name) DO UPDATE SET name = excluded.name RETURNING id), "
        "c AS (INSERT INTO contact (tenant_id, identity, email) VALUES ($1, $2, $2 || '@one.fi') RETURNING id) "
        "INSERT INTO delivery (tenant_id, destination_id, contact_id, delivery_status) "
        "SELECT $1, d.id, c.id, $3 FROM d, c RETURNING id",
        lambda: AcceptedDelivery("101", "fingerprint", clock.now()),
        "SELECT count(*) FROM delivery WHERE external_id = '101' AND delivered_at IS NOT NULL",
    ),
    Case(
        "deep_scan",
        real_line,
        "INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status) "
        "VALUES ($1, 'test', $2, 'n', $3) RETURNING id",
        lambda: PlaceDetails("test", "1", "A Business", website="https://a-business.example/"),
        "SELECT count(*) FROM local_business WHERE domain_extraction_status = 'Queued'",
    ),
    Case(
        "site_search",
        real_line,
        "INSERT INTO local_business (tenant_id, name, site_search_status) VALUES ($1, $2, $3) RETURNING id",
        lambda: FoundWebsite("https://one.fi/", WebsiteHow.NAME, 0.96, "its number is on https://one.fi/"),
        "SELECT count(*) FROM local_business WHERE website_how = 'name' AND domain_extraction_status = 'Queued'",
    ),
    Case(
        "domain_extraction",
        real_line,
        "INSERT INTO local_business (tenant_id, name, website, domain_extraction_status) "
        "VALUES ($1, $2, 'https://one.fi', $3) RETURNING id",
        lambda: CompanyDomain("one.fi", "one.fi", "https://one.fi/"),
        "SELECT count(*) FROM domain",
    ),
    Case(
        "packing",
        example_pipeline,
        "INSERT INTO parcel (tenant_id, label, packing_status) VALUES ($1, $2, $3) RETURNING id",
        lambda: None,
        "SELECT count(*) FROM parcel WHERE weighing_status = 'Queued'",
    ),
    Case(
        "weighing",
        example_pipeline,
        "INSERT INTO parcel (tenant_id, label, weighing_status) VALUES ($1, $2, $3) RETURNING id",
        lambda: 100,
        "SELECT count(*) FROM shipment WHERE shipping_status = 'Queued'",
    ),
    Case(
        "shipping",
        example_pipeline,
        "INSERT INTO shipment (tenant_id, parcel_id, shipping_status) "
        "VALUES ($1, gen_random_uuid(), coalesce($3, $2)) RETURNING id",
        lambda: None,
    ),
]
