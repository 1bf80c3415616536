"""Lists of pages are stored together, and a site gives no more pages than its rules say, however many lists it has."""

from uuid import UUID

import pytest
from tests.factories.line_rows import add, add_line

from scrapersky.models import SitemapFile
from scrapersky.store.line import pages
from scrapersky.store.line.pages import PageRow, Spool

MOST = 5  # pages per site by the ordinary rules


def spool_of(*rows: PageRow) -> Spool:
    spool = Spool()
    for row in rows:
        spool.add(row)
    return spool


def contact_page(path: str, score: float = 0.9) -> PageRow:
    return PageRow(f"https://molar.fi/{path}", "contact", score, "its name", "2026-01-02")


@pytest.fixture
async def sitemaps(admin, tenant) -> list[UUID]:
    """Two sitemaps of one domain."""
    line = await add_line(admin, tenant)
    await admin.execute("DELETE FROM page")
    other = await add(admin, "sitemap_file", tenant, domain_id=UUID(line["domains"]), url="https://molar.fi/2.xml")
    return [UUID(line["sitemaps"]), UUID(other)]


async def store(session, sitemaps: list[UUID], spools: list[Spool]):
    rows = [await session.get(SitemapFile, sitemap_id) for sitemap_id in sitemaps]
    domains = await pages.domains_of(session, rows)
    await pages.store(session, domains, zip(rows, spools, strict=True))
    return domains


async def test_a_page_in_two_sitemaps_is_stored_once_with_the_higher_score(database, admin, tenant, sitemaps):
    async with database.session(tenant) as session:
        await store(session, sitemaps, [spool_of(contact_page("a", 0.4)), spool_of(contact_page("a", 0.8))])
    stored = await admin.fetch("SELECT url, kind_score, last_modified::date::text AS day FROM page")
    assert [tuple(row) for row in stored] == [("https://molar.fi/a", 0.8, "2026-01-02")]


async def test_sitemaps_of_any_length_are_stored_completely(database, admin, tenant, sitemaps):
    many = [contact_page(f"p{number}") for number in range(pages.ROWS_PER_STATEMENT + 1)]
    async with database.session(tenant) as session:
        await store(session, sitemaps, [spool_of(*many), spool_of(contact_page("last"))])
    assert await admin.fetchval("SELECT count(*) FROM page") == len(many) + 1


async def test_the_sitemaps_of_a_site_share_its_number_of_pages(database, tenant, sitemaps):
    rows = [contact_page(f"p{number}") for number in range(2 * MOST)]
    async with database.session(tenant) as session:
        domains = await store(session, sitemaps, [spool_of(*rows[:MOST]), spool_of(*rows[MOST:])])
        picks = {domain_id: [(row.url, row.kind) for row in rows] for domain_id in domains}
        chosen = await pages.choose(session, domains.values(), picks)
    assert len(chosen) == MOST


async def test_rejected_pages_are_not_chosen(database, admin, tenant, sitemaps):
    async with database.session(tenant) as session:
        await store(session, sitemaps, [spool_of(contact_page("a")), spool_of(contact_page("b"))])
    await admin.execute("UPDATE page SET curation_status = 'Not a Fit' WHERE url LIKE '%/a'")
    async with database.session(tenant) as session:
        domains = await store(session, sitemaps, [spool_of(), spool_of()])
        picks = {domain_id: [(f"https://molar.fi/{name}", "contact") for name in "ab"] for domain_id in domains}
        chosen = await pages.choose(session, domains.values(), picks)
    assert [str(await admin.fetchval("SELECT url FROM page WHERE id = $1", one.id)) for one in chosen] == [
        "https://molar.fi/b"
    ]
