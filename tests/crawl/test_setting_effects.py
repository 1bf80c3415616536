"""What each CRAWL_ setting changes: requests to real servers on loopback, through a crawler built from the setting."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import psutil
import pytest

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.crawl.crawler import Crawler, open_crawler
from scrapersky.crawl.errors import BlockedByPolicy, FetchError, PermanentFetchError, RefusedOnce, RetryLater, TooSoon
from scrapersky.crawl.network.mx_lookup import DnsUnavailable, mx_lookup_of
from scrapersky.crawl.page import FetchedPage
from scrapersky.crawl.politeness.host_limits import HostPolicy, InProcessHostLimits, NotYet
from scrapersky.crawl.web import Web
from tests.crawl.network.test_mx_lookup import serving
from tests.factories.http_server import ReceivedRequest, Reply, ScriptedServer

PAGE = Reply("<p>x", content_type="text/html")
ROBOTS = Reply("User-agent: *\nCrawl-delay: 20", content_type="text/plain")


def settings(**variables: str) -> Settings:
    return load(Environment(variables, env_file=None))


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as server:
        server.replies["/"] = [PAGE]
        yield server


@asynccontextmanager
async def crawling(server: ScriptedServer, **variables: str) -> AsyncIterator[Crawler]:
    """A crawler that may fetch from this server without pause, built from the settings."""
    allowed = {
        "CRAWL_ALLOWED_PRIVATE_NETWORKS": f"127.0.0.1:{server.port}",
        "CRAWL_ALLOWED_PORTS": str(server.port),
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_MAX_CONCURRENCY_PER_HOST": "50",
    }
    async with open_crawler(settings(**{**allowed, **variables})) as crawler:
        yield crawler


async def test_only_allowed_ports_are_fetched_from(server: ScriptedServer) -> None:
    for port, reached in ((server.port, True), (443, False)):
        networks = "127.0.0.0/8"
        async with crawling(server, CRAWL_ALLOWED_PORTS=str(port), CRAWL_ALLOWED_PRIVATE_NETWORKS=networks) as crawler:
            assert await fetches(crawler, server.url) is reached


async def test_private_addresses_are_fetched_from_only_if_they_are_allowed(server: ScriptedServer) -> None:
    for network, reached in (("127.0.0.0/8", True), ("10.0.0.0/8", False)):
        async with crawling(server, CRAWL_ALLOWED_PRIVATE_NETWORKS=network) as crawler:
            assert await fetches(crawler, server.url) is reached


async def fetches(crawler: Crawler, url: str) -> bool:
    try:
        return (await crawler.fetch(url)).status == 200
    except BlockedByPolicy:
        return False


async def test_a_host_override_is_used_instead_of_dns(server: ScriptedServer) -> None:
    override = f"shop.example=127.0.0.1:{server.port}"
    async with crawling(server, CRAWL_HOST_OVERRIDES=override, CRAWL_ALLOWED_PORTS="80") as crawler:
        assert (await crawler.fetch("http://shop.example/")).status == 200


async def test_a_silent_server_is_given_up_after_the_fetch_timeout(server: ScriptedServer) -> None:
    stopped = asyncio.Event()

    async def never(_: ReceivedRequest) -> Reply:
        await stopped.wait()
        return PAGE

    server.replies["/silent"] = never
    async with (
        crawling(server, CRAWL_FETCH_TIMEOUT_SECONDS="0.5", CRAWL_OBEY_ROBOTS="false") as crawler,
        asyncio.timeout(240),
    ):
        with pytest.raises(RetryLater, match=r"0\.5 s"):
            await crawler.fetch(f"{server.url}/silent")
    stopped.set()


async def test_a_connection_that_is_not_accepted_is_given_up_after_the_connect_timeout() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)  # a further connection waits until somebody accepts one
        port = full.getsockname()[1]
        variables = {"CRAWL_ALLOWED_PRIVATE_NETWORKS": "127.0.0.1", "CRAWL_ALLOWED_PORTS": str(port)}
        with socket.create_connection(("127.0.0.1", port)):
            async with (
                open_crawler(settings(**variables, CRAWL_CONNECT_TIMEOUT_SECONDS="0.4")) as crawler,
                asyncio.timeout(240),
            ):
                with pytest.raises(RetryLater):
                    await crawler.client.fetch(f"http://127.0.0.1:{port}/")


async def test_redirects_are_followed_up_to_the_limit(server: ScriptedServer) -> None:
    server.replies |= {f"/{n}": [Reply(status=302, headers={"Location": f"/{n - 1}"})] for n in (1, 2)}
    server.replies["/0"] = [PAGE]
    async with crawling(server, CRAWL_MAX_REDIRECTS="2") as enough:
        assert (await enough.fetch(f"{server.url}/2")).final_url == f"{server.url}/0"
    async with crawling(server, CRAWL_MAX_REDIRECTS="1") as too_few:
        with pytest.raises(FetchError, match="redirect"):
            await too_few.fetch(f"{server.url}/2")


async def test_a_page_and_a_stream_end_at_their_maximum_sizes(server: ScriptedServer) -> None:
    server.replies["/big"] = [Reply("x" * 15_000, content_type="text/html")]
    for name in ("CRAWL_MAX_PAGE_BYTES", "CRAWL_MAX_STREAM_BYTES"):
        async with crawling(server, **{name: "20000"}) as large, crawling(server, **{name: "10000"}) as small:
            assert await read_whole(large, name, f"{server.url}/big") == 15_000
            with pytest.raises(FetchError, match=r"10,?000"):
                await read_whole(small, name, f"{server.url}/big")


async def read_whole(crawler: Crawler, name: str, url: str) -> int:
    if name == "CRAWL_MAX_PAGE_BYTES":
        return len((await crawler.fetch(url)).body)
    async with crawler.stream(url) as response:
        return sum([len(chunk) async for chunk in response])


async def test_no_more_connections_are_opened_than_allowed(server: ScriptedServer) -> None:
    under_way, most, free = 0, 0, asyncio.Event()

    async def counted(_: ReceivedRequest) -> Reply:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == 2:
            free.set()
        await free.wait()
        under_way -= 1
        return PAGE

    server.replies["/counted"] = counted
    async with crawling(server, CRAWL_MAX_CONNECTIONS="2", CRAWL_OBEY_ROBOTS="false") as crawler:
        await asyncio.gather(*(crawler.fetch(f"{server.url}/counted") for _ in range(8)))
    assert most == 2


async def test_a_retry_after_is_obeyed_up_to_its_maximum(server: ScriptedServer) -> None:
    server.replies["/busy"] = [Reply("busy", 503, headers={"Retry-After": "5000"})]
    async with crawling(server, CRAWL_MAX_RETRY_AFTER_SECONDS="90") as crawler:
        with pytest.raises(RetryLater) as caught:
            await crawler.fetch(f"{server.url}/busy")
    assert caught.value.after == timedelta(seconds=90)


async def test_a_site_is_told_the_user_agent_and_the_contact(server: ScriptedServer) -> None:
    variables = {"CRAWL_USER_AGENT": "acme-bot", "CRAWL_CONTACT_URL": "https://acme.example/bot"}
    async with crawling(server, **variables) as crawler:
        await crawler.fetch(server.url)
    assert {one.headers["User-Agent"] for one in server.requests} == {"acme-bot/0.1.0 (+https://acme.example/bot)"}


WHOLE = "Mozilla/5.0 (compatible; AcmeBot/1.0; +https://acme.example/bot)"


async def test_a_whole_user_agent_is_sent_and_robots_txt_may_name_its_robot(server: ScriptedServer) -> None:
    server.replies["/robots.txt"] = [Reply("User-agent: AcmeBot\nDisallow: /no", content_type="text/plain")]
    async with crawling(server, CRAWL_USER_AGENT=WHOLE) as crawler:
        assert await fetches(crawler, server.url)
        assert not await fetches(crawler, f"{server.url}/no")
    assert {one.headers["User-Agent"] for one in server.requests} == {WHOLE}


@pytest.mark.parametrize(
    "wrong", ["Mozilla/5.0 (Windows) Chrome/1.0 https://a.example", "AcmeBot/1.0", "bot\t", "bot/1 ä@a.fi"]
)
def test_a_user_agent_without_a_robot_or_a_contact_is_refused(wrong: str) -> None:
    with pytest.raises(BadSetting, match=r"CRAWL_USER_AGENT.* must"):
        settings(CRAWL_USER_AGENT=wrong)


class KeptInMemory:
    """A cache of bodies in memory."""

    ttl = timedelta(minutes=1)

    def __init__(self) -> None:
        self._kept: dict[str, FetchedPage] = {}

    async def find(self, url: str) -> FetchedPage | None:
        return self._kept.get(url)

    async def keep(self, url: str, page: FetchedPage, ttl: timedelta) -> None:
        self._kept[url] = page


async def test_a_403_is_tried_once_more_later_with_the_headers_of_a_browser(server: ScriptedServer) -> None:
    server.replies["/walled"] = lambda got: PAGE if "Sec-Fetch-Mode" in got.headers else Reply("no", 403, "text/plain")
    server.replies["/closed"] = [Reply("no", 403, "text/plain")]
    async with crawling(server, CRAWL_OBEY_ROBOTS="false") as crawler:
        crawler._cache = KeptInMemory()
        for path in ("/walled", "/closed"):
            with pytest.raises(RefusedOnce, match="once more with the headers of a browser"):
                await read_page(crawler, f"{server.url}{path}")
        assert (await read_page(crawler, f"{server.url}/walled")).status == 200
        with pytest.raises(PermanentFetchError, match="also to the headers of a browser"):
            await read_page(crawler, f"{server.url}/closed")
    assert server.paths().count("/closed") == 3
    assert len({one.headers["User-Agent"] for one in server.requests}) == 1


async def read_page(crawler: Crawler, url: str) -> FetchedPage:
    async with crawler.visit() as visit:
        return await visit.fetch_page(url)


async def test_requests_go_through_the_proxy(server: ScriptedServer) -> None:
    variables = {"CRAWL_PROXY_URL": server.url, "CRAWL_ALLOWED_PORTS": "80", "CRAWL_OBEY_ROBOTS": "false"}
    async with crawling(server, **variables) as crawler:
        assert (await crawler.fetch("http://shop.example/")).status == 200
    assert [one.headers["Host"] for one in server.requests] == ["shop.example"]


async def test_robots_txt_is_obeyed_unless_the_setting_is_off(server: ScriptedServer) -> None:
    server.replies["/robots.txt"] = [Reply("User-agent: *\nDisallow: /", content_type="text/plain")]
    for value, reached in (("true", False), ("false", True)):
        async with crawling(server, CRAWL_OBEY_ROBOTS=value) as crawler:
            assert await fetches(crawler, server.url) is reached


async def test_robots_txt_is_fetched_again_after_its_lifetime(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.replies["/robots.txt"] = [Reply("", content_type="text/plain")]
    now = 0.0
    monkeypatch.setattr("scrapersky.crawl.politeness.robots.time.monotonic", lambda: now)
    async with crawling(server, CRAWL_ROBOTS_TTL_SECONDS="60") as crawler:
        for moment, fetched in ((1.0, 1), (60.0, 1), (62.0, 2)):
            now = moment
            await crawler.fetch(server.url)
            assert server.paths().count("/robots.txt") == fetched


async def test_a_crawl_delay_is_obeyed_up_to_its_maximum(server: ScriptedServer) -> None:
    server.replies["/robots.txt"] = [ROBOTS]
    for maximum, pause in (("3", 3), ("30", 20)):
        async with crawling(server, CRAWL_MAX_ROBOTS_DELAY_SECONDS=maximum) as crawler:
            await crawler.fetch(server.url)
            with pytest.raises(TooSoon) as caught:
                await crawler.fetch(server.url)
        assert caught.value.after is not None
        assert pause - 2 < caught.value.after.total_seconds() <= pause


async def test_a_lookup_is_given_up_after_the_dns_timeout() -> None:
    async with serving(lambda *_: None) as names:
        lookup = mx_lookup_of(settings(CRAWL_DNS_SERVERS=f"127.0.0.1:{names.port}", CRAWL_DNS_TIMEOUT_SECONDS="0.3"))
        async with asyncio.timeout(240):
            with pytest.raises(DnsUnavailable, match="in time"):
                await lookup.lookup("plain.fi")
        await lookup.close()


async def test_no_more_lookups_are_made_at_once_than_allowed() -> None:
    async with serving() as names:
        names.gate.clear()
        lookup = mx_lookup_of(settings(CRAWL_DNS_SERVERS=f"127.0.0.1:{names.port}", CRAWL_MAX_DNS_LOOKUPS="2"))
        tasks = [asyncio.create_task(lookup.lookup(f"{name}.fi")) for name in ("plain", "null", "many", "alias")]
        while names.under_way < 2:
            await asyncio.sleep(0.01)
        names.gate.set()
        await asyncio.gather(*tasks)
        assert names.most_under_way == 2
        await lookup.close()


async def test_large_pages_wait_for_memory(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapersky.crawl.http.byte_budget.WAIT_SECONDS", 0.01)
    server.replies["/big"] = [Reply("x" * 400_000, content_type="text/html")]
    for memory, fits in (("1000000", False), ("9000000", True)):
        async with crawling(server, CRAWL_MAX_PAGE_MEMORY_BYTES=memory) as crawler, AsyncExitStack() as open_visits:
            visits = [await open_visits.enter_async_context(crawler.visit()) for _ in range(2)]
            await visits[0].fetch(f"{server.url}/big")
            assert await fetches_in_time(visits[1].fetch(f"{server.url}/big")) is fits


async def fetches_in_time(fetching: Awaitable[FetchedPage]) -> bool:
    try:
        return (await fetching).status == 200
    except TooSoon:
        return False


async def test_a_visit_that_never_ended_expires_with_its_lease() -> None:
    policy = HostPolicy.of(
        settings(CRAWL_HOST_LEASE_SECONDS="50", CRAWL_MAX_CONCURRENCY_PER_HOST="1", CRAWL_HOST_DELAY_SECONDS="0")
    )
    assert policy.lease == timedelta(seconds=50)
    limits = InProcessHostLimits(policy)
    await limits.acquire("a.example")
    refused = await limits.acquire("a.example")
    assert isinstance(refused, NotYet)
    assert timedelta(0) < refused.after <= timedelta(seconds=50)


async def test_pages_are_parsed_by_as_many_processes_as_the_setting_names() -> None:
    for count in (1, 2):
        web = Web(settings(CRAWL_PARSER_PROCESSES=str(count)))
        before = set(psutil.Process().children(recursive=True))
        await asyncio.gather(*(web.read(str.upper, "x") for _ in range(4)))
        started = set(psutil.Process().children(recursive=True)) - before
        assert len(started) == count
        await web.close()


@pytest.mark.parametrize("sandbox", ["true", "false"])
async def test_the_browser_of_the_setting_is_started_with_or_without_its_sandbox(
    server, tmp_path, monkeypatch, sandbox
):
    """CRAWL_BROWSER, CRAWL_BROWSER_SANDBOX: a program that notes how it was started, and draws nothing."""
    program, started = tmp_path / "chromium", tmp_path / "started"
    program.write_text(f'#!/bin/sh\necho "$@" > {started}\n')
    program.chmod(0o755)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    web = Web(settings(CRAWL_BROWSER=str(program), CRAWL_BROWSER_SANDBOX=sandbox))
    assert web.browser is not None
    async with (await web.crawler()).visit() as visit:
        drawn = await web.browser.draw(visit, f"http://127.0.0.1:{server.port}/")
    await web.close()
    assert drawn.page is None
    assert ("--no-sandbox" in started.read_text()) == (sandbox == "false")
    assert Web(settings()).browser is None
