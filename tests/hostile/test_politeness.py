"""Politeness on real sockets: every form of robots.txt, permits, pauses, and no wait in a worker's slot."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from scrapersky.crawl.crawler import Crawler
from scrapersky.crawl.errors import BlockedByPolicy, PermanentFetchError, RetryLater
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.http.limits import FetchLimits
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from scrapersky.crawl.politeness.host_limits import HostPolicy, InProcessHostLimits, NotYet
from scrapersky.crawl.politeness.robots import Robots, RobotsRules
from scrapersky.crawl.politeness.robots_file import MAX_RULES
from scrapersky.crawl.politeness.visit import MAX_REQUESTS
from tests.hostile.odd_web import Canary, OddWeb, Route, Visitor

FINE = "http://odd.example/fine"


def saying(text: str | bytes, status: str = "200 OK", **headers: str) -> Route:
    """Build the route of a robots.txt with this text."""

    async def answer(visitor: Visitor) -> None:
        await visitor.answer(text.encode() if isinstance(text, str) else text, status, **headers)

    return answer


@asynccontextmanager
async def crawling(
    robots: Route,
    *,
    delay: float = 0,
    ttl: float = 3600,
    ports: tuple[int, ...] = (),
    deadline: float = 20,
    routes: Mapping[str, Route] | None = None,
) -> AsyncIterator[tuple[Crawler, OddWeb]]:
    """Open a crawler and an odd web with this robots.txt."""
    async with OddWeb(routes={"/robots.txt": robots, **(routes or {})}) as web:
        guard = SsrfGuard((80, 443, *ports), Allowance([web.place]))
        hosts = dict.fromkeys(("odd.example", "other.example"), web.place)
        async with Client(guard, FetchLimits(deadline_seconds=deadline), known_hosts=hosts) as client:
            limits = InProcessHostLimits(HostPolicy(slots=2, delay=timedelta(seconds=delay)))
            robots_reader = Robots(client, ttl=timedelta(seconds=ttl), max_delay=timedelta(seconds=30))
            yield Crawler(client, limits, robots_reader, delay=timedelta(seconds=delay)), web


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the durations of all calls of asyncio.sleep."""
    durations: list[float] = []
    sleep = asyncio.sleep

    async def record(seconds: float) -> None:
        durations.append(seconds)
        await sleep(seconds)

    monkeypatch.setattr("asyncio.sleep", record)
    return durations


async def rules_of(crawler: Crawler) -> RobotsRules:
    async with crawler.visit() as visit:
        rules = await visit.rules(FINE)
    assert rules is not None
    return rules


async def test_what_robots_txt_forbids_is_not_fetched() -> None:
    async with crawling(saying("User-agent: *\nDisallow: /fi*ne$\nAllow: /other\n")) as (crawler, web):
        with pytest.raises(BlockedByPolicy, match="asks robots not to fetch"):
            await crawler.fetch(FINE)
        assert web.hits["/fine"] == 0


async def test_the_group_for_our_name_counts_before_the_one_for_all() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: ScraperSky\nDisallow: /private\n"
    async with crawling(saying(text)) as (crawler, _):
        assert (await crawler.fetch(FINE)).status == 200


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "410 Gone"]
)
async def test_a_site_without_robots_txt_has_no_rules(status: str) -> None:
    async with crawling(saying("User-agent: *\nDisallow: /", status)) as (crawler, _):
        assert (await crawler.fetch(FINE)).status == 200


@pytest.mark.parametrize("status", ["500 Internal Server Error", "503 Service Unavailable", "429 Too Many Requests"])
async def test_a_robots_txt_that_cannot_be_read_now_means_later(status: str) -> None:
    async with crawling(saying("", status, Retry_After="77")) as (crawler, web):
        for _ in range(3):
            with pytest.raises(RetryLater, match=r"robots\.txt of odd\.example cannot be read") as caught:
                await crawler.fetch(FINE)
            assert caught.value.after == timedelta(seconds=77)
        assert (web.hits["/robots.txt"], web.hits["/fine"]) == (1, 0)


async def test_a_robots_txt_that_hangs_means_later() -> None:
    async def hang(visitor: Visitor) -> None:
        await asyncio.Event().wait()

    async with crawling(hang, deadline=0.5) as (crawler, web):
        with pytest.raises(RetryLater):
            await crawler.fetch(FINE)
        assert web.hits["/fine"] == 0


