"""A search finds the sitemaps of a real site on loopback, asks little, goes nowhere it should not, and says why."""

import gzip

import pytest

from scrapersky.crawl.errors import TooSoon
from scrapersky.crawl.sitemaps.discover import discover
from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.fetcher import VisitFetcher
from scrapersky.crawl.sitemaps.hints import html_links, likelihood_rank
from scrapersky.crawl.sitemaps.result import FoundBy, MissKind, SearchLimits, SearchOutcome, SitemapSearch, SitePolicy
from tests.factories.sitemap_site import crawling, serving
from tests.factories.sitemaps import record, urlset

HOME = "http://shop.example/"
PAGES = urlset(record("/a"), record("/b"))
HTML = "<!doctype html><html><body>404</body></html>"


def index(*locs: str) -> str:
    inside = "".join(f"<sitemap><loc>{loc}</loc><lastmod>2024-05-06</lastmod></sitemap>" for loc in locs)
    return f"<sitemapindex>{inside}</sitemapindex>"


async def search(answers, url=HOME, limits=None, *, sink=None, honour_robots=True) -> tuple[SitemapSearch, list[str]]:
    async with serving(answers) as site, crawling(site, honour_robots=honour_robots) as crawler:
        async with crawler.visit() as visit:
            result = await discover(url, VisitFetcher(visit), limits, sink)
        return result, site.asked


def urls(result: SitemapSearch) -> list[str]:
    return [found.url.removeprefix("http://shop.example") for found in result.sitemaps]


async def test_robots_lines_come_first_and_nothing_else_is_requested():
    robots = "User-agent: *\nAllow: /\nsitemap: http://shop.example/one.xml\nSITEMAP: /two.txt\n"
    result, asked = await search(
        {"/robots.txt": robots, "/one.xml": PAGES, "/two.txt": "http://shop.example/c\n", "/sitemap.xml": PAGES}
    )

    assert result.outcome is SearchOutcome.FOUND
    assert sorted(urls(result)) == ["/one.xml", "/two.txt"]
    assert {found.found_by for found in result.sitemaps} == {FoundBy.ROBOTS}
    assert {found.kind for found in result.sitemaps} == {SitemapKind.URLSET, SitemapKind.TEXT}
    assert sorted(asked) == ["/one.xml", "/robots.txt", "/two.txt"]


async def test_a_sitemap_beyond_the_limit_of_streamed_bodies_is_partial():
    long = urlset(*(record(f"/page-{number}") for number in range(2000)))
    found: list[str] = []

    def take(_: str, batch: list[SitemapEntry]) -> bool:
        found.extend(entry.loc for entry in batch)
        return True

    async with (
        serving({"/sitemap.xml": long}) as site,
        crawling(site, stream_bytes=20_000) as crawler,
        crawler.visit() as visit,
    ):
        result = await discover(HOME, VisitFetcher(visit), sink=take)

    assert 0 < len(found) < 1000
    assert result.sitemaps[0].partial == "larger than 20,000 bytes"


async def test_well_known_paths_are_requested_without_robots_lines():
    result, asked = await search({"/sitemap.xml": PAGES})

    assert (urls(result), result.sitemaps[0].found_by) == (["/sitemap.xml"], FoundBy.WELL_KNOWN)
    assert sorted(asked) == ["/robots.txt", "/sitemap.xml"]


async def test_robots_lines_without_a_sitemap_are_reported_and_the_search_continues():
    result, _ = await search({"/robots.txt": "Sitemap: /gone.xml", "/sitemap.xml": PAGES})

    assert urls(result) == ["/sitemap.xml"]
    assert (result.misses[0].found_by, result.misses[0].kind) == (FoundBy.ROBOTS, MissKind.NONE)
    assert "404" in result.misses[0].why


async def test_an_html_page_at_the_url_of_a_sitemap_is_not_a_sitemap():
    result, asked = await search(dict.fromkeys(["/", "/sitemap.xml", "/sitemap_index.xml", "/sitemap.txt"], HTML))

    assert result.outcome is SearchOutcome.NONE
    assert "HTML" in result.misses[0].why
    assert len(asked) <= 8
    assert result.why == f"No sitemap at any of {len(result.misses)} addresses."


async def test_links_of_the_home_page_lead_to_sitemaps():
    home = (
        '<html><a href="/about">x</a><a href=\'/maps/Sitemap-de.xml?a=1&amp;b=2\'>map</a><link rel="sitemap" href="s">'
    )
    result, _ = await search({"/": home, "/maps/Sitemap-de.xml?a=1&b=2": PAGES, "/s": PAGES})

    assert sorted(urls(result)) == ["/maps/Sitemap-de.xml?a=1&b=2", "/s"]
    assert result.sitemaps[0].found_by is FoundBy.HTML


