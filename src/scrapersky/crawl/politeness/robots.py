"""robots.txt by RFC 9309: fetched once per origin and day, at most 500 KiB of it."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from weakref import WeakValueDictionary

import yarl

from scrapersky.crawl.errors import BlockedByPolicy, BotCheckRequired, FetchError, PageNotFound, RetryLater, TooSoon
from scrapersky.crawl.http.body_cache import BodyCache
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.ssrf_guard import Target
from scrapersky.crawl.page import FetchedPage, empty_page
from scrapersky.crawl.politeness.robots_file import RobotsFile, read_robots

ROBOTS_BYTES = 512_000
FETCH_SECONDS = 10.0
# How long an origin whose robots.txt cannot be fetched is not requested, without a Retry-After.
UNREACHABLE = timedelta(minutes=2)
# The size of the cache in bytes of parsed rules, and what an entry without rules counts.
CACHE_BYTES = 32_000_000
ENTRY_BYTES = 500
NO_FILE = HTTPStatus.NOT_FOUND  # an empty file forbids nothing either
# A larger file may take more than 2 ms to parse, and the largest 70 ms, so it is parsed in a thread.
BIG_BYTES = 16_384
CLOSED_STATUSES = frozenset({429, 503})  # RFC 9309: nothing may be fetched while robots.txt is answered with these


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one origin. `file` is None if there are none; `error` is set while they cannot be fetched."""

    file: RobotsFile | None = None
    delay: timedelta = timedelta(0)
    error: RetryLater | None = None

    @property
    def size(self) -> int:
        """The memory that the rules take, estimated."""
        return ENTRY_BYTES + (self.file.size if self.file is not None else 0)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The URLs in the Sitemap lines, as written."""
        return self.file.sitemaps if self.file is not None else ()

    def allows(self, url: str) -> bool:
        """Return whether our agent may fetch this URL."""
        return self.file is None or self.file.allows(url)

    def check(self, target: Target) -> None:
        """Raise BlockedByPolicy if the file forbids the URL, RetryLater while the file cannot be fetched."""
        if self.error is not None:
            reason = f"robots.txt of {target.host} cannot be read at the moment. {self.error.reason}"
            raise RetryLater(reason, after=self.error.after, url=target.href)
        if not self.allows(target.href):
            raise BlockedByPolicy(f"robots.txt of {target.host} asks robots not to fetch this page.", url=target.href)


class Robots:
    """A cache of the robots.txt of each origin, fetched when first needed and kept for `ttl`."""

    def __init__(
        self,
        client: Client,
        *,
        agent: str = "scrapersky",
        ttl: timedelta = timedelta(days=1),
        max_delay: timedelta = timedelta(seconds=30),
        cache: BodyCache | None = None,
    ) -> None:
        self._client = client
        self._agent = agent
        self._ttl = ttl
        self._max_delay = max_delay
        self._shared = cache
        self._cache: OrderedDict[str, tuple[float, RobotsRules]] = OrderedDict()
        self._cache_bytes = 0
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def rules(self, target: Target) -> RobotsRules:
        """Return the rules of the origin of this target; concurrent calls share one fetch."""
        lock = self._locks.setdefault(target.origin, asyncio.Lock())
        async with lock:
            return self._cached(target.origin) or await self._load(target)

    def _cached(self, origin: str) -> RobotsRules | None:
        until, rules = self._cache.get(origin, (0.0, None))
        if rules is None or until < time.monotonic():
            return None
        self._cache.move_to_end(origin)
        return rules

    async def _load(self, target: Target) -> RobotsRules:
        rules = await self._fetch(target)
        self._store(target.origin, rules)
        return rules

    def _store(self, origin: str, rules: RobotsRules) -> None:
        ttl = min((rules.error.after or UNREACHABLE) if rules.error else self._ttl, self._ttl)
        self._remove(origin)
        self._cache[origin] = (time.monotonic() + ttl.total_seconds(), rules)
        self._cache_bytes += rules.size
        while self._cache_bytes > CACHE_BYTES:
            self._remove(next(iter(self._cache)))

    def _remove(self, origin: str) -> None:
        _, rules = self._cache.pop(origin, (0.0, None))
        if rules is not None:
            self._cache_bytes -= rules.size

    async def _fetch(self, target: Target) -> RobotsRules:
        url = f"{target.origin}/robots.txt"
        kept = await self._shared.find(url) if self._shared is not None else None
        if kept is not None:
            return await self._parse(kept.body)
        try:
            page = await self._client.fetch(url, max_bytes=ROBOTS_BYTES, truncate=True, seconds=FETCH_SECONDS)
        except TooSoon:
            raise  # no fault of the site
        except RetryLater as later:
            after = later.after or UNREACHABLE
            return RobotsRules(error=RetryLater(later.reason, after=after))
        except (PageNotFound, BlockedByPolicy) as error:
            if isinstance(error, BotCheckRequired) and error.status in CLOSED_STATUSES:
                raise  # the site refuses everything now
            if error.status is None and not error.redirects:
                raise  # the host does not exist or is blocked, so no page of it can be fetched
            return await self._share(url, empty_page(error.url or url, NO_FILE), RobotsRules())
        except FetchError as error:  # "unavailable" in RFC 9309, such as 4xx: everything may be fetched
            return await self._share(url, empty_page(error.url or url, NO_FILE), RobotsRules())
        return await self._share(url, page, await self._parse(page.body))

    async def _share(self, url: str, page: FetchedPage, rules: RobotsRules) -> RobotsRules:
        """Keep the file for all workers; if a redirect led to the file of another origin, as of https, for that too."""
        final = yarl.URL(page.final_url)
        origin = f"{final.scheme}://{final.authority}"  # as Target has it
        urls = [url]
        if final.path_qs == "/robots.txt" and f"{origin}/robots.txt" != url:
            self._store(origin, rules)
            urls.append(f"{origin}/robots.txt")
        if self._shared is not None:
            for each in urls:
                await self._shared.keep(each, page, self._ttl)
        return rules

    async def _parse(self, body: bytes) -> RobotsRules:
        is_small = len(body) <= BIG_BYTES
        file = read_robots(body, self._agent) if is_small else await asyncio.to_thread(read_robots, body, self._agent)
        delay = min(file.crawl_delay_seconds, self._max_delay.total_seconds())
        return RobotsRules(file, delay=timedelta(seconds=delay))
