"""Throttles requests to a shared service: one at a time, with a delay after each, for all workers together."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TypeVar
from urllib.parse import urlsplit

from scrapersky.crawl.politeness.host_limits import HostLimits, HostPolicy, InProcessHostLimits, NotYet, Permit
from scrapersky.providers.base import ProviderBusy
from scrapersky.providers.response_cache import ResponseCache

Response = TypeVar("Response")
# Builds host limits for a policy: in this process, or for all workers.
LimitsSource = Callable[[HostPolicy], HostLimits]
MAX_WAIT = timedelta(seconds=30)  # of a worker; then the search is queued again
RETRY_AFTER = timedelta(seconds=20)


class Throttle:
    """Permits one request at a time, and a delay after each, independent of the settings of the crawler."""

    def __init__(
        self,
        service: str,
        base_url: str,
        *,
        delay: timedelta = timedelta(0),
        lease: timedelta = timedelta(seconds=30),
        limits: LimitsSource = InProcessHostLimits,
        max_wait: timedelta = MAX_WAIT,
    ) -> None:
        self._service = service
        # Not the host alone: the crawler has limits of its own for pages of the same host.
        self._name = f"{service} at {urlsplit(base_url).netloc}"
        self._delay = delay
        self._max_wait = max_wait
        self._limits = limits(HostPolicy(slots=1, delay=delay, lease=lease))

    @asynccontextmanager
    async def permit(self) -> AsyncIterator[None]:
        """Wait for permission to send one request; raise ProviderBusy if that takes too long."""
        permit = await self._acquire()
        try:
            yield
        finally:
            # The delay begins at the end of the request: a slow one is not followed by the next at once.
            await self._limits.release(permit, self._delay)

    async def cached(
        self, cache: ResponseCache, query: str, ttl: timedelta, send: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Return the cached response to a query, or send the request with a permit and cache its response."""
        found: Response | None = await cache.find(query)
        if found is None:
            async with self.permit():
                found = await cache.find(query)  # another worker may have stored it meanwhile
                if found is None:
                    found = await send()
                    await cache.keep(query, found, ttl)
        return found

    async def _acquire(self) -> Permit:
        until = time.monotonic() + self._max_wait.total_seconds()
        while isinstance(permit := await self._limits.acquire(self._name), NotYet):
            if time.monotonic() >= until:
                raise ProviderBusy(f"{self._service} is busy with other requests of ours.", RETRY_AFTER)
            await asyncio.sleep(max(permit.after.total_seconds(), 0.01))
        return permit