async def test_a_feed_is_the_last_resort():
    home = '<html><link rel="alternate" type="application/rss+xml" href="/feed">'
    result, asked = await search({"/": home, "/feed": "<rss><channel><item><link>/a</link></item></channel></rss>"})

    assert (result.sitemaps[0].found_by, result.sitemaps[0].kind) == (FoundBy.FEED, SitemapKind.RSS)
    assert asked[-1] == "/feed"


async def test_less_common_paths_are_tried_last():
    result, _ = await search({"/": HTML, "/wp-sitemap.xml": index("/w1.xml"), "/w1.xml": PAGES})

    assert urls(result) == ["/wp-sitemap.xml", "/w1.xml"]


async def test_children_of_an_index_are_found_with_their_parent_and_lastmod():
    result, _ = await search(
        {"/sitemap.xml": index("/1.xml.gz", "2.xml"), "/1.xml.gz": gzip.compress(PAGES.encode()), "/2.xml": PAGES}
    )

    parent, *children = result.sitemaps
    assert (parent.kind, parent.depth, parent.entries) == (SitemapKind.INDEX, 0, 2)
    assert [(child.parent, child.depth, child.found_by, child.lastmod_text) for child in children] == [
        ("http://shop.example/sitemap.xml", 1, FoundBy.INDEX, "2024-05-06")
    ] * 2


async def test_indexes_in_circles_end():
    result, asked = await search(
        {"/sitemap.xml": index("/sitemap.xml", "/b.xml"), "/b.xml": index("/sitemap.xml", "/b.xml#x")}
    )

    assert urls(result) == ["/sitemap.xml", "/b.xml"]
    assert len(asked) == len(set(asked))


async def test_nested_indexes_end_at_the_depth_limit_and_it_is_reported():
    answers = {"/sitemap.xml": index("/1.xml")} | {f"/{n}.xml": index(f"/{n + 1}.xml") for n in range(1, 9)}
    result, _ = await search(answers, limits=SearchLimits(max_depth=2))

    assert urls(result) == ["/sitemap.xml", "/1.xml", "/2.xml"]
    assert result.partial == ["more than 2 indexes deep"]
    assert result.misses[-1].kind is MissKind.REFUSED


async def test_children_beyond_max_fetches_are_listed_but_not_read():
    answers = {"/sitemap.xml": index(*(f"/{n}.xml" for n in range(100)))} | {f"/{n}.xml": PAGES for n in range(100)}
    result, asked = await search(answers, limits=SearchLimits(max_fetches=6))

    assert len(result.sitemaps) == 101
    assert sum(found.kind is None for found in result.sitemaps) == 100 - len(asked) + 2  # robots, index
    assert result.limits_reached == ["only 6 sitemaps were looked into"]


async def test_more_sitemaps_than_allowed_are_dropped_and_it_is_reported():
    result, _ = await search(
        {"/sitemap.xml": index(*(f"/{n}.xml" for n in range(100)))}, limits=SearchLimits(max_sitemaps=10)
    )

    assert len(result.sitemaps) < 10
    assert "more than 10 sitemaps" in result.partial


async def test_of_many_children_the_likeliest_are_read_first_and_kept():
    names = [f"/post-sitemap{n}.xml" for n in range(3000)]
    names[2500:2500] = ["/page-sitemap.xml", "/sitemap-17.xml"]
    answers = {"/robots.txt": "Sitemap: /index.xml", "/index.xml": index(*names)} | dict.fromkeys(names, PAGES)
    result, asked = await search(answers, limits=SearchLimits(max_fetches=5, max_listed=40))

    assert asked[:4] == ["/robots.txt", "/index.xml", "/page-sitemap.xml", "/sitemap-17.xml"]
    assert len(result.sitemaps) == 1 + 4 + 36  # the index, those read, and those left of forty
    assert "only 40 sitemaps are listed" in result.limits_reached


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("/page-sitemap.xml", 0),
        ("/sitemap-pages-1.xml.gz", 0),
        ("/team/sitemap.xml", 0),
        ("/sitemap.xml", 1),
        ("/sitemap-3.xml", 1),
        ("/wp-sitemap-posts-post-1.xml", 2),
        ("/product-sitemap12.xml", 2),
        ("/sitemap-2019-04.xml", 2),
    ],
)
def test_sitemaps_are_ranked_by_their_names(name, rank):
    assert likelihood_rank(f"https://shop.example{name}") == rank


