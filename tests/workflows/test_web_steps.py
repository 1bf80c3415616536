"""WF4 to WF7 on a real little site: metadata, sitemaps, pages, contacts; and what happens when it is not there."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from aiohttp import web as server

from scrapersky.crawl.web import Web
from scrapersky.engine.loop import run_job_loop
from scrapersky.pipeline import build_pipeline
from scrapersky.store.line.home_links import LINKS_SUFFICE
from scrapersky.store.line.sitemaps import IS_UNLIKELY, MAX_QUEUED
from scrapersky.store.searches import resume
from scrapersky.store.searches.browser_rule import BrowserRules
from scrapersky.store.shared.body_cache import SharedBodyCache
from scrapersky.store.shared.host_limits import SharedHostLimits
from scrapersky.store.steps import AdvanceRules
from tests.conftest import make_settings, processors_of

HOME = """<html lang="fi"><head><title>Hammas Oy</title><meta name="generator" content="WordPress 6.4"></head>
<body><nav><a href="/yhteystiedot">Yhteystiedot</a> <a href="/tietoa">Tietoa meistä</a> <a href="/blogi">Blogi</a></nav>
<h1>Hammas Oy</h1></body></html>"""
CONTACT = """<html lang="fi"><body><h1>Yhteystiedot</h1><p>Soita: 09 6131 4720</p>
<p><a href="mailto:info@hammas-oy.fi">info@hammas-oy.fi</a></p>
<a href="https://www.facebook.com/hammasoy">Facebook</a></body></html>"""
SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://hammas-oy.fi/yhteystiedot</loc><lastmod>2026-01-02</lastmod></url>
<url><loc>http://hammas-oy.fi/tietoa</loc></url>
<url><loc>http://hammas-oy.fi/blogi/eka</loc></url>
<url><loc>http://hammas-oy.fi/blogi/toka</loc></url></urlset>"""
WITH_SITEMAP = {
    "/": (HOME, "text/html"),
    "/robots.txt": ("User-agent: *\nAllow: /\nSitemap: http://hammas-oy.fi/kartta.xml\n", "text/plain"),
    "/kartta.xml": (SITEMAP, "application/xml"),
    "/yhteystiedot": (CONTACT, "text/html"),
    "/tietoa": ("<html><body><h1>Tietoa meistä</h1></body></html>", "text/html"),
}
WITHOUT_SITEMAP = {path: page for path, page in WITH_SITEMAP.items() if path not in ("/robots.txt", "/kartta.xml")}


@asynccontextmanager
async def site(pages: Mapping[str, tuple[str, str]], asked: list[str] | None = None) -> AsyncIterator[int]:
    """A web site on loopback; the port it listens on. The path of every request is appended to `asked`."""

    async def answer(request: server.Request) -> server.Response:
        if asked is not None:
            asked.append(request.path)
        if request.path not in pages:
            return server.Response(status=404, text="not here")
        body, kind = pages[request.path]
        return server.Response(text=body, content_type=kind, headers={"ETag": f'"{len(body)}"'})

    app = server.Application()
    app.router.add_route("GET", "/{path:.*}", answer)
    runner = server.AppRunner(app)
    await runner.setup()
    listening = server.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


class Walk:
    """The steps of the line, run by hand against one site."""

    def __init__(self, database, database_url: str, port: int, admin, tenant, **variables: str) -> None:
        defaults = {
            "CRAWL_HOST_OVERRIDES": f"hammas-oy.fi=127.0.0.1:{port}",
            "CRAWL_ALLOWED_PRIVATE_NETWORKS": f"127.0.0.1:{port}",
            "CRAWL_HOST_DELAY_SECONDS": "0",
            "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
            "CRAWL_PARSER_PROCESSES": "1",
        }
        settings = make_settings(database_url, **{**defaults, **variables})
        self.web = Web(settings, SharedHostLimits(database, settings), SharedBodyCache(database, settings))
        pipeline = build_pipeline({}, self.web, browser_rules=BrowserRules(database))
        self.processors = processors_of(pipeline, database, settings)
        self.admin, self.tenant = admin, tenant

    async def start(self, search_id: UUID | None = None) -> None:
        await self.admin.execute(
            "INSERT INTO domain (tenant_id, search_id, name, start_url, country, domain_metadata_status) "
            "VALUES ($1, $2, 'hammas-oy.fi', 'http://hammas-oy.fi/', 'FI', 'Queued')",
            self.tenant,
            search_id,
        )

    async def run(self, *steps: str) -> None:
        for step in steps:
            await run_job_loop(self.processors[step])

    async def one(self, sql: str) -> Any:
        return await self.admin.fetchrow(sql)