async def test_redirects_of_robots_txt_are_followed_and_its_rules_are_those_of_the_first_host() -> None:
    async def moved(visitor: Visitor) -> None:
        await visitor.redirect("http://other.example/elsewhere.txt")

    async with crawling(moved, routes={"/elsewhere.txt": saying("User-agent: *\nDisallow: /")}) as (crawler, _):
        with pytest.raises(BlockedByPolicy):
            await crawler.fetch(FINE)


async def test_a_robots_txt_that_redirects_in_circles_counts_as_none() -> None:
    async def circle(visitor: Visitor) -> None:
        await visitor.redirect("/robots.txt")

    async with crawling(circle) as (crawler, _):
        assert (await crawler.fetch(FINE)).status == 200


async def test_a_robots_txt_that_redirects_to_a_private_address_is_not_followed() -> None:
    async with Canary() as canary:

        async def inside(visitor: Visitor) -> None:
            await visitor.redirect(f"http://127.0.0.1:{canary.port}/")

        async with crawling(inside, ports=(canary.port,)) as (crawler, _):
            assert (await crawler.fetch(FINE)).status == 200
            assert canary.hits == 0


async def test_the_robots_txt_of_the_target_of_a_redirect_counts_too() -> None:
    async def by_host(visitor: Visitor) -> None:
        closed = visitor.headers["Host"] == "other.example"
        await visitor.answer(b"User-agent: *\nDisallow: /" if closed else b"")

    async def leave(visitor: Visitor) -> None:
        await visitor.redirect("http://other.example/fine")

    async with crawling(by_host, routes={"/leave": leave}) as (crawler, web):
        with pytest.raises(BlockedByPolicy, match=r"other\.example"):
            await crawler.fetch("http://odd.example/leave")
        assert web.hits["/fine"] == 0


