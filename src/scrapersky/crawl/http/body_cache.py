"""The cache of response bodies: what one step has fetched, a later step reads without a request."""

from datetime import timedelta
from typing import Protocol

from scrapersky.crawl.page import FetchedPage

MAX_BODY_BYTES = 1_000_000  # a larger body is not kept


class BodyCache(Protocol):
    """Keeps bodies for a short time, for all workers together."""

    ttl: timedelta  # of pages and sitemaps

    async def find(self, url: str) -> FetchedPage | None:
        """Return the response that was kept under this URL, or None."""

    async def keep(self, url: str, page: FetchedPage, ttl: timedelta) -> None:
        """Keep a response under this URL; one that is too large is not kept."""
