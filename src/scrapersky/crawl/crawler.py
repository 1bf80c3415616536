"""The polite fetcher: robots.txt, host limits and the guarded client as one thing that fetches."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import yarl

from scrapersky import __version__
from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Settings
from scrapersky.crawl.errors import Known, Page
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.http.limits import Limits
from scrapersky.crawl.http.response_stream import Stream
from scrapersky.crawl.network.dns_resolver import parse_known
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from scrapersky.crawl.politeness.host_limits import HostLimits, InProcessHostLimits
from scrapersky.crawl.politeness.robots import Robots
from scrapersky.crawl.politeness.visit import Visit


class Crawler:
    """Fetches like a guest: asks robots.txt, takes a permit per host, and never waits for one.

    When a host is not to be visited yet, RetryLater says after how long; the caller's slot is free at once.
    `robots` is None where robots.txt is not honoured.
    """

    def __init__(
        self,
        client: Client,
        host_limits: HostLimits,
        robots: Robots | None,
        *,
        delay: timedelta = timedelta(seconds=1),
        at_once: int = 1,  # a permit is one slot of its host, so a visit is one request at a time
    ) -> None:
        self.client = client
        self._limits = host_limits
        self._robots = robots
        self._delay = delay
        self._at_once = at_once

    def visit(self) -> Visit:
        """Several requests under one permit per host: `async with crawler.visit() as visit`."""
        return Visit(self.client, self._limits, self._robots, delay=self._delay, at_once=self._at_once)

    async def fetch(
        self, url: str, *, known: Known | None = None, method: str = "GET", max_bytes: int | None = None
    ) -> Page:
        """One page in a visit of its own."""
        async with self.visit() as visit:
            return await visit.fetch(url, known=known, method=method, max_bytes=max_bytes)

    @asynccontextmanager
    async def stream(
        self, url: str, *, known: Known | None = None, max_bytes: int | None = None, seconds: float | None = None
    ) -> AsyncIterator[Stream]:
        """One body, piece by piece, in a visit of its own; the permit is held until the reader is done."""
        async with (
            self.visit() as visit,
            visit.stream(url, known=known, max_bytes=max_bytes, seconds=seconds) as answer,
        ):
            yield answer


def user_agent(settings: Settings) -> str:
    """Who we say we are: name, version, and where to complain."""
    contact = f" (+{settings.crawl_contact_url})" if settings.crawl_contact_url else ""
    return f"{settings.crawl_user_agent}/{__version__}{contact}"


def client_of(settings: Settings) -> Client:
    """The guarded client as the settings want it."""
    return Client(
        SsrfGuard(_ports(settings.crawl_allowed_ports), Allowance(settings.crawl_allowed_private_networks.split(","))),
        Limits(
            deadline_seconds=settings.crawl_fetch_timeout_seconds,
            connect_seconds=settings.crawl_connect_timeout_seconds,
            max_redirects=settings.crawl_max_redirects,
            page_bytes=settings.crawl_max_page_bytes,
            stream_bytes=settings.crawl_max_stream_bytes,
            connections=settings.crawl_max_connections,
            max_retry_after_seconds=settings.crawl_max_retry_after_seconds,
        ),
        user_agent=user_agent(settings),
        known_hosts=parse_known(settings.crawl_host_overrides),
        dns_threads=settings.crawl_max_dns_lookups,
        dns_seconds=settings.crawl_dns_timeout_seconds,
        proxy=_proxy(settings.crawl_proxy_url.get_secret_value()) if settings.crawl_proxy_url else None,
        ssl_context=_trusting(settings.crawl_ca_file),
    )


def host_limits_of(settings: Settings) -> InProcessHostLimits:
    """Host limits for a process that has nobody to share them with."""
    return InProcessHostLimits(
        slots=settings.crawl_max_concurrency_per_host,
        delay=timedelta(seconds=settings.crawl_host_delay_seconds),
        lease=timedelta(seconds=settings.crawl_host_lease_seconds),
    )


def crawler_of(settings: Settings, host_limits: HostLimits | None = None) -> Crawler:
    """A crawler as the settings want it, not yet connected."""
    client = client_of(settings)
    robots = Robots(
        client,
        agent=settings.crawl_user_agent,
        ttl=timedelta(seconds=settings.crawl_robots_ttl_seconds),
        max_delay=timedelta(seconds=settings.crawl_max_robots_delay_seconds),
    )
    return Crawler(
        client,
        host_limits or host_limits_of(settings),
        robots if settings.crawl_obey_robots else None,
        delay=timedelta(seconds=settings.crawl_host_delay_seconds),
    )


@asynccontextmanager
async def open_crawler(settings: Settings, host_limits: HostLimits | None = None) -> AsyncIterator[Crawler]:
    """A crawler as the settings want it; give it the shared host limits where several workers run."""
    crawler = crawler_of(settings, host_limits)
    async with crawler.client:
        yield crawler


def _ports(text: str) -> list[int]:
    ports = [part.strip() for part in text.split(",") if part.strip()]
    if not ports or not all(port.isdecimal() and 0 < int(port) < 65536 for port in ports):
        raise BadSetting(f"CRAWL_ALLOWED_PORTS={text} is not a list of ports; write 80,443,8080,8443.")
    return [int(port) for port in ports]


def _trusting(ca_file: Path | None) -> ssl.SSLContext:
    """Certificates are always verified: against the authorities of the machine, and those of the file besides."""
    context = ssl.create_default_context()
    if ca_file is None:
        return context
    try:
        context.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise BadSetting(f"CRAWL_CA_FILE={ca_file} is no readable file of certificates in PEM form: {error}.") from None
    return context


def _proxy(text: str) -> str:
    """The proxy's address; what is wrong is said without repeating it, for it may hold a password."""
    try:
        url = yarl.URL(text)
        if url.scheme in ("http", "https") and url.host and url.path in ("", "/"):
            return text
    except ValueError:
        pass
    raise BadSetting("CRAWL_PROXY_URL is not the address of a proxy; write http://host:port.")
