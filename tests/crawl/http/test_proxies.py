"""Fetching through real proxies on loopback: in turn, with cooldowns, logins and TLS, and never past the guard."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import trustme
from structlog.testing import capture_logs

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Environment, load
from scrapersky.crawl.crawler import Crawler, client_of, open_crawler
from scrapersky.crawl.errors import BlockedByPolicy, PermanentFetchError, ProxiesCoolingDown, RetryLater
from tests.factories.proxies import KINDS, HttpProxy, LoopbackProxy, SocksProxy

LOGIN = "me:hush hush"
WRITTEN_LOGIN = "me:hush%20hush"


class Site:
    """A web site over http and https, which records the heads of requests."""

    def __init__(self, ca_file: Path) -> None:
        self.ca_file = ca_file
        self.heads: list[str] = []
        self.answer = "200 OK"
        self.plain = self.secure = ("", 0)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(f"HTTP/1.1 {self.answer}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".encode())
        writer.close()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("shop.example").configure_cert(context)
    site = Site(tmp_path / "ca.pem")
    plain = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    secure = await asyncio.start_server(site.serve, "127.0.0.1", 0, ssl=context)
    site.plain, site.secure = (("127.0.0.1", one.sockets[0].getsockname()[1]) for one in (plain, secure))
    yield site
    plain.close()
    secure.close()


@asynccontextmanager
async def crawling(site: Site, *urls: str, **variables: str) -> AsyncIterator[Crawler]:
    """A crawler through these proxies that knows where shop.example is."""
    http, https = (f"127.0.0.1:{place[1]}" for place in (site.plain, site.secure))
    defaults = {
        "CRAWL_PROXY_URL": ", ".join(urls),
        "CRAWL_HOST_OVERRIDES": f"shop.example:80={http},shop.example:443={https},inside.example=10.0.0.7",
        "CRAWL_ALLOWED_PRIVATE_NETWORKS": f"{http},{https}",
        "CRAWL_CA_FILE": str(site.ca_file),
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_OBEY_ROBOTS": "false",
    }
    async with open_crawler(load(Environment({**defaults, **variables}, env_file=None))) as crawler:
        yield crawler


@asynccontextmanager
async def proxies(*kinds: LoopbackProxy) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for proxy in kinds:
            await stack.enter_async_context(proxy)
        yield


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of the cooldowns; the test moves it."""
    now = [0.0]
    monkeypatch.setattr("scrapersky.crawl.network.proxies.time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("kind", KINDS)
async def test_pages_are_fetched_through_a_proxy_with_a_login_that_the_site_never_sees(
    site: Site, kind: str, scheme: str
) -> None:
    place = site.secure if scheme == "https" else site.plain
    async with KINDS[kind](place, LOGIN) as proxy, crawling(site, proxy.url(WRITTEN_LOGIN)) as crawler:
        for _ in range(2):
            assert (await crawler.fetch(f"{scheme}://shop.example/page")).text == "ok"
    told = {
        ("http", "http"): "GET http://shop.example/page",
        ("http", "https"): "CONNECT shop.example:443",
        ("socks5", "http"): f"1 127.0.0.1:{place[1]}",
        ("socks5", "https"): f"1 127.0.0.1:{place[1]}",
    }
    assert proxy.asked == [told[kind, scheme]] * 2
    assert all(head.startswith("GET /page HTTP/1.1") and "roxy-" not in head for head in site.heads)


async def test_proxies_are_used_in_turn_and_one_that_is_down_has_a_cooldown(site: Site, later: list[float]) -> None:
    first, second, third = HttpProxy(site.plain), SocksProxy(site.plain), HttpProxy(site.plain)
    async with (
        proxies(first, second, third),
        crawling(site, first.url(), second.url(), third.url()) as crawler,
    ):
        for _ in range(6):
            await crawler.fetch("http://shop.example/")
        assert [len(proxy.asked) for proxy in (first, second, third)] == [2, 2, 2]
        await second.stop()
        with capture_logs() as logged:
            for _ in range(6):
                await crawler.fetch("http://shop.example/")
        cooldowns = [line for line in logged if line["event"] == "proxy_cooldown_started"]
        assert [(line["proxy"], line["seconds"]) for line in cooldowns] == [(second.url(), 30)]
        assert [len(proxy.asked) for proxy in (first, second, third)] == [5, 2, 5]
        await second.start()
        later[0] += 31
        for _ in range(3):
            await crawler.fetch("http://shop.example/")
        assert len(second.asked) == 3


async def test_if_all_proxies_are_down_the_work_waits_and_cooldowns_get_longer(site: Site, later: list[float]) -> None:
    down = [SocksProxy(site.plain), HttpProxy(site.plain)]
    async with proxies(*down):
        urls = [proxy.url(WRITTEN_LOGIN) for proxy in down]
    async with crawling(site, *urls, CRAWL_OBEY_ROBOTS="true") as crawler:
        waits = []
        with capture_logs() as logged:
            for _ in range(8):
                with pytest.raises(
                    ProxiesCoolingDown, match=r"All 2 proxies fail.*cannot be reached.*CRAWL_PROXY_URL"
                ) as caught:
                    await crawler.fetch("http://shop.example/")
                error = caught.value
                assert (error.counts, error.opens_breaker, error.is_sent) == (False, False, False)
                assert error.after is not None
                waits.append(error.after.total_seconds())
                later[0] += waits[-1]
        assert waits == [30, 60, 120, 240, 480, 900, 900, 900]
        assert "hush" not in f"{logged}{error}"
        await down[0].start()
        assert (await crawler.fetch("http://shop.example/")).status == 200
    await down[0].stop()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_refused_login_is_the_fault_of_the_proxy(site: Site, kind: str, scheme: str) -> None:
    place = site.secure if scheme == "https" else site.plain
    async with KINDS[kind](place, LOGIN) as proxy:
        for login in ("", "me:wrong"):
            async with crawling(site, proxy.url(login)) as crawler:
                with pytest.raises(ProxiesCoolingDown, match=r"user name (or|and) password") as caught:
                    await crawler.fetch(f"{scheme}://shop.example/")
            assert "wrong" not in str(caught.value)
    assert site.heads == []


async def test_a_site_that_answers_407_puts_no_proxy_to_rest(site: Site) -> None:
    site.answer = "407 Log in"
    async with HttpProxy(site.plain) as proxy, crawling(site, proxy.url()) as crawler:
        with pytest.raises(PermanentFetchError, match=r"shop\.example answers 407"):
            await crawler.fetch("http://shop.example/")
        site.answer = "200 OK"
        assert (await crawler.fetch("http://shop.example/")).status == 200


async def test_a_site_that_a_proxy_cannot_reach_is_tried_by_the_next_one(site: Site) -> None:
    socks, http = SocksProxy(site.secure), HttpProxy(site.secure)
    socks.code, http.connect_status = 4, 502
    async with proxies(socks, http), crawling(site, socks.url(), http.url()) as crawler:
        with pytest.raises(RetryLater, match=r"cannot be reached by the proxy http://.*: it answers 502\.") as caught:
            await crawler.fetch("https://shop.example/")
        assert (caught.value.counts, caught.value.opens_breaker) == (True, False)
        socks.code = 0
        for _ in range(2):  # neither has a cooldown
            assert (await crawler.fetch("https://shop.example/")).status == 200
        assert len(http.asked) == 2


async def test_a_program_that_is_no_proxy_has_a_cooldown(site: Site) -> None:
    host, port = site.plain
    async with crawling(site, f"socks5://{host}:{port}") as crawler:
        with pytest.raises(ProxiesCoolingDown, match=r"SOCKS5|breaks the connection off|does not answer in time"):
            await crawler.fetch("http://shop.example/")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_private_address_is_refused_before_the_proxy_hears_of_it(site: Site, kind: str) -> None:
    async with KINDS[kind](site.plain) as proxy, crawling(site, proxy.url()) as crawler:
        for url in ("http://10.0.0.7/", "http://inside.example/", "https://inside.example/", "http://[::1]/"):
            with pytest.raises(BlockedByPolicy, match="is not a public web site"):
                await crawler.fetch(url)
        with pytest.raises(BlockedByPolicy):
            await crawler.client.check("http://inside.example/")
    assert proxy.asked == site.heads == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (", ,", "has no URL"),
        ("http://a.example:1, gopher://me:hush@b.example:70", "number 2 of CRAWL_PROXY_URL is not the URL"),
        ("socks5://me:hush@a.example", "is not the URL"),
        ("http://me:hush@a.example:1/path", "is not the URL"),
        ("http://me:hush@a.example:99999", "is not the URL"),
        ("socks5://hush@a.example:1", "a user name and a password of 1 to 255 bytes"),
        (f"socks5://me:hush{'x' * 255}@a.example:1", "a user name and a password of 1 to 255 bytes"),
        ("http://me:hush%E2%82%AC@a.example:1", "not ASCII"),
        ("http://me:hush@a.example:1 http://me:hush@a.example:1", "the same proxy twice"),
    ],
)
def test_a_wrong_value_is_told_without_its_password(value: str, told: str) -> None:
    with pytest.raises(BadSetting, match=told) as caught:
        client_of(load(Environment({"CRAWL_PROXY_URL": value}, env_file=None)))
    assert "hush" not in str(caught.value)
