"""One visit to one or more hosts: permits taken once, requests counted, the debt paid afterwards."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Self

import yarl

from scrapersky.crawl.errors import Known, Page, RetryLater, TooSoon, VisitOver
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.http.response_stream import Stream
from scrapersky.crawl.network.ssrf_guard import Target
from scrapersky.crawl.politeness.host_limits import HostLimits, NotYet, Permit
from scrapersky.crawl.politeness.robots import Robots, RobotsRules

# Beyond this many requests a visit is a crawl: end it, and come back when the host has had its rest.
MAX_REQUESTS = 25
# How long a host rests that says "too many" or "unavailable" without saying until when.
REST = timedelta(seconds=60)
TOO_MANY = frozenset({429, 503})


class Visit:
    """Fetches under one permit per host, taken when the first request needs it and given back at the end.

    A visit never sleeps. Each request after the first adds one delay to the time the host is left alone afterwards, so
    over time no host gets more than its limits allow, whoever visits it next.
    """

    def __init__(
        self, client: Client, limits: HostLimits, robots: Robots | None, *, delay: timedelta, at_once: int
    ) -> None:
        self._client = client
        self._limits = limits
        self._robots = robots
        self._delay = delay
        self._turn = asyncio.Semaphore(at_once)
        self._door = asyncio.Lock()
        self._permits: dict[str, Permit] = {}
        self._requests: Counter[str] = Counter()
        self._asked: dict[str, timedelta] = {}
        self._rests: dict[str, timedelta] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for host, permit in self._permits.items():
            await self._limits.release(permit, self._pause(host))

    async def fetch(
        self, url: str, *, known: Known | None = None, method: str = "GET", max_bytes: int | None = None
    ) -> Page:
        """A page, within the limits of the client and with good manners."""
        async with self._turn:
            with self._heeding():
                return await self._client.fetch(url, known=known, method=method, max_bytes=max_bytes, gate=self._enter)

    @asynccontextmanager
    async def stream(
        self, url: str, *, known: Known | None = None, max_bytes: int | None = None, seconds: float | None = None
    ) -> AsyncIterator[Stream]:
        """A body piece by piece, for what is too long to hold."""
        async with self._turn:
            with self._heeding():
                async with self._client.stream(
                    url, known=known, max_bytes=max_bytes, seconds=seconds, gate=self._enter
                ) as answer:
                    yield answer

    async def rules(self, url: str) -> RobotsRules | None:
        """What robots.txt says about this origin (its Sitemap lines too); None when it is not honoured."""
        target = self._client.guard.target(url)
        await self._permit(target)
        return None if self._robots is None else await self._robots.rules(target)

    async def _enter(self, target: Target) -> None:
        """Before each request of a chain: a permit for the host, then a word from its robots.txt."""
        await self._permit(target)
        if self._requests[target.host] >= MAX_REQUESTS:
            raise VisitOver(f"{target.host} had {MAX_REQUESTS} requests in one visit.", after=self._pause(target.host))
        self._requests[target.host] += 1
        if self._robots is not None:
            rules = await self._robots.rules(target)
            self._asked[target.host] = rules.delay
            rules.refuse(target)

    async def _permit(self, target: Target) -> None:
        async with self._door:
            if target.host in self._permits:
                return
            permit = await self._limits.acquire(target.host)
            if isinstance(permit, NotYet):
                raise TooSoon(f"{target.host} was visited a moment ago.", after=permit.after, url=target.href)
            self._permits[target.host] = permit

    def _pause(self, host: str) -> timedelta:
        """How long the host is left alone after this visit. The first delay began when the permit was given."""
        asked = self._asked.get(host, timedelta(0)) * self._requests[host]
        owed = self._delay * max(self._requests[host] - 1, 0)
        return max(asked, owed, self._rests.get(host, timedelta(0)))

    @contextmanager
    def _heeding(self) -> Iterator[None]:
        """Remember a host's wish to be left alone."""
        try:
            yield
        except RetryLater as later:
            host = yarl.URL(later.url).host
            if host and later.status in TOO_MANY:
                self._rests[host] = max(later.after or REST, self._rests.get(host, timedelta(0)))
            raise