@pytest.fixture
async def walk(database, database_url, admin, tenant):
    walks: list[Walk] = []

    def make(port: int, **variables: str) -> Walk:
        walks.append(Walk(database, database_url, port, admin, tenant, **variables))
        return walks[-1]

    yield make
    for one in walks:
        await one.web.close()


async def search_with(admin, tenant, **rules: Any) -> UUID:
    """Insert a search with these rules."""
    insert = "INSERT INTO search (tenant_id, text, provider, rules) VALUES ($1, 'x', 'y', $2) RETURNING id"
    search_id: UUID = await admin.fetchval(insert, tenant, json.dumps(rules))
    return search_id


STEPS = ("domain_metadata", "sitemap_analysis", "sitemap_import", "page_curation")


async def test_a_domain_becomes_contacts_step_by_step(walk):
    async with site(WITH_SITEMAP) as port:
        line = walk(port)
        await line.start()
        await line.run("domain_metadata")
        domain = await line.one("SELECT * FROM domain")
        assert (domain["title"], domain["language"], domain["generator"]) == ("Hammas Oy", "fi", "WordPress 6.4")
        assert (domain["final_url"], domain["http_status"]) == ("http://hammas-oy.fi/", 200)
        assert domain["sitemap_analysis_status"] == "Queued"
        links = await line.one("SELECT * FROM sitemap_file")
        assert (links["kind"], links["discovered_by"], links["url_count"]) == ("links", "home page", 4)
        queued = await line.admin.fetch("SELECT url FROM page WHERE page_processing_status = 'Queued' ORDER BY url")
        assert [row["url"] for row in queued] == [
            f"http://hammas-oy.fi/{path}" for path in ("", "tietoa", "yhteystiedot")
        ]

        await line.run("sitemap_analysis")
        sitemap = await line.one("SELECT * FROM sitemap_file WHERE kind <> 'links'")
        assert (sitemap["kind"], sitemap["discovered_by"]) == ("urlset", "robots.txt")
        assert (await line.one("SELECT sitemap_result FROM domain"))[0] == "found"

        await line.run("sitemap_import")
        pages = {row["url"]: row for row in await line.admin.fetch("SELECT * FROM page")}
        assert len(pages) == 6
        contact = pages["http://hammas-oy.fi/yhteystiedot"]
        assert (contact["kind"], contact["page_processing_status"], contact["country"]) == ("contact", "Queued", "FI")
        assert contact["last_modified"].date().isoformat() == "2026-01-02"
        assert pages["http://hammas-oy.fi/blogi/eka"]["page_processing_status"] == "New"
        assert (await line.one("SELECT url_count FROM sitemap_file WHERE kind <> 'links'"))[0] == 4

        await line.run("page_curation")
        found = {row["identity"]: row for row in await line.admin.fetch("SELECT * FROM contact")}
        assert {"email:info@hammas-oy.fi", "phone:+358961314720"} <= set(found)
        email = found["email:info@hammas-oy.fi"]
        assert (email["email_kind"], email["source_url"]) == ("role", "http://hammas-oy.fi/yhteystiedot")
        assert email["snippet"]
        read = await line.one("SELECT * FROM page WHERE url LIKE '%tietoa'")
        assert (read["page_processing_status"], read["contact_count"]) == ("Completed", 0)


async def test_no_page_is_requested_twice(walk):
    asked: list[str] = []
    async with site(of_index(SITEMAP), asked) as port:
        line = walk(port)
        await line.start()
        await line.run(*STEPS)
        unlikely = await line.one("SELECT * FROM sitemap_file WHERE url LIKE '%/post-sitemap-7.xml'")
        assert (unlikely["sitemap_import_status"], unlikely["sitemap_import_error"]) == ("Skipped", IS_UNLIKELY)
        assert (await line.one("SELECT count(*) FROM contact WHERE email = 'info@hammas-oy.fi'"))[0] == 1
    assert Counter(asked) == Counter(
        ["/robots.txt", "/", "/kartta.xml", "/page-sitemap.xml", "/yhteystiedot", "/tietoa"]
    )


