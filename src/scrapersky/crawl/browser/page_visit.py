"""One visit of the browser: start, load the page, wait until it is drawn, take its HTML, kill."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scrapersky.crawl.browser.chromium import Chromium
from scrapersky.crawl.browser.errors import BrowserFailed
from scrapersky.crawl.browser.program import BrowserOptions
from scrapersky.crawl.browser.requests import BrowserTraffic, RequestAnswerer, TooManyRequests
from scrapersky.crawl.page import FetchedPage
from scrapersky.crawl.politeness.visit import Visit

QUIET_SECONDS = 0.6  # without a request after the page is loaded: it is drawn
RESERVED_PART = 0.3  # of the time, to take the HTML of a page that never becomes quiet


class PageVisit:
    """Draws one page within the limits of the options."""

    def __init__(self, options: BrowserOptions, visit: Visit) -> None:
        self.traffic = BrowserTraffic()
        self._options = options
        self._visit = visit
        self._changed = asyncio.Event()
        self._is_loaded = False
        self._pending: set[asyncio.Task[None]] = set()
        self._session: str | None = None
        self._frame = ""
        self._chromium: Chromium
        self._answerer: RequestAnswerer | None = None

    async def draw(self, url: str, first: FetchedPage | None, profile: Path, prefix: tuple[str, ...]) -> FetchedPage:
        """Return the page as the browser draws it. Raises BrowserFailed."""
        self._chromium = await Chromium.start(self._options, profile, prefix, self._on_event)
        memory = asyncio.create_task(self._chromium.watch_memory(self._options.memory_bytes))
        seconds = self._options.seconds
        draw_until = asyncio.get_running_loop().time() + seconds * (1 - RESERVED_PART)
        try:
            async with asyncio.timeout(seconds):
                await self._open(url, first)
                await self._until_drawn(draw_until)
                return await self._drawn_page(url)
        except TimeoutError:
            raise BrowserFailed(f"could not draw it within {seconds:g} s") from None
        finally:
            memory.cancel()
            for task in self._pending:
                task.cancel()
            await asyncio.shield(self._chromium.end())

    async def _open(self, url: str, first: FetchedPage | None) -> None:
        """Open the page in a context whose storage is in memory."""
        call = self._chromium.call
        context = (await call("Target.createBrowserContext"))["browserContextId"]
        await call("Browser.setDownloadBehavior", behavior="deny", browserContextId=context)
        target = (await call("Target.createTarget", url="about:blank", browserContextId=context))["targetId"]
        self._session = (await call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        self._frame = (await self._call("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        self._answerer = RequestAnswerer(self._call, self._visit, self._frame, first)
        self.traffic = self._answerer.traffic
        await self._call("Fetch.enable", patterns=[{"urlPattern": "*", "requestStage": "Request"}])
        await self._call("Network.setBypassServiceWorker", bypass=True)
        await self._call("Inspector.enable")
        await self._call("Page.enable")
        self._spawn(self._navigate(url))

    async def _navigate(self, url: str) -> None:
        await self._call("Page.navigate", url=url)

    async def _until_drawn(self, end: float) -> None:
        """Wait until the page is loaded and no request was made for a moment, or until the time is over."""
        while (left := end - asyncio.get_running_loop().time()) > 0:
            self._changed.clear()
            try:
                async with asyncio.timeout(min(QUIET_SECONDS, left)):
                    await self._changed.wait()
            except TimeoutError:
                if self._is_loaded and not self._pending:
                    return

    async def _drawn_page(self, url: str) -> FetchedPage:
        """Return the HTML of the page, with the URL that it has now."""
        root = (await self._call("DOM.getDocument", depth=0))["root"]
        document = self._answerer.document if self._answerer is not None else None
        if document is None:
            error = self._answerer.error if self._answerer is not None else None
            raise BrowserFailed(f"could not load it: {error.reason}" if error is not None else "could not load it")
        html = (await self._call("DOM.getOuterHTML", nodeId=root["nodeId"]))["outerHTML"]
        body = html.encode("utf-8", "replace")
        if len(body) > self._options.page_bytes:
            raise BrowserFailed("drew a page that is too long")
        final_url = root["documentURL"] if root["documentURL"].startswith(("http://", "https://")) else url
        return FetchedPage(
            url=url,
            final_url=self._visit.canonical(final_url),
            status=document.status,
            headers={"Content-Type": "text/html; charset=utf-8"},
            redirects=document.redirects,
            fetched_at=document.fetched_at,
            body=body,
            seconds=document.seconds,
            raw_bytes=self.traffic.bytes,
        )

    async def _call(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._chromium.call(method, self._session, **params)

    # -- events of the browser -----------------------------------------------------------------------------------------

    def _on_event(self, name: str, params: Mapping[str, Any]) -> None:
        match name:
            case "Fetch.requestPaused" if self._answerer is not None:
                self._spawn(self._answer(self._answerer, params))
            case "Page.frameStartedLoading" | "Page.frameStoppedLoading" if params["frameId"] == self._frame:
                self._is_loaded = name == "Page.frameStoppedLoading"
            case "Page.javascriptDialogOpening":
                self._spawn(self._close_dialog(params))
            case "Inspector.targetCrashed":
                self._chromium.kill("crashed on it, or needed too much memory")
            case _:
                return
        self._changed.set()

    async def _answer(self, answerer: RequestAnswerer, params: Mapping[str, Any]) -> None:
        try:
            await answerer.answer(params)
        except TooManyRequests:
            self._chromium.kill("was asked for more and more files")

    async def _close_dialog(self, params: Mapping[str, Any]) -> None:
        await self._call("Page.handleJavaScriptDialog", accept=params["type"] == "beforeunload")

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._pending.add(task)
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._pending.discard(task)
        self._changed.set()
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, BrowserFailed):
            self._chromium.kill(f"failed: {type(error).__name__}: {error}"[:200])
