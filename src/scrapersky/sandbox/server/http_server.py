"""The HTTP server of the sandbox: fast HTTP/1.1 that can also respond incorrectly."""

import asyncio
from collections import deque
from collections.abc import Callable
from email.utils import formatdate
from http import HTTPStatus
from typing import cast
from urllib.parse import unquote

import httptools

from scrapersky.sandbox.server.response import Request, Response
from scrapersky.sandbox.server.traffic import Traffic

PIECES = 10  # into which a dripping body is cut
PHRASES = {status.value: status.phrase for status in HTTPStatus}
Respond = Callable[[Request], Response]


class HttpServer(asyncio.Protocol):
    """One connection. Requests are answered one after the other, in their order."""

    def __init__(self, respond: Respond, traffic: Traffic, latency: Callable[[], float], secure: bool = False) -> None:
        self._respond = respond
        self._traffic = traffic
        self._latency = latency
        self._secure = secure
        self._transport: asyncio.Transport | None = None
        self._guest = ""
        self._parser = httptools.HttpRequestParser(self)
        self._waiting: deque[tuple[Request, bool]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body = b""

    # -- callbacks of the socket ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport of a new connection."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance
        self._guest = transport.get_extra_info("peername")[0]

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the response of a closed connection."""
        self._transport = None
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        """Parse bytes of one or more requests."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._write(_head(Response(400), 0, keep=False))
            self._close()

    # -- callbacks of the parser ---------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Start a new request."""
        self._url, self._headers, self._body = b"", {}, b""

    def on_url(self, url: bytes) -> None:
        """Append a part of the URL."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header."""
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        """Append a part of the body."""
        self._body += body

    def on_message_complete(self) -> None:
        """Respond to the complete request."""
        path, _, query = self._url.decode("latin-1").partition("?")
        host = self._headers.get("host", "").partition(":")[0].lower()
        method = self._parser.get_method().decode()
        request = Request(method, host, unquote(path), query, self._headers, self._body, self._secure)
        self._waiting.append((request, self._parser.should_keep_alive()))
        if self._task is None:
            self._next()

    # -- answering -----------------------------------------------------------------------------------------------------

    def _next(self) -> None:
        """Answer what is waiting, at once where that is possible."""
        while self._waiting and self._task is None:
            request, keep = self._waiting.popleft()
            self._traffic.begin(request.host, self._guest)
            answer = self._respond(request)
            seconds = self._latency() + answer.wait_seconds
            if answer.drip_seconds or seconds:
                self._task = asyncio.get_running_loop().create_task(self._later(request, answer, keep, seconds))
            else:
                self._send(request, answer, keep)
                self._traffic.end(request.host)

    async def _later(self, request: Request, answer: Response, keep: bool, seconds: float) -> None:
        try:
            await asyncio.sleep(seconds)
            if answer.drip_seconds:
                await self._drip(request, answer, keep)
            else:
                self._send(request, answer, keep)
        finally:
            self._traffic.end(request.host)
            self._task = None
        self._next()

    async def _drip(self, request: Request, answer: Response, keep: bool) -> None:
        self._write(_head(answer, len(answer.body), keep))
        size = len(answer.body) // PIECES + 1
        for start in range(0, len(answer.body), size):
            await asyncio.sleep(answer.drip_seconds / PIECES)
            self._write(answer.body[start : start + size])
        if not keep:
            self._close()

    def _send(self, request: Request, answer: Response, keep: bool) -> None:
        if answer.hang_up:
            self._close()
            return
        body = b"" if request.method == "HEAD" else answer.body
        if answer.cut:
            self._write(_head(answer, len(answer.body), keep=False) + body[: len(body) // 2])
        else:
            self._write(_head(answer, len(answer.body), keep) + body)
        if answer.cut or not keep:
            self._close()

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _head(answer: Response, length: int, keep: bool) -> bytes:
    fields = {
        "Date": formatdate(usegmt=True),
        "Server": "sandbox",
        "Content-Type": answer.content_type,
        "Content-Length": str(length),
        "Connection": "keep-alive" if keep else "close",
        **answer.headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {answer.status} {PHRASES.get(answer.status, '')}\r\n{lines}\r\n".encode("latin-1")
