"""Counting: what a host got, how many at once, and how close together."""

import asyncio

import aiohttp

from scrapersky.crawl.crawler import Crawler, open_crawler
from scrapersky.crawl.errors import TooSoon
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.server.traffic import Traffic
from tests.factories.settings import sandbox_settings


def healthy_host(sandbox: Sandbox) -> str:
    return next(one.host for one in sandbox.world if one.condition == "healthy" and one.host and not one.secure)


def test_requests_at_once_and_gaps_are_counted():
    now = iter([0.0, 0.25, 2.0])
    traffic = Traffic(lambda: next(now))
    traffic.begin("a.fi")
    traffic.begin("a.fi")
    traffic.end("a.fi")
    traffic.end("a.fi")
    traffic.begin("a.fi")
    traffic.end("a.fi")

    assert traffic["a.fi"].requests == 3
    assert traffic["a.fi"].max_concurrent == 2
    assert traffic["a.fi"].min_gap_seconds == 0.25
    assert traffic["b.fi"].requests == 0
    assert traffic["b.fi"].min_gap_seconds is None


async def test_requests_side_by_side_are_seen():
    async with Sandbox(7, latency_seconds=0.1) as sandbox, aiohttp.ClientSession() as session:
        host = healthy_host(sandbox)

        async def ask() -> None:
            async with session.get(sandbox.url, headers={"Host": host}) as answer:
                await answer.read()

        await asyncio.gather(ask(), ask(), ask())
        await ask()

        assert sandbox.traffic[host].requests == 4
        assert sandbox.traffic[host].max_concurrent == 3
        assert sandbox.traffic[host].at_once == 0
        sandbox.traffic.forget()
        assert sandbox.traffic.requests == 0


async def test_a_visitor_who_leaves_is_not_counted_for_ever():
    async with Sandbox(7, latency_seconds=120) as sandbox:
        host = healthy_host(sandbox)
        _, writer = await asyncio.open_connection("127.0.0.1", sandbox.port)
        writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        await writer.drain()
        while not sandbox.traffic[host].at_once:
            await asyncio.sleep(0.01)
        writer.close()
        async with asyncio.timeout(240):
            while sandbox.traffic[host].at_once:
                await asyncio.sleep(0.01)

        assert sandbox.traffic[host].requests == 1


async def test_requests_in_one_breath_are_answered_in_their_order(sandbox: Sandbox):
    host = healthy_host(sandbox)
    reader, writer = await asyncio.open_connection("127.0.0.1", sandbox.port)
    one = f"GET /robots.txt HTTP/1.1\r\nHost: {host}\r\n\r\n"
    other = f"GET /nothing HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    writer.write((one + other).encode())

    answers = (await reader.read()).decode()

    assert answers.index("200 OK") < answers.index("404 Not Found")
    writer.close()


async def test_nonsense_is_answered_with_400(sandbox: Sandbox):
    reader, writer = await asyncio.open_connection("127.0.0.1", sandbox.port)
    writer.write(b"this is not HTTP\r\n\r\n")

    assert (await reader.read()).startswith(b"HTTP/1.1 400")
    writer.close()


async def test_it_serves_many_pages_over_one_connection(sandbox: Sandbox):
    host = healthy_host(sandbox)
    request = f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", sandbox.port)
    count = 500
    for _ in range(count):
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
    writer.close()

    assert sandbox.traffic[host].requests == count


async def test_the_crawlers_limits_are_seen_from_the_other_side():
    """Six tasks want one host: it never has more of them at once than its slots; the others hear "too soon"."""
    async with Sandbox(7, latency_seconds=0.1) as sandbox:
        host = healthy_host(sandbox)
        settings = sandbox_settings(sandbox, CRAWL_MAX_CONCURRENCY_PER_HOST=2, CRAWL_HOST_DELAY_SECONDS=0)

        async def ask(crawler: Crawler) -> bool:
            try:
                await crawler.fetch(f"http://{host}/")
            except TooSoon:
                return False
            return True

        async with open_crawler(settings) as crawler:
            came_through = await asyncio.gather(*(ask(crawler) for _ in range(6)))

    assert came_through.count(True) == 2
    assert sandbox.traffic[host].max_concurrent <= 2
