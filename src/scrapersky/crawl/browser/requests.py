"""The requests of a page in the browser: each is refused, or answered with what the guarded client fetches."""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scrapersky.crawl.errors import FetchError, TooSoon, VisitLimitReached
from scrapersky.crawl.page import FetchedPage
from scrapersky.crawl.politeness.visit import Visit

MAX_REQUESTS = 60  # that are sent; the others are refused
MAX_REFUSED = 2_000  # a page that asks for more is ended
MAX_DOCUMENTS = 5  # pages that scripts lead to, one after the other
MAX_BYTES = 20_000_000
MAX_WAIT_SECONDS = 3.0  # for the limits of a host
MAX_HEADERS = 30
MAX_HEADER_LENGTH = 4_096

FETCHED_TYPES = frozenset(("Document", "Script", "XHR", "Fetch", "Preflight"))
METHODS = frozenset(("GET", "HEAD", "OPTIONS"))  # nothing that changes a site
HTML = ("", "text/html", "application/xhtml+xml")
# Headers of the browser that are ours, or that have no meaning on another connection.
OWN_HEADERS = (
    *("accept-encoding", "connection", "content-length", "cookie", "host", "if-", "keep-alive", "proxy-", "range"),
    *("sec-", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"),
)
# Headers of a response that would make the browser connect, save or decode.
DROPPED_HEADERS = {
    *("alt-svc", "connection", "content-disposition", "content-encoding", "content-length", "keep-alive", "link"),
    *("nel", "report-to", "reporting-endpoints", "service-worker-allowed", "trailer", "transfer-encoding"),
}

Call = Callable[..., Awaitable[dict[str, Any]]]


@dataclass(slots=True)
class BrowserTraffic:
    """What the requests of a page have taken."""

    requests: int = 0
    refused: int = 0
    documents: int = 0
    bytes: int = 0


class TooManyRequests(Exception):
    """The page asks for more and more files."""


class RequestAnswerer:
    """Answers the requests of one page; `first` is the response that was fetched before, for the first document."""

    def __init__(self, call: Call, visit: Visit, frame: str, first: FetchedPage | None) -> None:
        self.traffic = BrowserTraffic()
        self.document: FetchedPage | None = None  # the last one that was sent
        self.error: FetchError | None = None  # of the last document that could not be fetched
        self._call = call
        self._visit = visit
        self._frame = frame
        self._kept = {first.final_url: first} if first is not None else {}

    async def answer(self, event: Mapping[str, Any]) -> None:
        """Answer one request of the browser."""
        request, kind = event["request"], event["resourceType"]
        is_frame = kind == "Document" and event["frameId"] != self._frame
        if kind == "Stylesheet":  # a script may wait for it, and no contact is in it
            await self._fulfill(event, 200, [("Content-Type", "text/css")], b"")
        elif is_frame or kind not in FETCHED_TYPES or request["method"] not in METHODS or not self._has_room(kind):
            await self._refuse(event)
        else:
            await self._answer_fetched(event, request, kind)

    def _has_room(self, kind: str) -> bool:
        documents = self.traffic.documents + (kind == "Document")
        taken = self.traffic
        return taken.requests < MAX_REQUESTS and taken.bytes < MAX_BYTES and documents <= MAX_DOCUMENTS

    async def _answer_fetched(self, event: Mapping[str, Any], request: Mapping[str, Any], kind: str) -> None:
        url = request["url"].partition("#")[0]
        is_document = kind == "Document"
        self.traffic.documents += is_document
        page = self._kept.pop(url, None)
        try:
            page = page or await self._fetch(url, request)
        except FetchError as error:
            if is_document:
                self.error = error
            await self._refuse(event)
            return
        if is_document and page.content_type not in HTML:
            await self._refuse(event)
        elif is_document and page.final_url != url:
            self._kept[page.final_url] = page
            self.traffic.documents -= 1
            await self._fulfill(event, 302, [("Location", page.final_url)], b"")
        else:
            self.document = page if is_document else self.document
            await self._fulfill(event, page.status, _response_headers(page), page.body)

    async def _fetch(self, url: str, request: Mapping[str, Any]) -> FetchedPage:
        """Fetch within the limits of the host, for which a visit of a browser may wait a moment."""
        self.traffic.requests += 1
        headers = {**_request_headers(request["headers"]), **await self._cookies(url)}
        try:
            page = await self._fetch_now(url, request["method"], headers)
        except TooSoon as soon:
            seconds = soon.after.total_seconds() if soon.after is not None else 0.0
            if isinstance(soon, VisitLimitReached) or seconds > MAX_WAIT_SECONDS:
                raise
            await asyncio.sleep(seconds)
            page = await self._fetch_now(url, request["method"], headers)
        self.traffic.bytes += page.raw_bytes
        return page

    async def _fetch_now(self, url: str, method: str, headers: Mapping[str, str]) -> FetchedPage:
        return await self._visit.fetch_for_browser(url, method, headers)

    async def _cookies(self, url: str) -> dict[str, str]:
        """Return the Cookie header of the profile, which lives as long as the visit."""
        cookies = (await self._call("Network.getCookies", urls=[url]))["cookies"]
        text = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in cookies)
        return {"Cookie": text} if text and _is_safe(text) else {}

    async def _fulfill(
        self, event: Mapping[str, Any], status: int, headers: list[tuple[str, str]], body: bytes
    ) -> None:
        await self._call(
            "Fetch.fulfillRequest",
            requestId=event["requestId"],
            responseCode=status,
            responseHeaders=[{"name": name, "value": value} for name, value in headers],
            body=base64.b64encode(body).decode(),
        )

    async def _refuse(self, event: Mapping[str, Any]) -> None:
        self.traffic.refused += 1
        if self.traffic.refused > MAX_REFUSED:
            raise TooManyRequests
        # A document that is aborted leaves the page before it in place.
        reason = "Aborted" if event["resourceType"] == "Document" else "BlockedByClient"
        await self._call("Fetch.failRequest", requestId=event["requestId"], errorReason=reason)


def _request_headers(given: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that the client sends besides its own."""
    passed = ((name, value) for name, value in given.items() if not name.lower().startswith(OWN_HEADERS))
    return dict([(name, value) for name, value in passed if _is_safe(name) and _is_safe(value)][:MAX_HEADERS])


def _response_headers(page: FetchedPage) -> list[tuple[str, str]]:
    given = page.headers.items()
    return [(name, value) for name, value in given if name.lower() not in DROPPED_HEADERS and _is_safe(value)]


def _is_safe(text: str) -> bool:
    return len(text) <= MAX_HEADER_LENGTH and text.isascii() and text.isprintable()
