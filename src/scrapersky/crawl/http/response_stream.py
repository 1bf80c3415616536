"""The answer of a site while it arrives: metadata at once, the body in counted, inflated pieces."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime

import aiohttp

from scrapersky.crawl.errors import FetchError, GiveUp, Hop
from scrapersky.crawl.http.decompress import Inflater
from scrapersky.crawl.http.error_mapping import TROUBLES, named

CODINGS = {"": "identity", "identity": "identity", "gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}
# A loop that only inflates never waits: let others have a turn after this many bytes.
TURN_BYTES = 1_048_576


class Stream:
    """Iterate once over its pieces. Time is counted while we wait for the site, not while the reader works."""

    def __init__(
        self,
        *,
        url: str,
        final_url: str,
        host: str,
        status: int,
        headers: Mapping[str, str],
        redirects: tuple[Hop, ...],
        fetched_at: datetime,
        response: aiohttp.ClientResponse,
        max_bytes: int,
        cut_long: bool,
        seconds: float,
        spent: float,
    ) -> None:
        self.url = url
        self.final_url = final_url
        self._host = host
        self.status = status
        self.headers = headers
        self.redirects = redirects
        self.fetched_at = fetched_at
        self.raw_bytes = 0
        self.size = 0
        self.cut = False
        self._response = response
        self._max_bytes = max_bytes
        self._cut_long = cut_long
        self._seconds = seconds
        self._left = seconds - spent

    @property
    def not_modified(self) -> bool:
        """True when the site says that nothing changed since the fetch we told it about."""
        return self.status == 304

    async def __aiter__(self) -> AsyncIterator[bytes]:
        inflater = Inflater(self._coding())
        self._refuse_announced_size()
        try:
            while raw := await self._read():
                for piece in inflater.feed(raw):
                    if kept := self._count(piece):
                        yield kept
                    if self.cut:
                        return
                    if self.size % TURN_BYTES < len(piece):
                        await asyncio.sleep(0)
            inflater.finish()
        except FetchError as error:
            raise self._blame(error) from None
        except TROUBLES as error:
            raise self._blame(named(error, self._host, self._seconds)) from error

    async def _read(self) -> bytes:
        """The next raw bytes, within what is left of the time and of the bytes."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        async with asyncio.timeout(max(self._left, 0)):
            raw = await self._response.content.readany()
        self._left -= loop.time() - started
        self.raw_bytes += len(raw)
        if self.raw_bytes > self._max_bytes and not self._cut_long:
            raise self._too_long()
        return raw

    def _count(self, piece: bytes) -> bytes:
        """The piece, or as much of it as the limit leaves."""
        room = self._max_bytes - self.size
        self.size += len(piece)
        if len(piece) <= room:
            return piece
        if not self._cut_long:
            raise self._too_long()
        self.cut = True
        return piece[:room]

    def _coding(self) -> str:
        """How the body is compressed; anything but what we offered is refused."""
        named_coding = self.headers.get("Content-Encoding", "").strip().lower()
        if named_coding not in CODINGS:
            raise self._blame(GiveUp(f"{self._host} sends its body as {named_coding[:40]!r}, which we did not offer."))
        return CODINGS[named_coding]

    def _refuse_announced_size(self) -> None:
        announced = self._response.content_length or 0
        if announced > self._max_bytes and not self._cut_long and self._response.method != "HEAD":
            raise self._blame(self._too_long())

    def _too_long(self) -> GiveUp:
        return GiveUp(f"The body from {self._host} is longer than {self._max_bytes} bytes.")

    def _blame(self, error: FetchError) -> FetchError:
        error.url = self.final_url
        error.redirects = self.redirects
        error.status = self.status
        error.headers = self.headers
        return error
