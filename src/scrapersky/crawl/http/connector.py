"""Connections that are judged when they are made and counted while they are read."""

import ssl
from contextvars import ContextVar
from functools import partial
from typing import Any

from aiohttp import ClientPayloadError, TCPConnector
from aiohttp.client_proto import ResponseHandler

from scrapersky.crawl.network.dns_resolver import DnsResolver
from scrapersky.crawl.network.ssrf_guard import SsrfGuard

KEEP_ALIVE_SECONDS = 15.0

# What may arrive on the wire for the request being made: headers, framing and body together.
wire_limit: ContextVar[int] = ContextVar("wire_limit")


class WireFull(ClientPayloadError):
    """More bytes arrived than the answer could need: a flood of headers, interim answers or chunk extensions."""


class CountedHandler(ResponseHandler):
    """aiohttp's protocol, which hides framing from its reader, with every byte counted."""

    _received = 0
    _most = 0

    def set_response_params(self, **params: Any) -> None:
        """A new request begins on this connection."""
        self._received = 0
        self._most = wire_limit.get()
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Count, then parse; or cut the connection off."""
        self._received += len(data)
        if self._most and self._received > self._most:
            self._overflow()
        else:
            super().data_received(data)

    def _overflow(self) -> None:
        error = WireFull(f"more than {self._most} bytes arrived")
        if self._payload is not None:
            self._payload.set_exception(error)
        self.set_exception(error)
        if self.transport is not None:
            self.transport.abort()


class GuardedConnector(TCPConnector):
    """A connector that opens a socket only after the guard has seen the numeric address it is for."""

    def __init__(
        self, guard: SsrfGuard | None, names: DnsResolver, *, connections: int, ssl_context: ssl.SSLContext
    ) -> None:
        super().__init__(
            resolver=names,
            socket_factory=guard.open_socket if guard else None,
            ssl=ssl_context,
            limit=connections,
            ttl_dns_cache=60,
            keepalive_timeout=KEEP_ALIVE_SECONDS,
        )
        handler: type[ResponseHandler] = CountedHandler
        self._factory = partial(handler, loop=self._loop)
