"""Requests through several proxies in turn: after a failure of a proxy the request goes on with the next one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import aiohttp
import yarl

from scrapersky.crawl.http.proxy_connectors import LOGIN_REFUSED, LOGIN_REQUIRED
from scrapersky.crawl.network.proxies import Proxy, ProxyFailed, ProxyRefused, ProxyRotation

# A name that exists nowhere (RFC 6761): only the proxy itself can answer 407 about it.
NOWHERE = yarl.URL("https://proxy-login.invalid/")


# Sends one request of the guarded client through one proxy: proxy, method, URL, and the options of the request.
Send = Callable[..., Awaitable[aiohttp.ClientResponse]]


class ProxyRequests:
    """Sends requests through the proxies in turn."""

    def __init__(self, proxies: Sequence[Proxy], send: Send, check_seconds: float) -> None:
        self._rotation = ProxyRotation(proxies)
        self._send = send
        self._check_seconds = check_seconds

    async def request(self, method: str, url: yarl.URL, **options: Any) -> aiohttp.ClientResponse:
        """Send the request through the first proxy that works. Raises ProxiesCoolingDown if none does."""
        tried: set[Proxy] = set()
        refusal: ProxyRefused | None = None
        while (proxy := self._rotation.choose(tried)) is not None:
            tried.add(proxy)
            try:
                response = await self._request_by(proxy, method, url, options)
            except ProxyFailed as failed:
                proxy.start_cooldown(str(failed))
            except ProxyRefused as refused:
                refusal = ProxyRefused(f"{proxy.name}: {refused}")
            else:
                proxy.recover()
                return response
        raise refusal or self._rotation.no_proxy()

    async def _request_by(
        self, proxy: Proxy, method: str, url: yarl.URL, options: dict[str, Any]
    ) -> aiohttp.ClientResponse:
        response = await self._send(proxy, method, url, **options)
        is_forwarded = url.scheme == "http" and not proxy.is_socks
        if response.status == LOGIN_REQUIRED and is_forwarded and await self._asks_for_login(proxy):
            response.close()
            raise ProxyFailed(LOGIN_REFUSED)
        return response

    async def _asks_for_login(self, proxy: Proxy) -> bool:
        """Return whether a 407 is the proxy's own, not one that a site sent through it."""
        try:
            async with asyncio.timeout(self._check_seconds):
                response = await self._send(proxy, "HEAD", NOWHERE, allow_redirects=False)
        except ProxyFailed:
            return True
        except (aiohttp.ClientError, OSError):
            return False
        response.close()
        return False