async def test_without_the_cache_a_page_is_requested_by_each_step_that_reads_it(walk):
    asked: list[str] = []
    async with site(WITHOUT_SITEMAP, asked) as port:
        line = walk(port, CRAWL_BODY_CACHE_SECONDS="0")
        await line.start()
        await line.run(*STEPS)
    assert Counter(asked)["/"] == 4  # metadata, links to sitemaps, links to pages, contacts


@pytest.mark.parametrize(("rule", "status"), [("needed", "Skipped"), ("all", "Queued")])
async def test_sitemaps_are_looked_for_if_the_home_page_links_to_too_few_pages(walk, admin, tenant, rule, status):
    async with site(WITH_SITEMAP) as port:
        line = walk(port)
        await line.start(search_id=await search_with(admin, tenant, pages_per_site=3, sitemap_analysis=rule))
        await line.run("domain_metadata")
        domain = await line.one("SELECT sitemap_analysis_status, sitemap_analysis_error FROM domain")
        assert tuple(domain) == (status, LINKS_SUFFICE if status == "Skipped" else None)
        assert (await line.one("SELECT count(*) FROM page WHERE page_processing_status = 'Queued'"))[0] == 3


async def test_a_search_that_wants_more_pages_looks_for_the_sitemaps_it_did_not_need(walk, admin, tenant, database):
    async with site(WITH_SITEMAP) as port:
        line = walk(port)
        search_id = await search_with(admin, tenant, pages_per_site=3)
        await line.start(search_id=search_id)
        await line.run("domain_metadata")
        statuses = []
        for pages in (3, 4):
            rules = AdvanceRules(pages_per_site=pages)
            await admin.execute("UPDATE search SET rules = $1", rules.model_dump_json())
            async with database.session(tenant) as session:
                await resume.queue_analyses(session, [search_id], rules)
            statuses.append((await line.one("SELECT sitemap_analysis_status FROM domain"))[0])
        assert statuses == ["Skipped", "Queued"]


async def test_lists_of_pages_that_are_left_to_a_person_are_not_imported_from_the_home_page(walk, admin, tenant):
    async with site(WITHOUT_SITEMAP) as port:
        line = walk(port)
        await line.start(search_id=await search_with(admin, tenant, sitemap_import="off"))
        await line.run("domain_metadata", "sitemap_analysis")
        assert (await line.one("SELECT count(*) FROM page"))[0] == 0
        assert tuple(await line.one("SELECT kind, sitemap_import_status FROM sitemap_file")) == ("links", "New")


async def test_a_page_that_a_sitemap_names_with_www_is_read_once(walk):
    other_host = SITEMAP.replace("http://hammas-oy.fi/", "https://www.hammas-oy.fi/")
    async with site({**WITH_SITEMAP, "/kartta.xml": (other_host, "application/xml")}) as port:
        line = walk(port)
        await line.start()
        await line.run("domain_metadata", "sitemap_analysis", "sitemap_import")
        queued = await line.admin.fetch("SELECT url FROM page WHERE page_processing_status = 'Queued' ORDER BY url")
        assert [row["url"] for row in queued] == [
            f"http://hammas-oy.fi/{path}" for path in ("", "tietoa", "yhteystiedot")
        ]


async def test_without_a_sitemap_the_links_of_the_home_page_are_followed(walk):
    async with site(WITHOUT_SITEMAP) as port:
        line = walk(port)
        await line.start()
        await line.run(*STEPS)
        assert (await line.one("SELECT sitemap_result FROM domain"))[0] == "none"
        assert (await line.one("SELECT kind FROM sitemap_file"))[0] == "links"
        assert (await line.one("SELECT count(*) FROM contact WHERE email = 'info@hammas-oy.fi'"))[0] == 1


async def test_a_scan_of_a_bare_name_tries_https_and_then_http(walk):
    async with site(WITH_SITEMAP) as port:
        line = walk(port)
        await line.start()
        await line.admin.execute("UPDATE domain SET start_url = NULL, sitemap_analysis_status = 'Queued'")
        await line.run("sitemap_analysis")
        domain = await line.one("SELECT sitemap_analysis_status, sitemap_result FROM domain")
        assert tuple(domain) == ("Completed", "found")


