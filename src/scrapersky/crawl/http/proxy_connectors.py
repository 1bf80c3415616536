"""Connections through a proxy. The name of a site is resolved and checked here, before it is sent to the proxy."""

import asyncio
import socket
import ssl
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp import ClientRequest, ClientTimeout
from aiohttp.client_proto import ResponseHandler

from scrapersky.core.open_files import is_out_of_files
from scrapersky.crawl.http.connector import GuardedConnector
from scrapersky.crawl.network import socks5
from scrapersky.crawl.network.dns_resolver import DnsResolver
from scrapersky.crawl.network.proxies import Proxy, ProxyFailed, ProxyRefused
from scrapersky.crawl.network.ssrf_guard import AddressRefused, SsrfGuard

if TYPE_CHECKING:
    from aiohttp.tracing import Trace

LOGIN_REQUIRED = 407
LOGIN_REFUSED = "asks for another user name or password (407)"


class HttpProxyConnector(GuardedConnector):
    """Connects through an HTTP proxy: it forwards http:// requests, and opens tunnels for https://.

    The proxy gets the name and resolves it again; a name that cannot be looked up here is left to it.
    `sites` resolves the names of sites with the guard, `proxies` that of the proxy without it.
    """

    def __init__(
        self, sites: DnsResolver, proxies: DnsResolver, *, connections: int, ssl_context: ssl.SSLContext
    ) -> None:
        super().__init__(None, proxies, connections=connections, ssl_context=ssl_context)
        self._sites = sites

    async def _create_proxy_connection(
        self, req: ClientRequest, traces: list["Trace"], timeout: ClientTimeout
    ) -> tuple[asyncio.BaseTransport, ResponseHandler]:
        try:
            await self._sites.resolve(req.url.raw_host or "", req.port or 0)
        except AddressRefused as refused:
            raise aiohttp.ClientConnectorDNSError(req.connection_key, refused) from refused
        except OSError:
            pass  # this machine may have no name server; the proxy has one
        seconds = timeout.sock_connect
        try:  # to the proxy, from there to the site, and the TLS handshake
            async with asyncio.timeout(seconds and 3 * seconds):
                return await super()._create_proxy_connection(req, traces, timeout)
        except aiohttp.ClientHttpProxyError as error:
            if error.status == LOGIN_REQUIRED:
                raise ProxyFailed(LOGIN_REFUSED) from None
            raise ProxyRefused(f"it answers {error.status}") from None
        except aiohttp.ClientResponseError:
            raise ProxyFailed("does not speak HTTP") from None
        except TimeoutError:
            raise ProxyRefused("no connection in time") from None
        except aiohttp.ClientConnectorError:
            raise  # of the TLS handshake with the site
        except aiohttp.ClientConnectionError:
            raise ProxyRefused("it broke the connection off") from None

    async def _create_direct_connection(
        self,
        req: ClientRequest,
        traces: list["Trace"],
        timeout: ClientTimeout,
        *,
        client_error: type[Exception] = aiohttp.ClientConnectorError,
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        """Connect to the proxy itself."""
        try:
            return await super()._create_direct_connection(req, traces, timeout, client_error=client_error)
        except TimeoutError:
            raise ProxyFailed("does not accept a connection in time") from None
        except aiohttp.ClientConnectorError as error:
            if is_out_of_files(error):
                raise
            raise ProxyFailed(f"cannot be reached ({_cause(error)})") from error


class SocksConnector(GuardedConnector):
    """Connects through a SOCKS5 proxy, which gets a checked address instead of a name."""

    def __init__(
        self,
        proxy: Proxy,
        guard: SsrfGuard,
        sites: DnsResolver,
        proxies: DnsResolver,
        *,
        connections: int,
        ssl_context: ssl.SSLContext,
    ) -> None:
        super().__init__(guard, sites, connections=connections, ssl_context=ssl_context)
        self._proxy = proxy.url
        self._guard = guard
        self._proxies = proxies

    async def _wrap_create_connection(
        self,
        *args: Any,
        addr_infos: list[Any],
        req: ClientRequest,
        timeout: ClientTimeout,
        client_error: type[Exception] = aiohttp.ClientConnectorError,
        **kwargs: Any,
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        """Connect to the first address; aiohttp calls again with the others if it cannot be reached."""
        address, port = addr_infos[0][4][:2]
        try:
            self._guard.check_address(address, port)
            places = await self._resolve_proxy()
            connected = await socks5.connect(self._proxy, places, address, port, timeout.sock_connect)
        except OSError as error:
            raise aiohttp.ClientConnectorError(req.connection_key, error) from error
        return await self._wrap_existing_connection(
            *args, req=req, timeout=timeout, client_error=client_error, sock=connected, **kwargs
        )

    async def _resolve_proxy(self) -> list[Any]:
        try:
            return await self._proxies.resolve(self._proxy.raw_host or "", self._proxy.port or 0)
        except OSError as error:
            raise ProxyFailed(f"cannot be reached ({error.strerror or error})") from error


def _cause(error: aiohttp.ClientConnectorError) -> str:
    if isinstance(error, aiohttp.ClientSSLError):
        return "its TLS certificate or handshake is wrong"
    cause = error.os_error
    return "its name cannot be looked up" if isinstance(cause, socket.gaierror) else cause.strerror or str(cause)
