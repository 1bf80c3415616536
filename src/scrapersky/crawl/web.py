"""What the workflows need of the web: the crawler, the parser processes and the MX lookup."""

import asyncio
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import ParamSpec, TypeVar

from scrapersky.core.settings import Settings
from scrapersky.crawl.crawler import Crawler, crawler_of, delivery_client_of
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.mx_lookup import mx_lookup_of
from scrapersky.crawl.politeness.host_limits import HostLimits
from scrapersky.extract.parser_pool.pool import ParserPool

P = ParamSpec("P")
Facts = TypeVar("Facts")


class Web:
    """Builds everything without opening it; the first use opens connections and processes."""

    def __init__(self, settings: Settings, host_limits: HostLimits | None = None) -> None:
        self._crawler = crawler_of(settings, host_limits)
        self._delivery_client = delivery_client_of(settings) or self._crawler.client
        self._parsers = ParserPool(
            settings.crawl_parser_processes or os.cpu_count() or 2,
            preload=(
                "scrapersky.extract.contacts",
                "scrapersky.extract.site_metadata",
                "scrapersky.extract.parked_domains",
            ),
        )
        self.fills_page_budget = settings.crawl_fill_page_budget
        self.mx_lookup = mx_lookup_of(settings)
        self._opening = asyncio.Lock()
        self._opened: AsyncExitStack | None = None

    async def crawler(self) -> Crawler:
        """Return the crawler, opened."""
        await self._open()
        return self._crawler

    async def client(self) -> Client:
        """Return the guarded HTTP client, opened."""
        return (await self.crawler()).client

    async def delivery_client(self) -> Client:
        """Return the client of deliveries, opened; only it reaches DESTINATION_ALLOWED_PRIVATE_NETWORKS."""
        await self._open()
        return self._delivery_client

    async def read(self, function: Callable[P, Facts], *args: P.args, **options: P.kwargs) -> Facts:
        """Run a parsing function in a process that may be killed."""
        await self._open()
        return await self._parsers.run(function, *args, **options)

    async def close(self) -> None:
        """End the parser processes and close every connection."""
        await self.mx_lookup.close()
        if self._opened is not None:
            await self._opened.aclose()
            self._opened = None

    async def _open(self) -> None:
        async with self._opening:
            if self._opened is None:
                stack = AsyncExitStack()
                await stack.enter_async_context(self._crawler.client)
                if self._delivery_client is not self._crawler.client:
                    await stack.enter_async_context(self._delivery_client)
                await stack.enter_async_context(self._parsers)
                self._opened = stack
