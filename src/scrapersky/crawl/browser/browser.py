"""The browser of a process: a bounded number of visits at a time, each with a fresh Chromium, and their cost."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import structlog

from scrapersky.crawl.browser.errors import BrowserFailed
from scrapersky.crawl.browser.page_visit import PageVisit
from scrapersky.crawl.browser.program import BrowserOptions, closed_network_prefix
from scrapersky.crawl.errors import TooSoon
from scrapersky.crawl.page import FetchedPage
from scrapersky.crawl.politeness.visit import Visit

log = structlog.get_logger(__name__)

MAX_WAIT_SECONDS = 15.0  # for a free slot; then the row waits, not its worker
RETRY_SECONDS = 5.0  # for each visit that waits
MAX_RETRY_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class BrowserVisit:
    """The result of a visit: the drawn page, or the reason why there is none, and what it took."""

    page: FetchedPage | None
    result: str  # as it is stored: a sentence about what the browser did
    seconds: float
    requests: int
    bytes: int


class Browser:
    """Draws pages, `processes` of them at a time."""

    def __init__(self, options: BrowserOptions) -> None:
        self.on_visit: Callable[[BrowserVisit], None] = lambda _: None
        self._options = options
        self._slots = asyncio.Semaphore(options.processes)
        self._waiting = 0
        self._prefix: tuple[str, ...] | None = None

    async def draw(self, visit: Visit, url: str, first: FetchedPage | None = None) -> BrowserVisit:
        """Draw a page; `first` is its response if it was fetched already. Raises TooSoon while the browser is busy."""
        await self._enter()
        try:
            done = await self._draw(visit, url, first)
        finally:
            self._slots.release()
        self.on_visit(done)
        cost = {"seconds": round(done.seconds, 2), "requests": done.requests, "bytes": done.bytes}
        log.info("browser_visit", url=url, drawn=done.page is not None, result=done.result, **cost)
        return done

    async def _enter(self) -> None:
        self._waiting += 1
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await self._slots.acquire()
        except TimeoutError:
            after = min(self._waiting * RETRY_SECONDS, MAX_RETRY_SECONDS)
            raise TooSoon("The browser is busy with other pages.", after=timedelta(seconds=after)) from None
        finally:
            self._waiting -= 1

    async def _draw(self, visit: Visit, url: str, first: FetchedPage | None) -> BrowserVisit:
        if self._prefix is None:
            self._prefix = await closed_network_prefix()
        started, page, result = time.monotonic(), None, "a browser has read it"
        page_visit = PageVisit(self._options, visit)
        folder = await asyncio.to_thread(_make_folder)
        try:
            page = await page_visit.draw(url, first, Path(folder.name), self._prefix)
        except BrowserFailed as failed:
            result = f"a browser {failed}"
        except OSError as error:
            result = f"a browser could not be started: {error}"
        finally:
            await asyncio.shield(asyncio.to_thread(folder.cleanup))
        traffic = page_visit.traffic
        return BrowserVisit(page, result, time.monotonic() - started, traffic.requests, traffic.bytes)


def _make_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="scrapersky-browser-", ignore_cleanup_errors=True)
