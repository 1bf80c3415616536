"""Named queries about sitemap files."""

from typing import Any
from uuid import UUID

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.ids import new_id
from scrapersky.core.status import Curation
from scrapersky.crawl.sitemap_entry import SitemapKind, parse_lastmod
from scrapersky.crawl.sitemap_search import FoundSitemap, SitemapSearch
from scrapersky.models import Domain, SitemapFile

FEEDS = (SitemapKind.RSS.value, SitemapKind.ATOM.value)
LINKS = "links"  # the kind of a home page that stands in for a sitemap
UNWANTED = (Curation.NOT_A_FIT, Curation.ARCHIVED)
ROWS_AT_ONCE = 1000


async def upsert(session: AsyncSession, domain: Domain, found: SitemapSearch) -> list[UUID]:
    """Each sitemap once per domain; the ids of those that list pages and that nobody turned down."""
    rows = [_values(domain, sitemap) for sitemap in found.sitemaps]
    if all(row["kind"] in FEEDS for row in rows):  # nothing, or feeds, which list news and no contact page
        rows.append(_home_page(domain))
    unique = {row["url"]: row for row in rows}
    wanted: list[UUID] = []
    ordered = [unique[url] for url in sorted(unique)]
    for start in range(0, len(ordered), ROWS_AT_ONCE):
        statement = insert(SitemapFile).values(ordered[start : start + ROWS_AT_ONCE])
        stored = await session.execute(
            statement.on_conflict_do_update(
                index_elements=["tenant_id", "domain_id", "url"],
                set_={
                    "kind": func.coalesce(statement.excluded.kind, SitemapFile.kind),
                    "discovered_by": statement.excluded.discovered_by,
                    "last_modified": statement.excluded.last_modified,
                    "updated_at": func.now(),
                },
            ).returning(SitemapFile.id, SitemapFile.kind, SitemapFile.curation_status)
        )
        wanted += [
            row.id for row in stored if row.kind != SitemapKind.INDEX.value and row.curation_status not in UNWANTED
        ]
    return wanted


def _values(domain: Domain, sitemap: FoundSitemap) -> dict[str, Any]:
    return {
        "id": new_id(),
        "tenant_id": domain.tenant_id,
        "domain_id": domain.id,
        "url": sitemap.url,
        "kind": sitemap.kind.value if sitemap.kind else None,
        "discovered_by": sitemap.how.value,
        "last_modified": parse_lastmod(sitemap.lastmod_text) if sitemap.lastmod_text else None,
    }


def _home_page(domain: Domain) -> dict[str, Any]:
    """No sitemap: the links of the home page are read like one."""
    return {
        "id": new_id(),
        "tenant_id": domain.tenant_id,
        "domain_id": domain.id,
        "url": domain.final_url or domain.start_url or f"https://{domain.name}/",
        "kind": LINKS,
        "discovered_by": "no sitemap",
        "last_modified": None,
    }
