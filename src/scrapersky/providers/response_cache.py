"""Caches for the responses of providers."""

import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol

MAX_RESPONSES = 64


class ResponseCache(Protocol):
    """Holds responses by query, in this process or in the database that all workers share."""

    async def find(self, query: str) -> Any | None:
        """Return the cached response as parsed JSON; None if there is none or it has expired."""

    async def keep(self, query: str, response: Any, ttl: timedelta) -> None:
        """Store a response for this time, or until its space is needed."""


class InMemoryResponseCache:
    """The cache of one process; the oldest responses are removed first."""

    def __init__(self, max_responses: int = MAX_RESPONSES, now: Callable[[], float] = time.monotonic) -> None:
        self._max_responses = max_responses
        self._now = now
        self._responses: OrderedDict[str, tuple[float, Any]] = OrderedDict()

    async def find(self, query: str) -> Any | None:
        """Return the cached response, or None."""
        expires, response = self._responses.get(query, (self._now(), None))
        return response if self._now() < expires else None

    async def keep(self, query: str, response: Any, ttl: timedelta) -> None:
        """Store a response."""
        self._responses.pop(query, None)
        self._responses[query] = (self._now() + ttl.total_seconds(), response)
        while len(self._responses) > self._max_responses:
            self._responses.popitem(last=False)