async def endless_comment(visitor: Visitor) -> None:
    await visitor.raw(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /fine\n# ")
    await visitor.forever(b"x" * 65_536)


HOSTILE_ROBOTS: dict[str, Callable[[], Route]] = {
    "endless": lambda: endless_comment,
    "wildcards": lambda: saying("User-agent: *\nDisallow: /fine\nDisallow: /" + "*a" * 100_000 + "b\n"),
    "many rules": lambda: saying(
        "User-agent: *\nDisallow: /fine\n" + "".join(f"Allow: /{n}*z\n" for n in range(30_000))
    ),
    "NUL": lambda: saying(b"User-agent: *\nDisallow: /fine\n" + b"\0" * 300_000),
    "no text": lambda: saying(b"\xef\xbb\xbfUser-agent: *\nDisallow: /fine\n\xff\xfe\xc3"),
}


@pytest.mark.parametrize("form", HOSTILE_ROBOTS)
async def test_a_hostile_robots_txt_is_read_up_to_its_limit_and_its_first_rules_count(form: str) -> None:
    async with crawling(HOSTILE_ROBOTS[form]()) as (crawler, _):
        with pytest.raises(BlockedByPolicy):
            await crawler.fetch(FINE)
        file = (await rules_of(crawler)).file
        assert file is not None
        assert file.rule_count <= MAX_RULES


@pytest.mark.parametrize(
    ("asked", "seconds"), [("20.5", 20.5), ("999999999", 30), ("1e999", 0), ("NaN", 0), ("-4", 0), ("soon", 0)]
)
async def test_crawl_delay_is_honoured_and_capped(asked: str, seconds: float, sleeps: list[float]) -> None:
    async with crawling(saying(f"User-agent: *\nCrawl-delay: {asked}\n")) as (crawler, _):
        await crawler.fetch(FINE)
        assert not any(sleeps)
        assert (await pause_of(crawler)) == pytest.approx(seconds, abs=4)


async def pause_of(crawler: Crawler) -> float:
    """Return the remaining pause of the host in seconds."""
    permit = await crawler._limits.acquire("odd.example")
    return permit.after.total_seconds() if isinstance(permit, NotYet) else 0.0


async def test_sitemap_lines_are_kept_once_each_and_not_without_end() -> None:
    lines = "".join(f"Sitemap: http://odd.example/{number // 2}.xml\n" for number in range(10_000))
    async with crawling(saying(lines)) as (crawler, _):
        sitemaps = (await rules_of(crawler)).sitemaps
    assert sitemaps[:2] == ("http://odd.example/0.xml", "http://odd.example/1.xml")
    assert len(sitemaps) == 1000


async def test_concurrent_fetches_share_one_robots_txt() -> None:
    async with crawling(saying("")) as (crawler, web):
        async with crawler.visit() as visit:
            await asyncio.gather(*(visit.fetch(FINE) for _ in range(10)))
        assert (web.hits["/robots.txt"], web.hits["/fine"]) == (1, 10)


async def test_robots_txt_is_fetched_again_after_its_ttl() -> None:
    async with crawling(saying(""), ttl=0.05) as (crawler, web):
        await crawler.fetch(FINE)
        await asyncio.sleep(0.06)
        await crawler.fetch(FINE)
        assert web.hits["/robots.txt"] == 2


async def test_a_host_just_visited_is_not_waited_for(sleeps: list[float]) -> None:
    async with crawling(saying(""), delay=10) as (crawler, web):
        await crawler.fetch(FINE)
        with pytest.raises(RetryLater, match="visited a moment ago") as caught:
            await crawler.fetch(FINE)
        assert not any(sleeps)
        assert caught.value.after is not None
        assert timedelta(seconds=6) < caught.value.after <= timedelta(seconds=10)
        assert web.hits["/fine"] == 1


async def test_a_visit_of_several_requests_extends_the_pause_after_it() -> None:
    async with crawling(saying(""), delay=10) as (crawler, web):
        async with crawler.visit() as visit:
            for _ in range(4):
                await visit.fetch(FINE)
        assert web.hits["/fine"] == 4
        assert await pause_of(crawler) == pytest.approx(30, abs=4)


async def test_a_visit_ends_after_its_maximum_of_requests() -> None:
    async with crawling(saying("")) as (crawler, web):
        async with crawler.visit() as visit:
            for _ in range(MAX_REQUESTS):
                await visit.fetch(FINE)
            with pytest.raises(RetryLater, match="in one visit"):
                await visit.fetch(FINE)
        assert web.hits["/fine"] == MAX_REQUESTS


async def test_a_host_that_answers_429_or_503_gets_its_cooldown() -> None:
    async with crawling(saying("")) as (crawler, _):
        with pytest.raises(RetryLater, match="429"):
            await crawler.fetch("http://odd.example/busy")
        assert await pause_of(crawler) == pytest.approx(120, abs=4)


async def test_a_slot_is_released_after_any_outcome() -> None:
    async with crawling(saying("")) as (crawler, _):
        for path in ("/broken/not-http", "/to/self", "/missing", "/broken/cut") * 3:
            with pytest.raises(Exception, match=r"odd\.example"):
                await crawler.fetch(f"http://odd.example{path}")
        assert (await crawler.fetch(FINE)).status == 200


async def test_a_stream_holds_its_slot_until_it_is_read() -> None:
    async with crawling(saying("")) as (crawler, _):
        async with crawler.stream(FINE) as first, crawler.stream(FINE) as second:
            with pytest.raises(RetryLater, match="visited a moment ago"):
                await crawler.fetch(FINE)
            assert b"".join([piece async for piece in first]) == b"".join([piece async for piece in second])
        assert (await crawler.fetch(FINE)).status == 200


async def test_a_name_with_a_private_address_is_refused_before_its_robots_txt_is_fetched() -> None:
    async with crawling(saying("")) as (crawler, web):
        with pytest.raises(BlockedByPolicy, match="this machine"):
            await crawler.fetch("http://localhost/fine")
        assert not web.hits


async def test_a_robots_txt_that_is_not_honoured_is_not_fetched() -> None:
    async with crawling(saying("User-agent: *\nDisallow: /")) as (crawler, web):
        rude = Crawler(crawler.client, InProcessHostLimits(), None)
        assert (await rude.fetch(FINE)).status == 200
        assert web.hits["/robots.txt"] == 0


async def test_the_crawler_refuses_a_coding_that_was_not_offered() -> None:
    async with crawling(saying("")) as (crawler, _):
        with pytest.raises(PermanentFetchError, match="did not offer"):
            await crawler.fetch("http://odd.example/bomb/brotli")
