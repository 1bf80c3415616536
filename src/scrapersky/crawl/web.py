"""What the workflows need of the web: the crawler, the parser processes and the MX lookup."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import ParamSpec, TypeVar

import structlog

from scrapersky.core.settings import Settings
from scrapersky.core.vocabularies import HiddenReason
from scrapersky.crawl.browser.browser import Browser, BrowserVisit
from scrapersky.crawl.browser.program import browser_options
from scrapersky.crawl.crawler import Crawler, crawler_of, delivery_client_of, user_agent
from scrapersky.crawl.errors import BotCheckRequired
from scrapersky.crawl.http.body_cache import BodyCache
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.mx_lookup import mx_lookup_of
from scrapersky.crawl.page import FetchedPage
from scrapersky.crawl.politeness.host_limits import HostLimits
from scrapersky.crawl.politeness.visit import Visit
from scrapersky.extract.parser_pool.pool import ParserPool
from scrapersky.extract.readers import FINDERS

# Why a page is read once more by the browser, if there is one, and what helps if there is none.
DRAWN_REASONS = (HiddenReason.JAVASCRIPT, HiddenReason.BOT_CHECK)
NEEDS_BROWSER = "A browser may read it (CRAWL_BROWSER)."

log = structlog.get_logger(__name__)

P = ParamSpec("P")
Facts = TypeVar("Facts")


class Web:
    """Builds everything without opening it; the first use opens connections and processes."""

    def __init__(
        self, settings: Settings, host_limits: HostLimits | None = None, cache: BodyCache | None = None
    ) -> None:
        self._crawler = crawler_of(settings, host_limits, cache)
        self._delivery_client = delivery_client_of(settings) or self._crawler.client
        self._parsers = ParserPool(
            settings.crawl_parser_processes or os.cpu_count() or 2,
            preload=FINDERS,
        )
        browser = browser_options(settings, user_agent(settings))
        self.browser = Browser(browser) if browser is not None else None  # None: it is off
        self.fills_page_budget = settings.crawl_fill_page_budget
        self.mx_lookup = mx_lookup_of(settings)
        self._opening = asyncio.Lock()
        self._opened: AsyncExitStack | None = None
        self._has_parsers = False
        self._early_start: asyncio.Task[None] | None = None

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

    async def draw(
        self, visit: Visit, url: str, first: FetchedPage | None, may_draw: Callable[[], Awaitable[bool]]
    ) -> BrowserVisit | None:
        """Let the browser draw a page that hides from a plain reader; None if there is none, or the search has none."""
        if self.browser is None or not await may_draw():
            return None
        return await self.browser.draw(visit, url, first)

    async def draw_past_check(
        self, visit: Visit, check: BotCheckRequired, may_draw: Callable[[], Awaitable[bool]]
    ) -> tuple[FetchedPage, BrowserVisit]:
        """Return what the browser draws where a plain reader meets a bot check; raise the check if that is nothing."""
        drawn = await self.draw(visit, check.url, None, may_draw)
        if drawn is None:
            check.add(NEEDS_BROWSER)
            raise check
        if drawn.page is None:
            check.add(f"{drawn.result[0].upper()}{drawn.result[1:]}.")
            raise check
        return drawn.page, drawn

    async def read(self, function: Callable[P, Facts], *args: P.args, **options: P.kwargs) -> Facts:
        """Run a parsing function in a process that may be killed."""
        await self._start_parsers()
        return await self._parsers.run(function, *args, **options)

    def start_parsers(self) -> None:
        """Start a parser process in the background, for a caller that knows that pages will be read soon.

        An error is logged here; the first page tries again, and raises it.
        """
        if self._early_start is None:
            self._early_start = asyncio.create_task(self._start_parsers(), name="start of a parser")
            self._early_start.add_done_callback(_log_failed_start)

    async def close(self) -> None:
        """End the parser processes and close every connection."""
        await self.mx_lookup.close()
        if self._early_start is not None:
            self._early_start.cancel()
            await asyncio.wait([self._early_start])
        if self._opened is not None:
            await self._opened.aclose()
            self._opened, self._has_parsers = None, False

    async def _open(self) -> AsyncExitStack:
        async with self._opening:
            if self._opened is None:
                stack = AsyncExitStack()
                await stack.enter_async_context(self._crawler.client)
                if self._delivery_client is not self._crawler.client:
                    await stack.enter_async_context(self._delivery_client)
                self._opened = stack
            return self._opened

    async def _start_parsers(self) -> None:
        """Start parser processes at the first page: deliveries and sitemaps need none."""
        opened = await self._open()
        async with self._opening:
            if not self._has_parsers:
                await opened.enter_async_context(self._parsers)
                self._has_parsers = True


def _log_failed_start(start: asyncio.Task[None]) -> None:
    if not start.cancelled() and (error := start.exception()) is not None:
        log.warning("parser_start_failed", error=f"{type(error).__name__}: {error}")
