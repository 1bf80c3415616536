"""A visit: several requests to one or more hosts under one permit per host."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import Self

import yarl

from scrapersky.crawl.errors import PermanentFetchError, RefusedOnce, RetryLater, TooSoon, VisitLimitReached
from scrapersky.crawl.http.body_cache import BodyCache
from scrapersky.crawl.http.byte_budget import ByteBudget
from scrapersky.crawl.http.client import Client, ClientProfile
from scrapersky.crawl.http.response_stream import ResponseStream
from scrapersky.crawl.network.ssrf_guard import Target
from scrapersky.crawl.page import FetchedPage, Validators, empty_page
from scrapersky.crawl.politeness.host_limits import HostLimits, NotYet, Permit
from scrapersky.crawl.politeness.robots import Robots, RobotsRules

# A visit ends after this many requests; the next one begins after the pause of the host.
MAX_REQUESTS = 25
# The cooldown of a host that answers one of these statuses without a Retry-After.
COOLDOWN = timedelta(seconds=60)
COOLDOWN_STATUSES = frozenset({429, 503})
REFUSED = HTTPStatus.FORBIDDEN
REFUSAL_KEPT = timedelta(days=1)  # how long a first refusal is remembered, by all workers


class Visit:
    """Fetches under one permit per host, acquired by the first request and released at the end.

    The pages it fetches count as memory in use until it ends: read a page inside the visit. A visit never sleeps
    between requests. Each request after the first adds one delay to the pause of the host after the visit, so over
    time no host gets more requests than its limits allow.
    """

    def __init__(
        self,
        client: Client,
        limits: HostLimits,
        robots: Robots | None,
        *,
        delay: timedelta,
        budget: ByteBudget | None = None,
        cache: BodyCache | None = None,
    ) -> None:
        self._client = client
        self._cache = cache
        self._limits = limits
        self._robots = robots
        self._delay = delay
        self._reservation = budget.reservation() if budget is not None else None
        # A permit is one slot of its host, so a visit makes one request at a time.
        self._request_lock = asyncio.Lock()
        self._permit_lock = asyncio.Lock()
        self._permits: dict[str, Permit] = {}
        self._requests: Counter[str] = Counter()
        self._crawl_delays: dict[str, timedelta] = {}
        self._cooldowns: dict[str, timedelta] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._reservation is not None:
            self._reservation.release()
        for host, permit in self._permits.items():
            await self._limits.release(permit, self._pause(host))

    @property
    def stream_bytes(self) -> int:
        """The maximum size of a streamed body."""
        return self._client.limits.stream_bytes

    async def fetch(
        self,
        url: str,
        *,
        validators: Validators | None = None,
        method: str = "GET",
        max_bytes: int | None = None,
        profile: ClientProfile = ClientProfile.PLAIN,
    ) -> FetchedPage:
        """Fetch a page within the limits of the client, the host and robots.txt."""
        async with self._request_lock:
            with self._recording_cooldowns():
                return await self._client.fetch(
                    url,
                    validators=validators,
                    method=method,
                    max_bytes=max_bytes,
                    gate=self._enter,
                    reserve=self._reservation.grow if self._reservation is not None else None,
                    profile=profile,
                )

    async def fetch_page(self, url: str, *, validators: Validators | None = None) -> FetchedPage:
        """Fetch a page; a 403 is tried once more later, with the headers of a browser, before it is final."""
        try:
            return await self.fetch(url, validators=validators)
        except PermanentFetchError as refused:
            if refused.status != REFUSED or self._cache is None:
                raise
            key = f"refused:{refused.url}"
            if await self._cache.find(key) is None:
                await self._cache.keep(key, empty_page(refused.url, REFUSED), REFUSAL_KEPT)
                raise RefusedOnce(refused.reason, url=refused.url, status=REFUSED) from None
            return await self._fetch_again(refused.url)

    async def _fetch_again(self, url: str) -> FetchedPage:
        try:
            return await self.fetch(url, profile=ClientProfile.BROWSER)
        except PermanentFetchError as refused:
            if refused.status == REFUSED:
                refused.reason = f"{refused.reason.rstrip('.')}, also to the headers of a browser."
                refused.args = (refused.reason,)
            raise

    async def fetch_for_browser(self, url: str, method: str, headers: Mapping[str, str]) -> FetchedPage:
        """Fetch what a page in the browser asks for, whatever the status of the response."""
        async with self._request_lock:
            return await self._client.fetch_any(
                url,
                method=method,
                headers=headers,
                gate=self._enter,
                reserve=self._reservation.grow if self._reservation is not None else None,
            )

    def canonical(self, url: str) -> str:
        """Return a URL in the form in which URLs are stored; raise BlockedByPolicy if it may not be fetched."""
        return self._client.guard.target(url).href

    async def fetch_shared(self, url: str, *, validators: Validators | None = None) -> FetchedPage:
        """Return the page that any worker fetched a moment ago, without a request; else fetch it and keep it."""
        kept = await self.find_kept(url)
        if kept is not None:
            if self._reservation is not None:
                await self._reservation.grow(len(kept.body))
            return kept
        page = await self.fetch_page(url, validators=validators)
        if not page.not_modified:
            await self.keep(page.final_url, page)
        return page

    async def find_kept(self, url: str) -> FetchedPage | None:
        """Return the response that was kept under this URL, or None."""
        return await self._cache.find(self._client.guard.target(url).href) if self._cache is not None else None

    async def keep(self, url: str, page: FetchedPage) -> None:
        """Keep a response under this URL for the steps that read it again."""
        if self._cache is not None:
            await self._cache.keep(self._client.guard.target(url).href, page, self._cache.ttl)

    @asynccontextmanager
    async def stream(
        self, url: str, *, max_bytes: int | None = None, truncate: bool = False, seconds: float | None = None
    ) -> AsyncIterator[ResponseStream]:
        """Open a response whose body is read piece by piece."""
        async with self._request_lock:
            with self._recording_cooldowns():
                async with self._client.stream(
                    url, max_bytes=max_bytes, truncate=truncate, seconds=seconds, gate=self._enter
                ) as response:
                    yield response

    async def rules(self, url: str) -> RobotsRules | None:
        """Return the robots.txt rules of this origin; None if robots.txt is not honoured."""
        target = self._client.guard.target(url)
        await self._permit(target)
        return None if self._robots is None else await self._robots.rules(target)

    async def _enter(self, target: Target) -> None:
        """Check the permit, the request count and robots.txt before each request of a fetch."""
        await self._permit(target)
        if self._requests[target.host] >= MAX_REQUESTS:
            raise VisitLimitReached(
                f"{target.host} had {MAX_REQUESTS} requests in one visit.", after=self._pause(target.host)
            )
        self._requests[target.host] += 1
        if self._robots is not None:
            rules = await self._robots.rules(target)
            self._crawl_delays[target.host] = rules.delay
            rules.check(target)

    async def _permit(self, target: Target) -> None:
        async with self._permit_lock:
            if target.host in self._permits:
                return
            permit = await self._limits.acquire(target.host)
            if isinstance(permit, NotYet):
                raise TooSoon(f"{target.host} was visited a moment ago.", after=permit.after, url=target.href)
            self._permits[target.host] = permit

    def _pause(self, host: str) -> timedelta:
        """Return the pause of the host after this visit. The first delay began with the permit."""
        by_robots = self._crawl_delays.get(host, timedelta(0)) * self._requests[host]
        by_policy = self._delay * max(self._requests[host] - 1, 0)
        return max(by_robots, by_policy, self._cooldowns.get(host, timedelta(0)))

    @contextmanager
    def _recording_cooldowns(self) -> Iterator[None]:
        """Record the cooldown of a host that answers 429 or 503."""
        try:
            yield
        except RetryLater as later:
            host = yarl.URL(later.url).host
            if host and later.status in COOLDOWN_STATUSES:
                self._cooldowns[host] = max(later.after or COOLDOWN, self._cooldowns.get(host, timedelta(0)))
            raise
