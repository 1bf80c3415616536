"""Uvicorn's httptools protocol with deadlines and a size limit for requests that arrive slowly."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from scrapersky.api.http.problems import MEDIA_TYPE, Problem

HEADER_SECONDS = 10.0  # from the connection, or the first byte of a request, to the end of the headers
RECEIVE_SECONDS = 30.0  # from the end of the headers to the end of the body, read or not
BYTES_PER_SECOND = 64_000  # a body gets a further second for each of these
MAX_HEADER_BYTES = 65_536
LINGER_SECONDS = 1.0  # before the connection is closed: a client that is still sending would lose the response
KEEP_ALIVE_SECONDS = 5


def server_config(app: ASGIApp, graceful_seconds: int) -> uvicorn.Config:
    """Configure the server. RequestGuard evaluates proxy headers, because it knows the trusted proxies."""
    return uvicorn.Config(
        app,
        lifespan="off",
        http=DeadlineProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=graceful_seconds,
    )


class Server(uvicorn.Server):
    """A server that leaves signals to the process, which stops the engine first."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no handler."""
        yield


class DeadlineProtocol(HttpToolsProtocol):
    """One connection with a deadline for each part of a request; a body that arrives steadily extends its deadline."""

    header_seconds, receive_seconds = HEADER_SECONDS, RECEIVE_SECONDS
    _deadline: asyncio.TimerHandle | None = None
    _in_headers = True
    _header_bytes = 0
    _body_started, _body_bytes = 0.0, 0
    _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline of the first request."""
        super().connection_made(transport)
        self._set_deadline(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._set_deadline(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the data; refuse headers that are too large. Data after a refusal is ignored."""
        if self._is_refused:
            return
        super().data_received(data)
        if self._deadline is None and self.timeout_keep_alive_task is None and not self._is_responding():
            self._set_deadline(self.header_seconds)  # empty lines between two requests start none
        if self._in_headers and not self.transport.is_closing():
            self._header_bytes += len(data)
            if self._header_bytes > MAX_HEADER_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers are too many or too long.")

    def on_message_begin(self) -> None:
        """Start the deadline of the headers."""
        super().on_message_begin()
        self._in_headers, self._header_bytes = True, 0
        self._set_deadline(self.header_seconds)

    def on_headers_complete(self) -> None:
        """Start the deadline of the body."""
        self._in_headers = False
        self._body_started, self._body_bytes = self.loop.time(), 0
        self._set_deadline(self.receive_seconds)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Extend the deadline by the bytes that arrived."""
        self._body_bytes += len(body)
        if self._is_responding():  # a body that arrives after the response gets no more time
            until = self._body_started + self.receive_seconds + self._body_bytes / BYTES_PER_SECOND
            self._set_deadline(until - self.loop.time())
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Cancel the deadline; between two requests the server's keep-alive timeout applies."""
        self._header_bytes = 0
        self._set_deadline(None)
        super().on_message_complete()

    def _set_deadline(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._time_out)

    def _time_out(self) -> None:
        if self._in_headers and not self._is_responding():
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The headers of the request did not arrive in time.")
        else:
            self.transport.abort()  # part of a response may have been sent

    def _is_responding(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        self._is_refused = True
        self._set_deadline(None)
        problem = Problem(title=status.phrase, status=status, detail=detail).model_dump(mode="json", exclude_none=True)
        body = json.dumps(problem)
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}",
            f"content-type: {MEDIA_TYPE}",
            f"content-length: {len(body)}",
            "cache-control: no-store",
            "connection: close",
        )
        self.transport.write("\r\n".join([*head, "", body]).encode())
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)
