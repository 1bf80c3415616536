"""The links of a home page, imported when the home page is read, so that its best pages need no sitemap."""

from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.engine.settle import driver_connection
from scrapersky.models import Domain, SitemapFile
from scrapersky.store.line import pages
from scrapersky.store.line.page_lists import ImportedPages, best_pages
from scrapersky.store.line.pages import ChosenPage
from scrapersky.store.line.sitemaps import LINKS
from scrapersky.store.steps import NOT_NEEDED, AdvanceRules

DISCOVERED_BY = "home page"
LINKS_SUFFICE = (
    "not needed: the home page links to as many pages as its search reads; select the domain to look for sitemaps all "
    "the same"
)


async def import_links(
    session: AsyncSession, found: Sequence[tuple[Domain, ImportedPages]], rules: Mapping[UUID | None, AdvanceRules]
) -> list[ChosenPage]:
    """Store the linked pages of these domains; return those that enter the next step.

    Domains whose rules leave the lists of pages to a person are left out: their links are a list to decide about.
    """
    lists = [(domain, imported) for domain, imported in found if _imports_lists(rules[domain.search_id])]
    if not lists:
        return []
    stored = await _store_lists(session, lists)
    domains = {domain.id: domain for domain, _ in lists}
    files = ((SitemapFile(**stored[domain.id]), imported.spool) for domain, imported in lists)
    await pages.store(session, domains, files)
    picks = best_pages([(domain.id, imported) for domain, imported in lists])
    return await pages.choose(session, domains.values(), picks)


async def skip_analysis_if_links_suffice(
    session: AsyncSession,
    domains: Sequence[Domain],
    chosen: Sequence[ChosenPage],
    rules: Mapping[UUID | None, AdvanceRules],
) -> list[Domain]:
    """Skip sitemap_analysis where the chosen pages are as many as the search reads; return the other domains."""
    counts = Counter(page.domain_id for page in chosen)
    full = {page.domain_id for page in chosen if counts[page.domain_id] >= page.free}
    sufficient = [each.id for each in domains if each.id in full and rules[each.search_id].sitemap_analysis == "needed"]
    if sufficient:
        await (await driver_connection(session)).execute(_SKIP, sufficient, NOT_NEEDED, LINKS_SUFFICE)
    return [domain for domain in domains if domain.id not in sufficient]


def _imports_lists(rules: AdvanceRules) -> bool:
    return "off" not in (rules.sitemap_analysis, rules.sitemap_import)


async def _store_lists(
    session: AsyncSession, lists: Sequence[tuple[Domain, ImportedPages]]
) -> dict[UUID, dict[str, UUID]]:
    """Insert or update the list of each domain; return id, domain and tenant of each list by domain."""
    tenant_id = lists[0][0].tenant_id
    rows = sorted((domain.id, new_id(), domain.final_url, imported.spool.count) for domain, imported in lists)
    columns = map(list, zip(*rows, strict=True))
    driver = await driver_connection(session)
    stored = await driver.fetch(_STORE, tenant_id, LINKS, DISCOVERED_BY, *columns)
    return {row["domain_id"]: {**row, "tenant_id": tenant_id} for row in stored}


_STORE = """
INSERT INTO sitemap_file AS known (id, tenant_id, domain_id, url, kind, discovered_by, url_count, sitemap_import_status)
SELECT id, $1, domain_id, url, $2, $3, url_count, 'Completed'
FROM unnest($4::uuid[], $5::uuid[], $6::text[], $7::int[]) AS l(domain_id, id, url, url_count)
ON CONFLICT (tenant_id, domain_id, url) DO UPDATE SET kind = excluded.kind, url_count = excluded.url_count,
    sitemap_import_status = CASE WHEN known.sitemap_import_status = 'New' THEN 'Completed'
        ELSE known.sitemap_import_status END,
    updated_at = now()
RETURNING id, domain_id"""

_SKIP = """
UPDATE domain SET sitemap_analysis_status = 'Skipped', sitemap_result = $2, sitemap_analysis_error = $3,
    updated_at = now()
WHERE id = ANY ($1::uuid[]) AND sitemap_analysis_status = 'New'"""
