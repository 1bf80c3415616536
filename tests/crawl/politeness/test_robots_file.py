"""robots.txt: the rules for our agent only, and a bounded cost whatever the file holds."""

import time
import tracemalloc

import pytest

from scrapersky.crawl.politeness.robots import ROBOTS_BYTES
from scrapersky.crawl.politeness.robots_file import MAX_RULES, MAX_SITEMAPS, read_robots

PAGE = "https://shop.example/private/page"


def allows(robots: str, url: str = PAGE, agent: str = "scrapersky") -> bool:
    return read_robots(robots.encode(), agent).allows(url)


@pytest.mark.parametrize(
    "robots",
    [
        "User-agent: *\nDisallow: /private",
        "\ufeffUser-agent: *\nDisallow: /private",
        "user-agent : *\rdisallow : /private",
        "User agent *\r\nDisalow /private # typing error",
        "User-agent: other\nUser-agent: ScraperSky\n\nDisallow: /private\nUser-agent: *\nAllow: /",
        "User-agent: *\nAllow: /\nUser-agent: scrapersky/2\nUser-agent: scrapersky\nDisallow: /*/page$",
        "User-agent: scrapersky\nDisallow: /a\nUser-agent: other\nAllow: /\nUser-agent: scrapersky\nDisallow: /private",
        # By RFC 9309 neither a Sitemap line nor an unknown one ends a group.
        "User-agent: *\nSitemap: /a.xml\nNoindex: /x\nDisallow: /private",
        "User-agent: other\nNoindex: /x\nUser-agent: *\nDisallow: /private",
    ],
)
def test_the_page_is_forbidden(robots: str) -> None:
    assert not allows(robots)


@pytest.mark.parametrize(
    "robots",
    [
        "",
        "Disallow: /private",
        "User-agent: other\nDisallow: /",
        "User-agent: sky\nDisallow: /",
        "User-agent: *\nDisallow: /\nUser-agent: scrapersky\nDisallow:\n",
        "User-agent: *\nDisallow: /\nUser-agent: scraper\nDisallow: /x",
        "User-agent: *\nDisallow: /private\nAllow: /private/page",
    ],
)
def test_the_page_is_allowed(robots: str) -> None:
    assert allows(robots)


def test_the_delay_and_the_sitemaps_are_read() -> None:
    robots = read_robots(
        b"Sitemap: https://a.b/1.xml # x\n  SiteMap :/2.xml\r\n# Sitemap: no\nA sitemap: x\n"
        b"User-agent: *\nCrawl-delay: 7\nUser-agent: other\nCrawl-delay: 1",
        "scrapersky",
    )
    assert robots.crawl_delay_seconds == 7
    assert robots.sitemaps == ("https://a.b/1.xml", "/2.xml")


AGENTS = b"".join(b"User-agent: agent%d\n" % number for number in range(2000))
RULES = b"".join(b"Disallow: /%d\n" % number for number in range(2000))


def test_a_file_of_many_agents_costs_no_more_than_one_group() -> None:
    ours = b"User-agent: *\nDisallow: /private\n"
    tracemalloc.start()
    robots = read_robots(AGENTS + RULES + ours, "scrapersky")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (robots.rule_count, robots.allows(PAGE)) == (1, False)
    assert peak < 1_000_000


@pytest.mark.parametrize(
    "rule",
    [
        b"Disallow: /$$%d\n",
        b"Allow: /$%d/index.html\n",
        b"Disallow: /*a*a*a*a*a*a*a*a*a*b%d\n",
        b"Disallow: /%%zz%%41%d\n",
        b"User-agent: s*%d\nDisallow: /\n",
    ],
)
def test_rules_are_capped_and_their_memory_is_known(rule: bytes) -> None:
    body = b"User-agent: scrapersky\n" + b"".join(rule % number for number in range(30_000))[:ROBOTS_BYTES]
    tracemalloc.start()
    robots = read_robots(body, "scrapersky")
    robots.allows("https://shop.example/" + "a" * 2000)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert robots.rule_count <= MAX_RULES
    assert held < 1.5 * robots.size + 100_000


def test_sitemap_lines_are_capped() -> None:
    assert len(read_robots(b"".join(b"Sitemap: /%d\n" % n for n in range(40_000)), "x").sitemaps) == MAX_SITEMAPS


@pytest.mark.parametrize(
    "part", ["sitemap:", "sitemap", " ", "\t\n", "user-agent:*\n", "allow:x\n", "User-agent", "*a", "\xff", "\r"]
)
def test_the_cost_of_a_hostile_file_grows_with_its_size_alone(part: str) -> None:
    body = part.encode("latin-1") * (ROBOTS_BYTES // len(part))

    def cpu_seconds(size: int) -> float:
        started = time.thread_time()
        read_robots(body[:size], "scrapersky")
        return time.thread_time() - started

    # Backtracking, or a rule copied into every group, would cost sixteen times as much, or more.
    assert cpu_seconds(len(body)) < 10 * cpu_seconds(len(body) // 4) + 0.5
