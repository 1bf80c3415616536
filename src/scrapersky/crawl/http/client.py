"""The guarded HTTP client: every request to a web site or service goes through here."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import Enum
from functools import cache, partial
from typing import Any, Self

import aiohttp
import structlog
import yarl
from multidict import CIMultiDict, CIMultiDictProxy

from scrapersky.core import clock
from scrapersky.crawl.errors import BlockedByPolicy, FetchError, PermanentFetchError
from scrapersky.crawl.http.connector import GuardedConnector, wire_limit
from scrapersky.crawl.http.error_mapping import NETWORK_ERRORS, bot_check_error, fetch_error_of, status_error
from scrapersky.crawl.http.limits import FetchLimits
from scrapersky.crawl.http.proxy_connectors import HttpProxyConnector, SocksConnector
from scrapersky.crawl.http.proxy_requests import ProxyRequests
from scrapersky.crawl.http.response_stream import Reserve, ResponseStream, read_refusal
from scrapersky.crawl.network.dns_resolver import DnsResolver
from scrapersky.crawl.network.proxies import Proxy
from scrapersky.crawl.network.ssrf_guard import AddressRefused, SsrfGuard, Target
from scrapersky.crawl.page import FetchedPage, Redirect, ResponseHead, Validators
from scrapersky.extract.hidden_pages.responses import BODY_STATUSES, asks_for_bot_check

log = structlog.get_logger(__name__)

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
MAX_VALIDATOR_LENGTH = 256
WIRE_SLACK_BYTES = 1_048_576


class ClientProfile(Enum):
    """Which headers a request has. Each has the same, honest User-Agent."""

    PLAIN = "plain"
    BROWSER = "browser"


# Called before every request of a fetch, redirects included; raises an error to stop the fetch.
Gate = Callable[[Target], Awaitable[None]]


class Client:
    """Fetches pages and streams bodies within its limits; open it with `async with`.

    `guard` decides which addresses it may connect to. `known_hosts` resolves names without DNS; the guard still checks
    their addresses. With `proxies`, every request goes through one of them. An HTTP proxy gets names and resolves
    them again, so it has to check addresses too; a SOCKS proxy gets the address that was checked here.
    """

    def __init__(
        self,
        guard: SsrfGuard | None = None,
        limits: FetchLimits | None = None,
        *,
        user_agent: str = "scrapersky",
        known_hosts: Mapping[str, str] | None = None,
        dns_threads: int = 32,
        dns_seconds: float = 5.0,
        proxies: Sequence[Proxy] = (),
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.guard = guard or SsrfGuard()
        self.limits = limits or FetchLimits()
        self._proxies = proxies
        self._ssl = ssl_context or _machine_ssl_context()
        self._headers = {
            ClientProfile.PLAIN: {
                "User-Agent": user_agent,
                "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
                "Accept-Encoding": "gzip, deflate",
            },
            ClientProfile.BROWSER: {  # the headers of a browser in their order, with our own User-Agent
                "Upgrade-Insecure-Requests": "1",
                "User-Agent": user_agent,
                "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                "Sec-Fetch-Site": "none",
                "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-User": "?1",
                "Sec-Fetch-Dest": "document",
                "Accept-Encoding": "gzip, deflate",
                "Accept-Language": "en;q=0.9, *;q=0.5",
            },
        }
        self._resolver = DnsResolver(self.guard, known=known_hosts, threads=dns_threads, seconds=dns_seconds)
        self._proxy_resolver = DnsResolver(None, known=known_hosts, threads=dns_threads, seconds=dns_seconds)
        # By proxy, None is without one; and by whether a request is sent once, also if a kept connection is lost.
        self._sessions: dict[tuple[Proxy | None, bool], aiohttp.ClientSession] = {}
        self._by_proxy = ProxyRequests(proxies, self._send_by, self.limits.connect_seconds) if proxies else None
        if self.guard.allowance:
            log.warning("private_network_allowed", allowed=[str(entry) for entry in self.guard.allowance.entries])

    async def __aenter__(self) -> Self:
        for proxy in self._proxies or (None,):
            connector = self._connector_of(proxy)
            by = str(proxy.url) if proxy is not None and not proxy.is_socks else None
            self._sessions[proxy, False] = self._session_of(connector, by)
            self._sessions[proxy, True] = once = self._session_of(connector, by, is_owner=False)
            once._retry_connection = False  # True sends a GET again if its kept connection is lost
        return self

    def _connector_of(self, proxy: Proxy | None) -> GuardedConnector:
        """Return the connector of one proxy, with its part of the connections; of None: without a proxy."""
        connections = max(self.limits.connections // max(len(self._proxies), 1), 1)
        if proxy is None:
            return GuardedConnector(self.guard, self._resolver, connections=connections, ssl_context=self._ssl)
        if proxy.is_socks:
            return SocksConnector(
                proxy,
                self.guard,
                self._resolver,
                self._proxy_resolver,
                connections=connections,
                ssl_context=self._ssl,
            )
        return HttpProxyConnector(self._resolver, self._proxy_resolver, connections=connections, ssl_context=self._ssl)

    def _session_of(
        self, connector: GuardedConnector, proxy: str | None, *, is_owner: bool = True
    ) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=connector,
            connector_owner=is_owner,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            proxy=proxy,
            # The deadline for the whole chain of redirects is ours; aiohttp only limits the time of one connect.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.limits.connect_seconds),
            max_line_size=self.limits.header_bytes,
            max_field_size=self.limits.header_bytes,
            max_headers=self.limits.max_headers,
        )

    async def __aexit__(self, *_: object) -> None:
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            await session.close()

    async def fetch(
        self,
        url: str,
        *,
        validators: Validators | None = None,
        method: str = "GET",
        max_bytes: int | None = None,
        truncate: bool = False,
        seconds: float | None = None,
        gate: Gate | None = None,
        reserve: Reserve | None = None,
        profile: ClientProfile = ClientProfile.PLAIN,
    ) -> FetchedPage:
        """Return the whole page, or raise a FetchError. With `truncate` a long body is cut off instead of refused."""
        limit = self.limits.page_bytes if max_bytes is None else max_bytes
        async with self.stream(
            url,
            validators=validators,
            method=method,
            max_bytes=limit,
            truncate=truncate,
            seconds=seconds,
            gate=gate,
            profile=profile,
        ) as response:
            return await response.page(reserve)

    async def fetch_any(
        self, url: str, *, method: str, headers: Mapping[str, str], gate: Gate | None, reserve: Reserve | None
    ) -> FetchedPage:
        """Return the response to a request of the browser, whatever its status, after its redirects."""
        limit = self.limits.page_bytes

        async def send(chain: _RedirectChain) -> aiohttp.ClientResponse:
            return await self._after_redirects(chain, method, dict(headers), limit, gate, ClientProfile.PLAIN)

        async with self._open(url, send, limit, False, None) as response:
            return await response.page(reserve)

    def stream(
        self,
        url: str,
        *,
        validators: Validators | None = None,
        method: str = "GET",
        max_bytes: int | None = None,
        truncate: bool = False,
        seconds: float | None = None,
        gate: Gate | None = None,
        profile: ClientProfile = ClientProfile.PLAIN,
    ) -> AbstractAsyncContextManager[ResponseStream]:
        """Open a response; iterate over it for the decompressed body, piece by piece."""
        limit = self.limits.stream_bytes if max_bytes is None else max_bytes

        async def send(chain: _RedirectChain) -> aiohttp.ClientResponse:
            return await self._follow(chain, method, _conditional(validators), limit, gate, profile)

        return self._open(url, send, limit, truncate, seconds)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int | None = None,
        seconds: float | None = None,
    ) -> FetchedPage:
        """Send one request to an API, once, for it may be billed.

        Any status is returned; no redirect is followed, for a header may hold a key. With `max_bytes=0` the body is not
        read.
        """
        limit = self.limits.stream_bytes if max_bytes is None else max_bytes

        async def send(chain: _RedirectChain) -> aiohttp.ClientResponse:
            return await self._send(method, chain.target, dict(headers or {}), limit, body, once=True)

        async with self._open(url, send, limit, False, seconds) as response:
            return await response.page()

    async def check(self, url: str) -> None:
        """Raise BlockedByPolicy for a URL that may not be requested or whose host does not resolve; send nothing."""
        target = self.guard.target(url)
        try:
            await self._resolver.resolve(target.host, target.port)
        except OSError as error:
            if not isinstance(error, AddressRefused) and self._proxies and not all(p.is_socks for p in self._proxies):
                return  # an HTTP proxy resolves names itself
            raise BlockedByPolicy(f"{target.host} does not lead to a public web site.", url=target.href) from error

    @asynccontextmanager
    async def _open(
        self,
        url: str,
        send: "Callable[[_RedirectChain], Awaitable[aiohttp.ClientResponse]]",
        max_bytes: int,
        truncate: bool,
        seconds: float | None,
    ) -> AsyncIterator[ResponseStream]:
        deadline = self.limits.deadline_seconds if seconds is None else seconds
        first = self.guard.target(url)
        chain = _RedirectChain(first)
        started = time.monotonic()
        try:
            async with asyncio.timeout(deadline):
                response = await send(chain)
        except FetchError as error:
            raise chain.annotated(error) from None
        except NETWORK_ERRORS as error:
            raise chain.annotated(fetch_error_of(error, chain.target.host, deadline)) from error
        head = ResponseHead(
            url=first.href,
            final_url=chain.target.href,
            status=response.status,
            headers=_without_surrogates(response.headers),
            redirects=tuple(chain.redirects),
            fetched_at=clock.now(),
        )
        try:
            yield ResponseStream(
                head,
                response,
                host=chain.target.host,
                max_bytes=max_bytes,
                truncate=truncate,
                seconds=deadline,
                started=started,
            )
        finally:
            response.release()

    async def _follow(
        self,
        chain: "_RedirectChain",
        method: str,
        headers: dict[str, str],
        max_bytes: int,
        gate: Gate | None,
        profile: ClientProfile,
    ) -> aiohttp.ClientResponse:
        """Send the request, follow redirects, and return a successful response."""
        response = await self._after_redirects(chain, method, headers, max_bytes, gate, profile)
        if not (200 <= response.status < 300 or (response.status == 304 and headers)):
            raise await self._refusal(response, chain.target)
        if asks_for_bot_check(response.headers):
            response.close()
            raise bot_check_error(response.status, _without_surrogates(response.headers), chain.target.host)
        return response

    async def _after_redirects(
        self,
        chain: "_RedirectChain",
        method: str,
        headers: dict[str, str],
        max_bytes: int,
        gate: Gate | None,
        profile: ClientProfile,
    ) -> aiohttp.ClientResponse:
        """Send the request, follow redirects, and return the response that is none."""
        while True:
            if gate is not None:
                await gate(chain.target)
            response = await self._send(method, chain.target, headers, max_bytes, profile=profile)
            if response.status not in REDIRECT_STATUSES:
                return response
            response.release()
            chain.advance(self.guard, response, self.limits.max_redirects)

    async def _refusal(self, response: aiohttp.ClientResponse, target: Target) -> FetchError:
        """Return the error of a response without success; the beginning of its body may tell a bot check."""
        headers, host = _without_surrogates(response.headers), target.host
        try:
            body = await read_refusal(response, headers, target) if response.status in BODY_STATUSES else b""
        finally:
            response.close()
        return status_error(response.status, headers, host, self.limits.max_retry_after_seconds, body)

    async def _send(
        self,
        method: str,
        target: Target,
        headers: dict[str, str],
        max_bytes: int,
        body: bytes | None = None,
        profile: ClientProfile = ClientProfile.PLAIN,
        once: bool = False,
    ) -> aiohttp.ClientResponse:
        if not self._sessions:
            raise RuntimeError("the client is not open: use it with `async with`")
        wire_limit.set(2 * max_bytes + WIRE_SLACK_BYTES)
        own = CIMultiDict(self._headers[profile])
        own.update(headers)
        send = self._by_proxy.request if self._by_proxy is not None else partial(self._send_by, None)
        return await send(method, target.url, once=once, headers=own, data=body, allow_redirects=False)

    async def _send_by(
        self, proxy: Proxy | None, method: str, url: yarl.URL, *, once: bool = False, **options: Any
    ) -> aiohttp.ClientResponse:
        return await self._sessions[proxy, once].request(method, url, **options)


class _RedirectChain:
    """The URLs of one fetch so far."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.redirects: list[Redirect] = []

    def advance(self, guard: SsrfGuard, response: aiohttp.ClientResponse, max_redirects: int) -> None:
        """Go to the target of a redirect, which passes the same guard as the first URL."""
        status, host = response.status, self.target.host
        self.redirects.append(Redirect(self.target.href, status))
        location = response.headers.get("Location", "").strip()
        if not location:
            raise PermanentFetchError(f"{host} redirects without a Location header.", status=status)
        if len(self.redirects) > max_redirects:
            first = self.redirects[0].url
            raise PermanentFetchError(f"{first} redirects more than {max_redirects} times.", status=status)
        self.target = guard.target(location, base=self.target.href)
        if any(redirect.url == self.target.href for redirect in self.redirects):
            raise PermanentFetchError(f"{self.target.host} redirects in a circle.", status=status)

    def annotated(self, error: FetchError) -> FetchError:
        """Return the error with the URL and the redirects that led to it."""
        error.url = error.url or self.target.href
        error.redirects = tuple(self.redirects)
        return error


@cache
def _machine_ssl_context() -> ssl.SSLContext:
    """Return a context that verifies certificates with the authorities of the machine, read once in a process."""
    return ssl.create_default_context()


def _conditional(validators: Validators | None) -> dict[str, str]:
    """Return If-None-Match and If-Modified-Since for the validators that are safe to send."""
    if validators is None:
        return {}
    pairs = (("If-None-Match", validators.etag), ("If-Modified-Since", validators.last_modified))
    return {
        name: value
        for name, value in pairs
        if value and len(value) <= MAX_VALIDATOR_LENGTH and value.isascii() and value.isprintable()
    }


def _without_surrogates(headers: CIMultiDictProxy[str]) -> CIMultiDictProxy[str]:
    """Return the headers with U+FFFD for bytes that are not text."""
    if all(value.isascii() for value in headers.values()):
        return headers
    clean = (
        (name, value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")) for name, value in headers.items()
    )
    return CIMultiDictProxy(CIMultiDict(clean))