async def test_children_on_other_sites_are_not_requested():
    answers = {
        "/sitemap.xml": index("http://other.example/x.xml", "http://cdn.shop.example/y.xml", "http://127.0.0.1/z.xml"),
        "cdn.shop.example/y.xml": PAGES,
    }
    result, asked = await search(answers)

    assert urls(result) == ["/sitemap.xml", "http://cdn.shop.example/y.xml"]
    assert [(miss.url, miss.kind) for miss in result.misses if miss.found_by is FoundBy.INDEX] == [
        ("http://other.example/x.xml", MissKind.REFUSED),
        ("http://127.0.0.1/z.xml", MissKind.REFUSED),
    ]
    assert "/x.xml" not in asked
    assert "/z.xml" not in asked


async def test_the_policy_may_allow_other_sites_and_the_guard_still_refuses_private_ones():
    answers = {
        "/sitemap.xml": index("http://other.example/x.xml", "http://10.0.0.1/z.xml", "file:///etc/passwd"),
        "other.example/x.xml": PAGES,
    }
    result, _ = await search(answers, limits=SearchLimits(policy=SitePolicy.ANY))

    assert urls(result) == ["/sitemap.xml", "http://other.example/x.xml"]
    assert "private" in next(miss.why for miss in result.misses if miss.url == "http://10.0.0.1/z.xml")


async def test_a_redirect_to_another_site_is_refused_and_one_to_a_known_sitemap_counts_once():
    answers = {
        "/sitemap.xml": (301, "/sitemap_index.xml"),
        "/sitemap_index.xml": index("/1.xml", "/2.xml"),
        "/1.xml": PAGES,
        "/2.xml": (302, "http://other.example/2.xml"),
        "other.example/2.xml": PAGES,
    }
    result, _ = await search(answers)

    assert sorted({found.final_url.removeprefix("http://shop.example") for found in result.sitemaps}) == [
        "/1.xml",
        "/sitemap_index.xml",
    ]
    assert len(result.sitemaps) == 2
    assert "redirects to another site" in result.misses[-1].why


@pytest.mark.parametrize("status", [500, 503, 403])
async def test_an_unreachable_site_is_a_failure_not_an_empty_site(status):
    result, _ = await search(dict.fromkeys(["/", "/sitemap.xml", "/sitemap_index.xml"], status))

    assert result.outcome is SearchOutcome.FAILED
    assert str(status) in result.why


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (gzip.compress(b"") * 10_001, "the gzip data has more than 10,000 members"),
        (gzip.compress(PAGES.encode())[:10] + b"\xff" * 100, "the gzip data is damaged"),
        (gzip.compress(PAGES.encode())[:20], "the gzip data ends too early"),
    ],
    ids=["members", "damaged", "cut"],
)
async def test_a_fault_of_the_content_is_final_and_is_said_in_a_sentence(body, why):
    result, _ = await search({"/sitemap.xml": body})

    [miss] = [each for each in result.misses if each.url.endswith("/sitemap.xml")]
    assert (miss.kind, miss.why) == (MissKind.NONE, f"It cannot be read as a sitemap: {why}.")
    assert result.outcome is SearchOutcome.NONE  # nothing that a retry would change


async def test_robots_that_cannot_be_read_stops_the_search_until_later():
    result, asked = await search({"/robots.txt": 500, "/sitemap.xml": PAGES})

    assert (result.outcome, asked) == (SearchOutcome.FAILED, ["/robots.txt"])
    assert result.retry_after is not None


async def test_a_name_that_does_not_exist_is_a_failure_with_its_reason():
    result, asked = await search({}, "http://nobody.invalid/")

    assert (result.outcome, asked) == (SearchOutcome.FAILED, [])
    assert "nobody.invalid" in result.why


async def test_what_robots_forbids_is_not_requested():
    result, asked = await search({"/robots.txt": "User-agent: *\nDisallow: /", "/sitemap.xml": PAGES})

    assert (result.outcome, asked) == (SearchOutcome.FAILED, ["/robots.txt"])
    assert "robots.txt" in result.why


async def test_robots_lines_are_read_where_robots_is_not_honoured():
    robots = "User-agent: *\nDisallow: /\nSitemap: /s.xml"
    result, _ = await search({"/robots.txt": robots, "/s.xml": PAGES}, honour_robots=False)
    without, _ = await search({"/sitemap.xml": PAGES}, honour_robots=False)

    assert urls(result) == ["/s.xml"]
    assert urls(without) == ["/sitemap.xml"]


async def test_a_sitemap_given_by_its_url_is_read_and_nothing_else_is_searched():
    result, asked = await search(
        {"/deep/s.xml": index("../1.xml"), "/1.xml": PAGES, "/sitemap.xml": PAGES}, HOME + "deep/s.xml"
    )

    assert urls(result) == ["/deep/s.xml", "/1.xml"]
    assert result.sitemaps[0].found_by is FoundBy.GIVEN
    assert "/sitemap.xml" not in asked