async def test_without_a_sitemap_the_home_page_that_responded_is_read(walk):
    async with site(WITHOUT_SITEMAP) as port:
        line = walk(port)
        await line.start()
        await line.admin.execute("UPDATE domain SET start_url = NULL, sitemap_analysis_status = 'Queued'")
        await line.run("sitemap_analysis")
        assert tuple(await line.one("SELECT url, kind FROM sitemap_file")) == ("http://hammas-oy.fi/", "links")


async def test_a_site_whose_robots_txt_forbids_everything_is_skipped(walk):
    async with site({**WITH_SITEMAP, "/robots.txt": ("User-agent: *\nDisallow: /\n", "text/plain")}) as port:
        line = walk(port)
        await line.start()
        await line.admin.execute("UPDATE domain SET sitemap_analysis_status = 'Queued'")
        await line.run("sitemap_analysis")
        domain = await line.one("SELECT sitemap_analysis_status, sitemap_analysis_error, sitemap_result FROM domain")
        assert (domain[0], domain[2]) == ("Skipped", None)
        assert "asks robots not to fetch" in domain[1]


CHILDREN = [f"/post-sitemap-{number}.xml" for number in range(60)] + ["/page-sitemap.xml"]


def of_index(page_list: str) -> dict[str, tuple[str, str]]:
    """Build a site whose index has many children, with pages in the likeliest one."""
    listed = "".join(f"<sitemap><loc>http://hammas-oy.fi{path}</loc></sitemap>" for path in CHILDREN)
    empty = "<urlset><url><loc>http://hammas-oy.fi/blogi/eka</loc></url></urlset>"
    return {
        **WITH_SITEMAP,
        "/kartta.xml": (f"<sitemapindex>{listed}</sitemapindex>", "application/xml"),
        **dict.fromkeys(CHILDREN, (empty, "application/xml")),
        "/page-sitemap.xml": (page_list, "application/xml"),
    }


STATUSES = "SELECT sitemap_import_status AS status, count(*) AS rows FROM sitemap_file GROUP BY 1"


async def test_only_the_likeliest_children_of_a_large_index_are_queued(walk, admin, tenant):
    async with site(of_index(SITEMAP)) as port:
        line = walk(port)
        await line.start(search_id=await search_with(admin, tenant, sitemap_import="all"))
        await line.run("domain_metadata", "sitemap_analysis")
        statuses = dict(await line.admin.fetch(STATUSES))
        assert statuses == {"Completed": 1, "Queued": MAX_QUEUED, "New": len(CHILDREN) + 1 - MAX_QUEUED}
        likeliest = "SELECT sitemap_import_status FROM sitemap_file WHERE url LIKE '%/page-sitemap.xml'"
        assert (await line.one(likeliest))[0] == "Queued"


async def test_when_a_site_has_all_its_pages_its_other_sitemaps_are_not_read(walk, admin, tenant):
    pages = "".join(f"<url><loc>http://hammas-oy.fi/yhteystiedot/{number}</loc></url>" for number in range(5))
    async with site(of_index(f"<urlset>{pages}</urlset>")) as port:
        line = walk(port)
        await line.start(search_id=await search_with(admin, tenant, sitemap_import="all"))
        await line.run("domain_metadata", "sitemap_analysis")
        await line.admin.execute("DELETE FROM page")
        await line.admin.execute("DELETE FROM sitemap_file WHERE kind = 'links'")
        await line.admin.execute(
            "UPDATE sitemap_file SET sitemap_import_status = 'New' WHERE url NOT LIKE '%/page-sitemap.xml'"
        )
        other = "UPDATE sitemap_file SET sitemap_import_status = 'Queued', sitemap_import_due_at = now() + '1 hour'"
        await line.admin.execute(f"{other} WHERE url LIKE '%/post-sitemap-_.xml'")
        await line.admin.execute(
            "UPDATE sitemap_file SET curation_status = 'Selected' WHERE url LIKE '%/post-sitemap-3.xml'"
        )
        await line.run("sitemap_import")
        assert dict(await line.admin.fetch(STATUSES)) == {"New": 51, "Completed": 1, "Skipped": 9, "Queued": 1}
        skipped = await line.one("SELECT * FROM sitemap_file WHERE sitemap_import_status = 'Skipped' LIMIT 1")
        assert "the site has as many pages as its search reads" in skipped["sitemap_import_error"]
        assert (await line.one("SELECT count(*) FROM page WHERE page_processing_status = 'Queued'"))[0] == 5


