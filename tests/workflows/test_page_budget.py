"""A page budget that is left over is spent on shallow pages of which nothing is known."""

import pytest

from scrapersky.store.line.pages import LEFT_OVER
from tests.workflows.test_web_steps import CONTACT, SITEMAP, site, walk  # noqa: F401 - walk is a fixture

MENU = """<html lang="fi"><body><nav><a href="/yhteystiedot">Yhteystiedot</a> <a href="/kylpyla">Kylpylä</a>
<a href="/ranta/sauna">Sauna</a> <a href="/a/b/c">Syvällä</a> <a href="/tag/sauna">Sauna</a> <a href="/blogi">Blogi</a>
<a href="/tietosuoja">Tietosuoja</a> <a href="/tuote/pyyhe">Pyyhe</a> <a href="/kesa">Kesäkauden pitkä otsikko joka on
uutinen
</a></nav><h1>Kylpylä</h1></body></html>"""
PAGES = {"/": (MENU, "text/html"), "/yhteystiedot": (CONTACT, "text/html")}
UNKNOWN = ["http://hammas-oy.fi/kylpyla", "http://hammas-oy.fi/ranta/sauna"]


async def filled(admin):
    rows = await admin.fetch("SELECT url FROM page WHERE kind_reason = $1 ORDER BY url", LEFT_OVER)
    queued = await admin.fetch(
        "SELECT url FROM page WHERE page_processing_status = 'Queued' AND kind = 'other' ORDER BY url"
    )
    assert rows == queued
    return [row["url"] for row in rows]


@pytest.mark.parametrize(("setting", "expected"), [("true", UNKNOWN), ("false", [])])
async def test_a_budget_that_is_left_over_is_spent_unless_the_setting_is_off(walk, admin, setting, expected):  # noqa: F811
    async with site(PAGES) as port:
        line = walk(port, CRAWL_FILL_PAGE_BUDGET=setting)
        await line.start()
        await line.run("domain_metadata", "sitemap_analysis", "sitemap_import")
        assert await filled(admin) == expected
        known = await line.one("SELECT count(*) FROM page WHERE page_processing_status = 'Queued' AND kind <> 'other'")
        assert known[0] == 2  # the contact page and the home page


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ('{"pages_per_site": 3}', UNKNOWN[:1]),
        ('{"pages_per_site": 2}', []),
        ('{"page_kinds": ["contact"]}', []),
        ('{"page_curation": "off"}', []),
    ],
)
async def test_known_pages_come_first_and_the_rules_are_kept(walk, admin, tenant, rules, expected):  # noqa: F811
    async with site(PAGES) as port:
        line = walk(port)
        await line.start()
        search = await admin.fetchval(
            "INSERT INTO search (tenant_id, text, provider, rules) VALUES ($1, 'x', 'y', $2) RETURNING id",
            tenant,
            rules,
        )
        await admin.execute("UPDATE domain SET search_id = $1", search)
        await line.run("domain_metadata", "sitemap_analysis", "sitemap_import")
        assert await filled(admin) == expected


async def test_nothing_is_filled_while_another_list_of_the_site_waits(walk, admin, tenant):  # noqa: F811
    listed = SITEMAP.replace("tietoa", "kylpyla")
    pages = {**PAGES, "/sitemap.xml": (listed, "application/xml")}
    async with site(pages) as port:
        line = walk(port)
        await line.start()
        await line.run("domain_metadata", "sitemap_analysis")
        await admin.execute(
            "INSERT INTO sitemap_file (tenant_id, domain_id, url, kind, sitemap_import_status, sitemap_import_due_at) "
            "SELECT tenant_id, id, 'http://hammas-oy.fi/two.xml', 'urlset', 'Processing', now() + interval '1 hour' "
            "FROM domain"
        )
        await line.run("sitemap_import")
        assert await filled(admin) == []