async def test_a_page_given_by_its_url_leads_to_its_site():
    result, _ = await search({"/about": HTML, "/sitemap.xml": PAGES}, HOME + "about")

    assert urls(result) == ["/sitemap.xml"]


async def test_a_missing_sitemap_given_by_its_url_is_none():
    result, asked = await search({"/sitemap.xml": PAGES}, HOME + "nope.xml")

    assert (result.outcome, sorted(asked)) == (SearchOutcome.NONE, ["/nope.xml", "/robots.txt"])


async def test_a_sink_gets_every_entry_of_every_sitemap():
    got: list[tuple[str, str]] = []

    def sink(url: str, batch: list[SitemapEntry]) -> bool:
        got.extend((url, entry.loc) for entry in batch)
        return True

    answers = {"/sitemap.xml": index("/1.xml", "/2.xml"), "/1.xml": PAGES, "/2.xml": urlset(record("/c"))}
    result, _ = await search(answers, sink=sink)

    assert sorted(loc for _, loc in got) == [HOME + "a", HOME + "b", HOME + "c"]
    assert [found.entries for found in result.sitemaps] == [2, 2, 1]


async def test_a_full_sink_stops_the_search():
    answers = {"/sitemap.xml": index(*(f"/{n}.xml" for n in range(20)))} | {f"/{n}.xml": PAGES for n in range(20)}
    result, asked = await search(answers, sink=lambda url, batch: False)

    assert len(asked) < 8
    assert result.outcome is SearchOutcome.FOUND


async def test_a_body_that_breaks_off_is_partial():
    got: list[str] = []
    result, _ = await search(
        {"/sitemap.xml": -1}, sink=lambda url, batch: got.extend(entry.loc for entry in batch) or True
    )

    assert got == [HOME + "a"]
    assert "broke off" in (result.sitemaps[0].partial or "")
    assert result.partial


@pytest.mark.parametrize(
    ("site", "other", "by_domain", "by_host"),
    [
        ("https://example.co.uk/", "https://www.example.co.uk/s.xml", True, False),
        ("https://a.co.uk/", "https://b.co.uk/s.xml", False, False),
        ("https://a.github.io/", "https://b.github.io/s.xml", False, False),
        ("http://127.0.0.1:81/", "http://127.0.0.1:82/s.xml", True, True),
        ("http://127.0.0.1/", "http://127.0.0.2/s.xml", False, False),
        ("https://example.com/", "https://example.com.evil.org/", False, False),
        ("https://example.com/", "https://[bad/", False, False),
        ("https://example.com./", "https://EXAMPLE.com/", True, True),
    ],
)
def test_the_same_site_is_the_same_registered_domain(site, other, by_domain, by_host):
    assert SitePolicy.DOMAIN.allows(site, other) is by_domain
    assert SitePolicy.HOST.allows(site, other) is by_host
    assert SitePolicy.ANY.allows(site, other) is True


def test_html_links_are_few_and_only_to_the_web():
    html = "".join(f'<a href="/sitemap-{n}.xml">' for n in range(50)) + '<a href="ftp://x/sitemap.xml"><a href="">'

    assert len(html_links(html, HOME).sitemaps) == 10


@pytest.mark.parametrize("busy", ["shop.example", "www.shop.example"])
async def test_a_search_stopped_by_host_limits_is_repeated_and_does_not_count(busy):
    robots = "Sitemap: http://shop.example/one.xml\nSitemap: http://www.shop.example/two.xml"
    async with (
        serving({"/robots.txt": robots, "/one.xml": PAGES, "/two.xml": PAGES}) as site,
        crawling(site, slots=1) as crawler,
        crawler.visit() as somebody,
        crawler.visit() as visit,
    ):
        await somebody.fetch(f"http://{busy}/one.xml")
        with pytest.raises(TooSoon, match=busy) as raised:
            await discover(HOME, VisitFetcher(visit))
    assert not raised.value.counts


async def test_children_beyond_the_requests_of_one_visit_are_listed_unread():
    children = [f"http://shop.example/{n}.xml" for n in range(40)]
    moved = {f"/{n}.xml": (301, f"http://shop.example/new/{n}.xml") for n in range(40)}
    there = {f"/new/{n}.xml": PAGES for n in range(40)}
    result, asked = await search({"/sitemap.xml": index(*children), **moved, **there})

    assert result.outcome is SearchOutcome.FOUND
    assert {found.url for found in result.sitemaps} >= set(children)
    assert len(asked) <= 26