async def test_a_feed_is_no_reason_to_leave_the_home_page_out(walk):
    feed = """<?xml version="1.0"?><rss version="2.0"><channel><title>x</title>
        <item><link>http://hammas-oy.fi/blogi/eka</link></item></channel></rss>"""
    pages = {
        **WITHOUT_SITEMAP,
        "/robots.txt": ("User-agent: *\nSitemap: http://hammas-oy.fi/feed\n", "text/plain"),
        "/feed": (feed, "application/rss+xml"),
    }
    async with site(pages) as port:
        line = walk(port)
        await line.start()
        await line.run(*STEPS)
        kinds = {row[0] for row in await line.admin.fetch("SELECT kind FROM sitemap_file")}
        assert kinds == {"rss", "links"}
        assert (await line.one("SELECT count(*) FROM contact WHERE email = 'info@hammas-oy.fi'"))[0] == 1


async def test_processing_the_line_again_duplicates_nothing_and_keeps_decisions(walk):
    async with site(WITH_SITEMAP) as port:
        line = walk(port)
        await line.start()
        await line.run(*STEPS)
        await line.admin.execute(
            "UPDATE contact SET curation_status = 'Selected', name = 'Kept' WHERE email IS NOT NULL"
        )
        counts = (
            "SELECT (SELECT count(*) FROM page), (SELECT count(*) FROM contact), (SELECT count(*) FROM sitemap_file)"
        )
        before = tuple(await line.one(counts))
        await line.admin.execute("UPDATE domain SET domain_metadata_status = 'Queued'")
        await line.admin.execute("UPDATE page SET page_processing_status = 'Queued', etag = NULL")
        await line.run(*STEPS)
        assert tuple(await line.one(counts)) == before
        kept = await line.one("SELECT curation_status, name FROM contact WHERE email <> ''")
        assert tuple(kept) == ("Selected", "Kept")


async def test_a_page_that_did_not_change_is_not_read_again(walk):
    async with site(WITH_SITEMAP) as port:
        line = walk(port)
        await line.start()
        await line.run(*STEPS)
        await line.admin.execute("UPDATE page SET page_processing_status = 'Queued' WHERE url LIKE '%yhteystiedot'")
        await line.run("page_curation")
        page = await line.one("SELECT * FROM page WHERE url LIKE '%yhteystiedot'")
        assert (page["http_status"], page["page_processing_status"]) == (200, "Completed")
        assert page["contact_count"] >= 2


async def test_a_search_may_choose_fewer_pages(walk, admin, tenant):
    async with site(WITH_SITEMAP) as port:
        line = walk(port)
        await line.start()
        search = await admin.fetchval(
            "INSERT INTO search (tenant_id, text, provider, rules) VALUES ($1, 'x', 'y', $2) RETURNING id",
            tenant,
            '{"pages_per_site": 1, "page_kinds": ["contact"]}',
        )
        await admin.execute("UPDATE domain SET search_id = $1", search)
        await line.run("domain_metadata", "sitemap_analysis", "sitemap_import")
        chosen = await admin.fetch("SELECT url FROM page WHERE page_processing_status = 'Queued'")
        assert [row[0] for row in chosen] == ["http://hammas-oy.fi/yhteystiedot"]


async def test_a_step_that_a_rule_turns_off_waits_for_a_person(walk, admin, tenant):
    async with site(WITH_SITEMAP) as port:
        line = walk(port)
        await line.start()
        search = await admin.fetchval(
            "INSERT INTO search (tenant_id, text, provider, rules) VALUES ($1, 'x', 'y', $2) RETURNING id",
            tenant,
            '{"sitemap_analysis": "off"}',
        )
        await admin.execute("UPDATE domain SET search_id = $1", search)
        await line.run("domain_metadata")
        domain = await line.one("SELECT domain_metadata_status, sitemap_analysis_status FROM domain")
        assert tuple(domain) == ("Completed", "New")


async def test_a_site_that_forbids_it_is_skipped_with_that_reason(walk):
    pages = {**WITH_SITEMAP, "/robots.txt": ("User-agent: *\nDisallow: /\n", "text/plain")}
    async with site(pages) as port:
        line = walk(port)
        await line.start()
        await line.run("domain_metadata")
        domain = await line.one("SELECT * FROM domain")
        assert domain["domain_metadata_status"] == "Skipped"
        assert "robots.txt" in domain["domain_metadata_error"]


