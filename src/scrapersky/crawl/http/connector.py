"""Connections whose address is checked when they are opened and whose bytes are counted while they are read."""

import ssl
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from aiohttp import ClientPayloadError, ClientRequest, ClientTimeout, TCPConnector
from aiohttp.client_proto import ResponseHandler

from scrapersky.crawl.network.dns_resolver import DnsResolver
from scrapersky.crawl.network.ssrf_guard import SsrfGuard

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ConnectionKey
    from aiohttp.tracing import Trace

KEEP_ALIVE_SECONDS = 15.0

# How many bytes may arrive on the wire for the current request: headers, framing and body together.
wire_limit: ContextVar[int] = ContextVar("wire_limit")


class WireLimitReached(ClientPayloadError):
    """More bytes arrived than the response needs: too many headers, interim responses or chunk extensions."""


class CountedHandler(ResponseHandler):
    """aiohttp's protocol with every byte counted, framing included."""

    _received = 0
    _max_bytes = 0

    def set_response_params(self, **params: Any) -> None:
        """Reset the count for a new request on this connection."""
        self._received = 0
        self._max_bytes = wire_limit.get()
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Count and parse the bytes; abort the connection beyond the limit."""
        self._received += len(data)
        if self._max_bytes and self._received > self._max_bytes:
            self._abort()
        else:
            super().data_received(data)

    def _abort(self) -> None:
        error = WireLimitReached(f"more than {self._max_bytes} bytes arrived")
        if self._payload is not None:
            self._payload.set_exception(error)
        self.set_exception(error)
        if self.transport is not None:
            self.transport.abort()


class GuardedConnector(TCPConnector):
    """A connector that opens a socket only after the guard has accepted its numeric address."""

    def __init__(
        self, guard: SsrfGuard | None, resolver: DnsResolver, *, connections: int, ssl_context: ssl.SSLContext
    ) -> None:
        super().__init__(
            resolver=resolver,
            socket_factory=guard.open_socket if guard else None,
            ssl=ssl_context,
            limit=connections,
            ttl_dns_cache=60,
            keepalive_timeout=KEEP_ALIVE_SECONDS,
        )
        handler: type[ResponseHandler] = CountedHandler
        self._factory = partial(handler, loop=self._loop)

    async def _create_connection(
        self, req: ClientRequest, traces: list["Trace"], timeout: ClientTimeout
    ) -> ResponseHandler:
        """Close the oldest idle connections first: aiohttp's limit counts only connections that are in use."""
        self._close_idle()
        return await super()._create_connection(req, traces, timeout)

    def _release(self, key: "ConnectionKey", protocol: ResponseHandler, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        self._close_idle()

    def _close_idle(self) -> None:
        """Close idle connections until no more than the limit are open; the new one is counted as in use."""
        idle = sum(map(len, self._conns.values()))
        while idle and idle + len(self._acquired) > self.limit:
            key = min(self._conns, key=lambda each: self._conns[each][0][1])
            protocol, _ = self._conns[key].popleft()
            if not self._conns[key]:
                del self._conns[key]
            if protocol.transport is not None:
                protocol.transport.abort()  # not close: a TLS connection would stay open until the site responds
            idle -= 1
