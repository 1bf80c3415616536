"""The wire: uvicorn's fast protocol with what it lacks, a deadline and a size for whatever a client is slow to send."""

import asyncio
import json
from http import HTTPStatus

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from scrapersky.api.http.problems import MEDIA_TYPE, Problem

HEADER_SECONDS = 10.0  # from the first byte of a request, or from the connection, to the end of its headers
RECEIVE_SECONDS = 30.0  # and from there to the end of its body, read or not, and
STEADY_BYTES = 64_000  # for each so many a second more
HEAD_BYTES = 65_536  # half a head of this size will not become a good one
TOO_LONG = "There are too many headers, or too long ones."
LINGER_SECONDS = 1.0  # a client that still sends would lose our answer if we hung up at once
KEEP_ALIVE_SECONDS = 5


def server_config(app: ASGIApp, graceful_seconds: int) -> uvicorn.Config:
    """How the application is served. Proxies are believed by the wall, which knows which, and never by the server."""
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


class DeadlineProtocol(HttpToolsProtocol):
    """One connection. Its patience is renewed by each whole part of a request; a byte is worth its own moment."""

    header_seconds, receive_seconds = HEADER_SECONDS, RECEIVE_SECONDS
    _patience: asyncio.TimerHandle | None = None
    _in_head = True
    _head_bytes = 0
    _body_began, _body_bytes = 0.0, 0
    _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The clock runs before a word is said."""
        super().connection_made(transport)
        self._expect(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._expect(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head has grown too large; what comes after a refusal is thrown away."""
        if self._is_refused:
            return
        super().data_received(data)
        if self._patience is None and self.timeout_keep_alive_task is None and not self._is_answering():
            self._expect(self.header_seconds)  # empty lines between two requests begin none, yet keep the line busy
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "There are too many headers, or too long ones."
                )

    def on_message_begin(self) -> None:
        """A request starts."""
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0
        self._expect(self.header_seconds)

    def on_headers_complete(self) -> None:
        """Its head is there."""
        self._in_head = False
        self._body_began, self._body_bytes = self.loop.time(), 0
        self._expect(self.receive_seconds)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of its body: whoever sends steadily is given the time it takes."""
        self._body_bytes += len(body)
        if self._is_answering():  # what comes after an answer is not waited for
            until = self._body_began + self.receive_seconds + self._body_bytes / STEADY_BYTES
            self._expect(until - self.loop.time())
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of it is there; between two requests the server's own keep-alive is the clock."""
        self._head_bytes = 0
        self._expect(None)
        super().on_message_complete()

    def _expect(self, seconds: float | None) -> None:
        if self._patience is not None:
            self._patience.cancel()
        self._patience = None if seconds is None else self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        if self._in_head and not self._is_answering():
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The request did not arrive in time.")
        else:
            self.transport.abort()  # half an answer may be out: there is nothing more to say

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._is_refused = True
        self._expect(None)
        problem = Problem(title=status.phrase, status=status, detail=why).model_dump(mode="json", exclude_none=True)
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
