"""A small real web site for the tests: paths with bodies, statuses and redirects, on loopback, under any host name."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from scrapersky.crawl.crawler import Crawler
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.http.limits import FetchLimits
from scrapersky.crawl.network.dns_resolver import parse_known
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from scrapersky.crawl.politeness.host_limits import HostPolicy, InProcessHostLimits
from scrapersky.crawl.politeness.robots import Robots

HOSTS = ("shop.example", "www.shop.example", "cdn.shop.example", "other.example")


@dataclass
class Site:
    """What it answers, and what it was asked."""

    answers: Mapping[str, bytes | str | int | tuple[int, str]]
    asked: list[str] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ", 2)[1]
            host = head.lower().split("\r\nhost: ", 1)[1].split("\r\n", 1)[0]
            self.asked.append(path)
            writer.write(self._response(self.answers.get(host + path, self.answers.get(path, 404))))
            await writer.drain()
        finally:
            writer.close()

    def _response(self, answer: bytes | str | int | tuple[int, str]) -> bytes:
        if answer == -1:
            return b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n<urlset><url><loc>/a</loc></url>"
        if isinstance(answer, tuple):
            status, location = answer
            return f"HTTP/1.1 {status} X\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
        if isinstance(answer, int):
            return f"HTTP/1.1 {answer} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        body = answer.encode() if isinstance(answer, str) else answer
        return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


@asynccontextmanager
async def serving(answers: Mapping[str, bytes | str | int | tuple[int, str]]) -> AsyncIterator[Site]:
    """Serve the site."""
    site = Site(answers)
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site


@asynccontextmanager
async def crawling(
    site: Site, *, honour_robots: bool = True, slots: int = 10, stream_bytes: int = 52_428_800
) -> AsyncIterator[Crawler]:
    """Open a crawler that resolves the names of the site and may visit nothing else."""
    known = parse_known(",".join(f"{host}=127.0.0.1:{site.port}" for host in HOSTS))
    guard = SsrfGuard(allowance=Allowance([f"127.0.0.1:{site.port}"]))
    async with Client(guard, FetchLimits(stream_bytes=stream_bytes), known_hosts=known) as client:
        limits = InProcessHostLimits(HostPolicy(slots=slots, delay=timedelta(0)))
        yield Crawler(client, limits, Robots(client) if honour_robots else None, delay=timedelta(0))
