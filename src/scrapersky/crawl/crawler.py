"""The crawler: fetches through the guarded client, within robots.txt and the limits of each host."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from scrapersky import __version__
from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Settings
from scrapersky.core.user_agent import is_name, robot_name
from scrapersky.crawl.http.body_cache import BodyCache
from scrapersky.crawl.http.byte_budget import ByteBudget
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.http.limits import FetchLimits
from scrapersky.crawl.http.response_stream import ResponseStream
from scrapersky.crawl.network.dns_resolver import parse_known
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.proxies import parse_proxies
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from scrapersky.crawl.page import FetchedPage, Validators
from scrapersky.crawl.politeness.host_limits import HostLimits, HostPolicy, InProcessHostLimits
from scrapersky.crawl.politeness.robots import Robots
from scrapersky.crawl.politeness.visit import Visit


class Crawler:
    """Fetches pages: checks robots.txt, acquires a permit for the host, and never waits for one.

    If the host may not be visited yet, RetryLater has the time to wait, and the caller's slot is free at once.
    `robots` is None if robots.txt is not honoured.
    """

    def __init__(
        self,
        client: Client,
        host_limits: HostLimits,
        robots: Robots | None,
        *,
        delay: timedelta = timedelta(seconds=1),
        budget: ByteBudget | None = None,
        cache: BodyCache | None = None,
    ) -> None:
        self.client = client
        self._limits = host_limits
        self._robots = robots
        self._delay = delay
        self._budget = budget
        self._cache = cache

    def visit(self) -> Visit:
        """Open a visit, which makes several requests under one permit per host."""
        return Visit(self.client, self._limits, self._robots, delay=self._delay, budget=self._budget, cache=self._cache)

    async def fetch(
        self, url: str, *, validators: Validators | None = None, method: str = "GET", max_bytes: int | None = None
    ) -> FetchedPage:
        """Fetch one page in a visit of its own."""
        async with self.visit() as visit:
            return await visit.fetch(url, validators=validators, method=method, max_bytes=max_bytes)

    @asynccontextmanager
    async def stream(
        self, url: str, *, max_bytes: int | None = None, seconds: float | None = None
    ) -> AsyncIterator[ResponseStream]:
        """Open one response in a visit of its own; the permit is released when the response is closed."""
        async with self.visit() as visit, visit.stream(url, max_bytes=max_bytes, seconds=seconds) as response:
            yield response


def user_agent(settings: Settings) -> str:
    """Return the User-Agent: the whole string of the setting, or its name with version and contact URL."""
    if not is_name(settings.crawl_user_agent):
        return settings.crawl_user_agent
    contact = f" (+{settings.crawl_contact_url})" if settings.crawl_contact_url else ""
    return f"{settings.crawl_user_agent}/{__version__}{contact}"


def delivery_client_of(settings: Settings) -> Client | None:
    """Build the client of deliveries that also reaches private receivers; None if the settings allow none.

    An HTTP proxy resolves names itself, so that we cannot check where a name leads to: with a proxy, none is allowed.
    """
    entries = settings.destination_allowed_private_networks.split(",")
    receivers = Allowance(entries, "DESTINATION_ALLOWED_PRIVATE_NETWORKS")
    return client_of(settings, receivers) if receivers and not settings.crawl_proxy_url else None


def client_of(settings: Settings, receivers: Allowance | None = None) -> Client:
    """Build the guarded client from the settings."""
    allowance = Allowance(settings.crawl_allowed_private_networks.split(","))
    return Client(
        SsrfGuard(_ports(settings.crawl_allowed_ports), allowance, receivers),
        FetchLimits(
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
        proxies=parse_proxies(settings.crawl_proxy_url.get_secret_value()) if settings.crawl_proxy_url else (),
        ssl_context=_ssl_context(settings.crawl_ca_file) if settings.crawl_ca_file else None,
    )


def crawler_of(settings: Settings, host_limits: HostLimits | None = None, cache: BodyCache | None = None) -> Crawler:
    """Build a crawler from the settings, not yet opened; without host limits it uses those of one process."""
    client, policy = client_of(settings), HostPolicy.of(settings)
    robots = Robots(
        client,
        agent=robot_name(settings.crawl_user_agent),
        ttl=timedelta(seconds=settings.crawl_robots_ttl_seconds),
        max_delay=timedelta(seconds=settings.crawl_max_robots_delay_seconds),
        cache=cache,
    )
    return Crawler(
        client,
        host_limits or InProcessHostLimits(policy),
        robots if settings.crawl_obey_robots else None,
        delay=policy.delay,
        budget=ByteBudget(settings.crawl_max_page_memory_bytes, settings.crawl_max_page_bytes),
        cache=cache,
    )


@asynccontextmanager
async def open_crawler(settings: Settings, host_limits: HostLimits | None = None) -> AsyncIterator[Crawler]:
    """Open a crawler built from the settings; pass shared host limits if several workers run."""
    crawler = crawler_of(settings, host_limits)
    async with crawler.client:
        yield crawler


def _ports(text: str) -> list[int]:
    ports = [part.strip() for part in text.split(",") if part.strip()]
    if not ports or not all(port.isdecimal() and 0 < int(port) < 65536 for port in ports):
        raise BadSetting(f"CRAWL_ALLOWED_PORTS={text} is not a list of ports; write 80,443,8080,8443.")
    return [int(port) for port in ports]


def _ssl_context(ca_file: Path) -> ssl.SSLContext:
    """Build a context that verifies certificates with the authorities of the machine and of the file."""
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise BadSetting(f"CRAWL_CA_FILE={ca_file} is not a readable PEM file of certificates: {error}.") from None
    return context