async def test_a_parked_domain_is_skipped_and_gives_no_contact(walk):
    parked = "<title>hammas-oy.fi</title><p>Tämä verkkotunnus on myynnissä: <a href='mailto:myynti@x.fi'>osta</a></p>"
    async with site({"/": (parked, "text/html")}) as port:
        line = walk(port)
        await line.start()
        await line.run(*STEPS)
        domain = await line.one("SELECT * FROM domain")
        assert (domain["domain_metadata_status"], domain["sitemap_analysis_status"]) == ("Skipped", "New")
        assert domain["domain_metadata_error"].startswith("the domain is parked: its page says")
        assert domain["facts"] is None
        assert (await line.one("SELECT count(*) FROM contact"))[0] == 0


async def test_a_site_that_is_not_there_is_tried_again(walk):
    line = walk(1)
    await line.start()
    await line.run("domain_metadata")
    domain = await line.one("SELECT * FROM domain")
    assert (domain["domain_metadata_status"], domain["domain_metadata_attempts"]) == ("Queued", 1)
    assert domain["domain_metadata_due_at"] is not None
    assert "hammas-oy.fi" in domain["domain_metadata_error"]


async def test_a_url_that_is_no_page_is_filtered(walk):
    pages = {**WITH_SITEMAP, "/yhteystiedot": ("%PDF-1.4", "application/pdf")}
    async with site(pages) as port:
        line = walk(port)
        await line.start()
        await line.run(*STEPS)
        page = await line.one("SELECT * FROM page WHERE url LIKE '%yhteystiedot'")
        assert page["page_processing_status"] == "Skipped"
        assert page["page_processing_error"] == "filtered: it is application/pdf, not a page"


SHELL = "<title>x</title><div id='root'></div><script type='module' src='/assets/index-4f3a9c21.js'></script>"


async def test_a_site_drawn_by_javascript_goes_on_and_its_pages_say_so(walk):
    pages = {**WITH_SITEMAP, **dict.fromkeys(("/", "/yhteystiedot", "/tietoa"), (SHELL, "text/html"))}
    async with site(pages) as port:
        line = walk(port)
        await line.start()
        await line.run(*STEPS)
        domain = await line.one("SELECT * FROM domain")
        assert (domain["domain_metadata_status"], domain["hidden_reason"]) == ("Completed", "javascript")
        read = await line.one(
            "SELECT count(*), min(hidden_reason), max(hidden_reason) FROM page "
            "WHERE page_processing_status = 'Completed'"
        )
        assert (read[0] > 0, read[1], read[2]) == (True, "javascript", "javascript")


async def test_a_page_that_shows_its_contact_is_no_longer_hidden(walk):
    pages = {**WITH_SITEMAP, "/yhteystiedot": (SHELL, "text/html")}
    async with site(pages) as port:
        line = walk(port)
        await line.start()
        await line.run(*STEPS)
        assert (await line.one("SELECT hidden_reason FROM page WHERE url LIKE '%yhteystiedot'"))[0] == "javascript"
        pages["/yhteystiedot"] = (CONTACT, "text/html")
        await line.admin.execute("UPDATE page SET page_processing_status = 'Queued'")
        await line.run("page_curation")
        page = await line.one("SELECT * FROM page WHERE url LIKE '%yhteystiedot'")
        assert (page["hidden_reason"], page["contact_count"] > 0) == (None, True)


async def test_a_parked_domain_and_a_bot_check_are_skipped_with_their_reason(walk):
    for body, reason in (
        ("<p>This domain is for sale.</p>", "parked"),
        ("<title>Just a moment...</title><script>window._cf_chl_opt={}</script>", "bot_check"),
    ):
        async with site({"/": (body, "text/html")}) as port:
            line = walk(port)
            await line.admin.execute("DELETE FROM domain")
            await line.start()
            await line.run(*STEPS)
            domain = await line.one("SELECT * FROM domain")
            assert (domain["domain_metadata_status"], domain["hidden_reason"]) == ("Skipped", reason)
            assert domain["sitemap_analysis_status"] == "New"
            assert (await line.one("SELECT count(*) FROM dead_letter"))[0] == 0
