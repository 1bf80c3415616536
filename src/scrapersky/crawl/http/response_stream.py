"""A response while it arrives: metadata at once, the body in counted, decompressed pieces."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import aiohttp

from scrapersky.core import clock
from scrapersky.crawl.errors import FetchError, PermanentFetchError
from scrapersky.crawl.http.decompress import Inflater
from scrapersky.crawl.http.error_mapping import NETWORK_ERRORS, fetch_error_of
from scrapersky.crawl.network.ssrf_guard import Target
from scrapersky.crawl.page import FetchedPage, ResponseHead

CODINGS = {"": "identity", "identity": "identity", "gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}
# Reserves memory for a body of this size; returns the size that is reserved, which may be larger.
Reserve = Callable[[int], Awaitable[int]]
# A loop that only inflates never waits: let other tasks run after this many pieces, of at most 64 KiB each.
YIELD_PIECES = 16
REFUSAL_BYTES = 65_536  # of a page that refuses us: enough to tell a bot check from another refusal
REFUSAL_SECONDS = 3.0


class ResponseStream:
    """Iterate once over its pieces. Only the time spent waiting for the site counts towards `seconds`."""

    def __init__(
        self,
        head: ResponseHead,
        response: aiohttp.ClientResponse,
        *,
        host: str,
        max_bytes: int,
        truncate: bool,
        seconds: float,
        started: float,
    ) -> None:
        self.head = head
        self.final_url = head.final_url
        self.raw_bytes = 0
        self.size = 0
        self.truncated = False
        self._response = response
        self._host = host
        self._max_bytes = max_bytes
        self._truncate = truncate
        self._seconds = seconds
        self._started = started
        self._seconds_left = seconds - (time.monotonic() - started)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        inflater, pieces = Inflater(self._coding()), 0
        self._check_announced_size()
        try:
            while raw := await self._read():
                for piece in inflater.feed(raw):
                    if kept := self._count(piece):
                        yield kept
                    if self.truncated:
                        return
                    pieces += 1
                    if pieces % YIELD_PIECES == 0:
                        await asyncio.sleep(0)
            inflater.finish()
        except FetchError as error:
            raise self._annotated(error) from None
        except NETWORK_ERRORS as error:
            raise self._annotated(fetch_error_of(error, self._host, self._seconds)) from error

    async def page(self, reserve: Reserve | None = None) -> FetchedPage:
        """Read the body and return the whole page; with a limit of 0 bytes no body is read."""
        body = b"".join([piece async for piece in self._reserved(reserve)]) if self._max_bytes else b""
        seconds = time.monotonic() - self._started
        return FetchedPage(
            **vars(self.head), body=body, seconds=seconds, raw_bytes=self.raw_bytes, truncated=self.truncated
        )

    async def _reserved(self, reserve: Reserve | None) -> AsyncIterator[bytes]:
        """Yield the pieces; no piece is read before there is memory for what has been announced and read."""
        reserved = await reserve(min(self._response.content_length or 0, self._max_bytes)) if reserve else 0
        async for piece in self:
            yield piece
            if reserve and self.size > reserved:
                reserved = await reserve(self.size)

    async def _read(self) -> bytes:
        """Read the next raw bytes, within the limits of time and size."""
        started = time.monotonic()
        async with asyncio.timeout(max(self._seconds_left, 0)):
            raw = await self._response.content.readany()
        self._seconds_left -= time.monotonic() - started
        self.raw_bytes += len(raw)
        if self.raw_bytes > self._max_bytes and not self._truncate:
            raise self._too_long()
        return raw

    def _count(self, piece: bytes) -> bytes:
        """Return the piece, or the part of it that the limit allows."""
        bytes_left = self._max_bytes - self.size
        self.size += len(piece)
        if len(piece) <= bytes_left:
            return piece
        if not self._truncate:
            raise self._too_long()
        self.truncated = True
        return piece[:bytes_left]

    def _coding(self) -> str:
        """Return the compression of the body; raise for one that the request did not offer."""
        coding = self.head.headers.get("Content-Encoding", "").strip().lower()
        if coding not in CODINGS:
            reason = f"{self._host} sends its body as {coding[:40]!r}, which we did not offer."
            raise self._annotated(PermanentFetchError(reason))
        return CODINGS[coding]

    def _check_announced_size(self) -> None:
        announced = self._response.content_length or 0
        if announced > self._max_bytes and not self._truncate and self._response.method != "HEAD":
            raise self._annotated(self._too_long())

    def _too_long(self) -> PermanentFetchError:
        return PermanentFetchError(f"The body from {self._host} is longer than {self._max_bytes} bytes.")

    def _annotated(self, error: FetchError) -> FetchError:
        error.url = self.final_url
        error.redirects = self.head.redirects
        error.status = self.head.status
        error.headers = self.head.headers
        return error


async def read_refusal(response: aiohttp.ClientResponse, headers: Mapping[str, str], target: Target) -> bytes:
    """Read the beginning of an HTML page that came with an error status; b"" if it cannot be read."""
    head = ResponseHead(
        url=target.href,
        final_url=target.href,
        status=response.status,
        headers=headers,
        redirects=(),
        fetched_at=clock.now(),
    )
    if head.content_type not in ("", "text/html", "application/xhtml+xml"):
        return b""
    stream = ResponseStream(
        head,
        response,
        host=target.host,
        max_bytes=REFUSAL_BYTES,
        truncate=True,
        seconds=REFUSAL_SECONDS,
        started=time.monotonic(),
    )
    try:
        return (await stream.page()).body
    except FetchError:
        return b""  # the status alone decides
