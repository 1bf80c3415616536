"""Queries about sitemap files."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import REJECTED
from scrapersky.crawl.sitemaps.entry import SitemapKind, parse_lastmod
from scrapersky.crawl.sitemaps.hints import UNLIKELY, likelihood_rank
from scrapersky.crawl.sitemaps.result import FoundSitemap, SitemapSearch
from scrapersky.engine.settle import driver_connection
from scrapersky.models import Domain
from scrapersky.store.line.advance_rules import rules_of
from scrapersky.store.steps import step_after

FEEDS = (SitemapKind.RSS.value, SitemapKind.ATOM.value)
LINKS = "links"  # the kind of a home page that replaces a missing sitemap
ROWS_PER_STATEMENT = 1000
PAGES = step_after("sitemap_import")
PAGES_SUFFICE = "not needed: the site has as many pages as its search reads; select the sitemap to read it all the same"
IS_UNLIKELY = (
    "not read: its name says posts, products, tags or images, and another sitemap lists the pages; "
    "select the sitemap to read it all the same"
)
MAX_QUEUED = 36  # sitemaps of one site that are read without a person's decision
COLUMNS = ("id", "domain_id", "url", "kind", "discovered_by", "last_modified")


async def upsert(
    session: AsyncSession, searched: Sequence[tuple[Domain, SitemapSearch]], only_likely: Collection[UUID] = ()
) -> dict[UUID, list[UUID]]:
    """Insert or update the sitemaps; return by domain the ids of those to read: the likeliest, and none rejected.

    Of domains in `only_likely`, sitemaps that are unlikely to list pages with contacts are skipped if there are others.
    """
    unique = {(row["domain_id"], row["url"]): row for domain, found in searched for row in _rows(domain, found)}
    ordered = [row for _, row in sorted(unique.items())]  # one lock order for all hosts prevents deadlocks
    wanted: dict[UUID, list[tuple[int, str, UUID]]] = {domain.id: [] for domain, _ in searched}
    driver = await driver_connection(session)
    for start in range(0, len(ordered), ROWS_PER_STATEMENT):
        rows = ordered[start : start + ROWS_PER_STATEMENT]
        columns = [[row[name] for row in rows] for name in COLUMNS]
        for stored in await driver.fetch(_UPSERT, searched[0][0].tenant_id, *columns):
            if stored["kind"] != SitemapKind.INDEX.value and stored["curation_status"] not in REJECTED:
                url: str = stored["url"]
                wanted[stored["domain_id"]].append((likelihood_rank(url), url, stored["id"]))
    unlikely = [each[2] for domain_id in only_likely for each in _unlikely(wanted[domain_id])]
    if unlikely:
        await driver.execute(_SKIP_UNLIKELY, unlikely, IS_UNLIKELY)
    passed_over = set(unlikely)
    return {
        domain_id: [each[2] for each in sorted(rows) if each[2] not in passed_over][:MAX_QUEUED]
        for domain_id, rows in wanted.items()
    }


def _unlikely(rows: Sequence[tuple[int, str, UUID]]) -> list[tuple[int, str, UUID]]:
    """Return the sitemaps that are unlikely to list pages with contacts, if there are others."""
    unlikely = [each for each in rows if each[0] == UNLIKELY]
    return unlikely if len(unlikely) < len(rows) else []


async def skip_if_pages_suffice(session: AsyncSession, domains: Sequence[Domain], chosen: Sequence[UUID]) -> None:
    """Skip the queued sitemaps of sites that have all the pages their rules allow, with those chosen just now.

    Sitemaps that a person has selected are read all the same.
    """
    rules = await rules_of(session, {domain.search_id for domain in domains})
    limits = {
        domain.id: rules[domain.search_id].pages_per_site
        for domain in domains
        if rules[domain.search_id].pages_per_site and rules[domain.search_id].value_of(PAGES) != "off"
    }
    if limits:
        driver = await driver_connection(session)
        await driver.execute(_SKIP, list(limits), list(limits.values()), list(chosen), PAGES_SUFFICE)


def _rows(domain: Domain, found: SitemapSearch) -> list[dict[str, Any]]:
    rows = [_values(domain, sitemap) for sitemap in found.sitemaps]
    if all(row["kind"] in FEEDS for row in rows):  # none, or only feeds, which list news and no contact page
        rows.append(_home_page(domain, found.site))
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


def _home_page(domain: Domain, site: str) -> dict[str, Any]:
    """Build the row for a home page whose links are read instead of a sitemap."""
    return {
        "id": new_id(),
        "domain_id": domain.id,
        "url": domain.final_url or site,
        "kind": LINKS,
        "discovered_by": "no sitemap",
        "last_modified": None,
    }


_SKIP = """
WITH full_site AS (
    SELECT domain_id FROM unnest($1::uuid[], $2::int[]) AS s(domain_id, pages_per_site)
    WHERE EXISTS (SELECT FROM sitemap_file f WHERE f.domain_id = s.domain_id AND f.sitemap_import_status = 'Queued')
        AND pages_per_site <= (SELECT count(*) FROM page p
            WHERE p.domain_id = s.domain_id AND (p.page_processing_status <> 'New' OR p.id = ANY ($3::uuid[])))
), unneeded AS (
    SELECT f.id FROM sitemap_file f JOIN full_site USING (domain_id)
    WHERE f.sitemap_import_status = 'Queued' AND f.curation_status = 'New' ORDER BY f.id
    FOR NO KEY UPDATE OF f SKIP LOCKED
)
UPDATE sitemap_file f SET sitemap_import_status = 'Skipped', sitemap_import_error = $4, sitemap_import_due_at = NULL,
    updated_at = now()
FROM unneeded WHERE f.id = unneeded.id"""

_SKIP_UNLIKELY = """
UPDATE sitemap_file SET sitemap_import_status = 'Skipped', sitemap_import_error = $2, updated_at = now()
WHERE id = ANY ($1::uuid[]) AND sitemap_import_status = 'New' AND curation_status = 'New'"""

_UPSERT = """
INSERT INTO sitemap_file AS known (id, tenant_id, domain_id, url, kind, discovered_by, last_modified)
SELECT id, $1, domain_id, url, kind, discovered_by, last_modified
FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
    AS s(id, domain_id, url, kind, discovered_by, last_modified)
ON CONFLICT (tenant_id, domain_id, url) DO UPDATE SET kind = coalesce(excluded.kind, known.kind),
    discovered_by = excluded.discovered_by, last_modified = excluded.last_modified, updated_at = now()
RETURNING id, domain_id, url, kind, curation_status"""
