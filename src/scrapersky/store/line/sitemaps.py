"""Queries about sitemap files."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import REJECTED
from scrapersky.crawl.sitemaps.entry import SitemapKind, parse_lastmod
from scrapersky.crawl.sitemaps.result import FoundSitemap, SitemapSearch
from scrapersky.engine.settle import driver_connection
from scrapersky.models import Domain

FEEDS = (SitemapKind.RSS.value, SitemapKind.ATOM.value)
LINKS = "links"  # the kind of a home page that replaces a missing sitemap
ROWS_PER_STATEMENT = 1000
COLUMNS = ("id", "domain_id", "url", "kind", "discovered_by", "last_modified")


async def upsert(session: AsyncSession, searched: Sequence[tuple[Domain, SitemapSearch]]) -> dict[UUID, list[UUID]]:
    """Insert or update the sitemaps; return by domain the ids of those that list pages and were not rejected."""
    unique = {(row["domain_id"], row["url"]): row for domain, found in searched for row in _rows(domain, found)}
    ordered = [row for _, row in sorted(unique.items())]  # one lock order for all hosts prevents deadlocks
    wanted: dict[UUID, list[UUID]] = {domain.id: [] for domain, _ in searched}
    driver = await driver_connection(session)
    for start in range(0, len(ordered), ROWS_PER_STATEMENT):
        rows = ordered[start : start + ROWS_PER_STATEMENT]
        columns = [[row[name] for row in rows] for name in COLUMNS]
        for stored in await driver.fetch(_UPSERT, searched[0][0].tenant_id, *columns):
            if stored["kind"] != SitemapKind.INDEX.value and stored["curation_status"] not in REJECTED:
                wanted[stored["domain_id"]].append(stored["id"])
    return wanted


def _rows(domain: Domain, found: SitemapSearch) -> list[dict[str, Any]]:
    rows = [_values(domain, sitemap) for sitemap in found.sitemaps]
    if all(row["kind"] in FEEDS for row in rows):  # none, or only feeds, which list news and no contact page
        rows.append(_home_page(domain))
    return rows


def _values(domain: Domain, sitemap: FoundSitemap) -> dict[str, Any]:
    return {
        "id": new_id(),
        "domain_id": domain.id,
        "url": sitemap.url,
        "kind": sitemap.kind.value if sitemap.kind else None,
        "discovered_by": sitemap.found_by.value,
        "last_modified": parse_lastmod(sitemap.lastmod_text) if sitemap.lastmod_text else None,
    }


def _home_page(domain: Domain) -> dict[str, Any]:
    """Build the row for a home page whose links are read instead of a sitemap."""
    return {
        "id": new_id(),
        "domain_id": domain.id,
        "url": domain.final_url or domain.start_url or f"https://{domain.name}/",
        "kind": LINKS,
        "discovered_by": "no sitemap",
        "last_modified": None,
    }


_UPSERT = """
INSERT INTO sitemap_file AS known (id, tenant_id, domain_id, url, kind, discovered_by, last_modified)
SELECT id, $1, domain_id, url, kind, discovered_by, last_modified
FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
    AS s(id, domain_id, url, kind, discovered_by, last_modified)
ON CONFLICT (tenant_id, domain_id, url) DO UPDATE SET kind = coalesce(excluded.kind, known.kind),
    discovered_by = excluded.discovered_by, last_modified = excluded.last_modified, updated_at = now()
RETURNING id, domain_id, kind, curation_status"""
