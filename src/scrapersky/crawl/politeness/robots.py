"""robots.txt by RFC 9309: read once per origin and day, honoured, and never larger than 500 KiB."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from weakref import WeakValueDictionary

from protego import Protego

from scrapersky.crawl.errors import BlockedByPolicy, FetchError, Gone, RetryLater
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.ssrf_guard import Target

ROBOTS_BYTES = 512_000
FETCH_SECONDS = 10.0
MAX_SITEMAPS = 1000
# How long an origin is left alone whose robots.txt cannot be read, when it does not say so itself.
UNREACHABLE = timedelta(minutes=2)
# The memory of the cache, counted in bytes of robots.txt; an entry without rules weighs a little too.
CACHE_BYTES = 16_000_000
ENTRY_BYTES = 500
# A file of this size takes more than 20 ms to parse: not on the event loop.
BIG_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What one origin asks of us. `file` is None when it asks nothing, `trouble` says why we do not know yet."""

    agent: str
    file: Protego | None = None
    size: int = 0
    delay: timedelta = timedelta(0)
    sitemaps: tuple[str, ...] = ()
    trouble: RetryLater | None = None

    def allows(self, url: str) -> bool:
        """Whether the file lets our agent fetch this URL."""
        return self.file is None or bool(self.file.can_fetch(url, self.agent))

    def refuse(self, target: Target) -> None:
        """BlockedByPolicy where the file forbids, RetryLater while it cannot be read."""
        if self.trouble is not None:
            reason = f"robots.txt of {target.host} cannot be read at the moment. {self.trouble.reason}"
            raise RetryLater(reason, after=self.trouble.after, url=target.href)
        if not self.allows(target.href):
            raise BlockedByPolicy(f"robots.txt of {target.host} asks robots not to fetch this page.", url=target.href)


class Robots:
    """The robots.txt of every origin we met, fetched when first needed and kept for `ttl`."""

    def __init__(
        self,
        client: Client,
        *,
        agent: str = "scrapersky",
        ttl: timedelta = timedelta(days=1),
        max_delay: timedelta = timedelta(seconds=30),
    ) -> None:
        self._client = client
        self._agent = agent
        self._ttl = ttl
        self._max_delay = max_delay
        self._kept: OrderedDict[str, tuple[float, RobotsRules]] = OrderedDict()
        self._weight = 0
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def rules(self, target: Target) -> RobotsRules:
        """The rules of this target's origin; one fetch however many ask at once."""
        lock = self._locks.setdefault(target.origin, asyncio.Lock())
        async with lock:
            return self._remembered(target.origin) or await self._learn(target)

    def _remembered(self, origin: str) -> RobotsRules | None:
        until, rules = self._kept.get(origin, (0.0, None))
        if rules is None or until < time.monotonic():
            return None
        self._kept.move_to_end(origin)
        return rules

    async def _learn(self, target: Target) -> RobotsRules:
        rules = await self._read(target)
        stay = min((rules.trouble.after or UNREACHABLE) if rules.trouble else self._ttl, self._ttl)
        self._forget(target.origin)
        self._kept[target.origin] = (time.monotonic() + stay.total_seconds(), rules)
        self._weight += ENTRY_BYTES + rules.size
        while self._weight > CACHE_BYTES:
            self._forget(next(iter(self._kept)))
        return rules

    def _forget(self, origin: str) -> None:
        _, rules = self._kept.pop(origin, (0.0, None))
        if rules is not None:
            self._weight -= ENTRY_BYTES + rules.size

    async def _read(self, target: Target) -> RobotsRules:
        try:
            page = await self._client.fetch(
                f"{target.origin}/robots.txt", max_bytes=ROBOTS_BYTES, cut=True, seconds=FETCH_SECONDS
            )
        except RetryLater as later:
            after = later.after or UNREACHABLE
            return RobotsRules(self._agent, trouble=RetryLater(later.reason, after=after))
        except (Gone, BlockedByPolicy) as error:
            if error.status is None and not error.redirects:
                raise  # the origin itself is unknown or refused: that is the answer for every page of it
            return RobotsRules(self._agent)
        except FetchError:
            return RobotsRules(self._agent)  # RFC 9309 calls 4xx and the like "unavailable": everything may be fetched
        return await self._parsed(page.body)

    async def _parsed(self, body: bytes) -> RobotsRules:
        text = body.decode("utf-8-sig", "replace")
        file = await asyncio.to_thread(Protego.parse, text) if len(body) > BIG_BYTES else Protego.parse(text)
        asked = file.crawl_delay(self._agent) or 0.0
        return RobotsRules(
            self._agent,
            file=file,
            size=len(body),
            delay=timedelta(seconds=min(max(asked, 0.0), self._max_delay.total_seconds())),
            sitemaps=tuple(dict.fromkeys(file.sitemaps))[:MAX_SITEMAPS],
        )
