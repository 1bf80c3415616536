"""The guarded HTTP client: every request to a web site or service goes through here."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Self

import aiohttp
import structlog
from multidict import CIMultiDict, CIMultiDictProxy

from scrapersky.core import clock
from scrapersky.crawl.errors import BlockedByPolicy, FetchError, PermanentFetchError
from scrapersky.crawl.http.connector import GuardedConnector, wire_limit
from scrapersky.crawl.http.error_mapping import NETWORK_ERRORS, bot_check_error, fetch_error_of, status_error
from scrapersky.crawl.http.limits import FetchLimits
from scrapersky.crawl.http.response_stream import Reserve, ResponseStream, read_refusal
from scrapersky.crawl.network.dns_resolver import DnsResolver
from scrapersky.crawl.network.ssrf_guard import SsrfGuard, Target
from scrapersky.crawl.page import FetchedPage, Redirect, ResponseHead, Validators
from scrapersky.extract.hidden_pages.responses import BODY_STATUSES, asks_for_bot_check

log = structlog.get_logger(__name__)

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
MAX_VALIDATOR_LENGTH = 256
WIRE_SLACK_BYTES = 1_048_576

# Called before every request of a fetch, redirects included; raises an error to stop the fetch.
Gate = Callable[[Target], Awaitable[None]]


class Client:
    """Fetches pages and streams bodies within its limits; open it with `async with`.

    `guard` decides which addresses it may connect to. `known_hosts` resolves names without DNS; the guard still checks
    their addresses. With a `proxy`, every request goes through it, and the proxy has to check addresses: we see names.
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
        proxy: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.guard = guard or SsrfGuard()
        self.limits = limits or FetchLimits()
        self._proxy = proxy
        self._ssl = ssl_context or ssl.create_default_context()
        self._headers = {
            "User-Agent": user_agent,
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
            "Accept-Encoding": "gzip, deflate",
        }
        self._connect_guard = None if proxy else self.guard
        self._resolver = DnsResolver(self._connect_guard, known=known_hosts, threads=dns_threads, seconds=dns_seconds)
        self._session: aiohttp.ClientSession | None = None
        if self.guard.allowance:
            log.warning("private_network_allowed", allowed=[str(entry) for entry in self.guard.allowance.entries])

    async def __aenter__(self) -> Self:
        connector = GuardedConnector(
            self._connect_guard, self._resolver, connections=self.limits.connections, ssl_context=self._ssl
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            proxy=self._proxy,
            # The deadline for the whole chain of redirects is ours; aiohttp only limits the time of one connect.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.limits.connect_seconds),
            max_line_size=self.limits.header_bytes,
            max_field_size=self.limits.header_bytes,
            max_headers=self.limits.max_headers,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

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
    ) -> FetchedPage:
        """Return the whole page, or raise a FetchError. With `truncate` a long body is cut off instead of refused."""
        limit = self.limits.page_bytes if max_bytes is None else max_bytes
        async with self.stream(
            url, validators=validators, method=method, max_bytes=limit, truncate=truncate, seconds=seconds, gate=gate
        ) as response:
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
    ) -> AbstractAsyncContextManager[ResponseStream]:
        """Open a response; iterate over it for the decompressed body, piece by piece."""
        limit = self.limits.stream_bytes if max_bytes is None else max_bytes

        async def send(chain: _RedirectChain) -> aiohttp.ClientResponse:
            return await self._follow(chain, method, _conditional(validators), limit, gate)

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
        """Send one request to an API. Any status is returned; no redirect is followed, for a header may hold a key.

        With `max_bytes=0` the body is not read.
        """
        limit = self.limits.stream_bytes if max_bytes is None else max_bytes

        async def send(chain: _RedirectChain) -> aiohttp.ClientResponse:
            return await self._send(method, chain.target, dict(headers or {}), limit, body)

        async with self._open(url, send, limit, False, seconds) as response:
            return await response.page()

    async def check(self, url: str) -> None:
        """Raise BlockedByPolicy for a URL that may not be requested or whose host does not resolve; send nothing."""
        target = self.guard.target(url)
        if self._connect_guard is None:
            return  # the proxy resolves names
        try:
            await self._resolver.resolve(target.host, target.port)
        except OSError as error:
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
        self, chain: "_RedirectChain", method: str, headers: dict[str, str], max_bytes: int, gate: Gate | None
    ) -> aiohttp.ClientResponse:
        """Send the request, follow redirects, and return a successful response."""
        while True:
            if gate is not None:
                await gate(chain.target)
            response = await self._send(method, chain.target, headers, max_bytes)
            if response.status not in REDIRECT_STATUSES:
                break
            response.release()
            chain.advance(self.guard, response, self.limits.max_redirects)
        if not (200 <= response.status < 300 or (response.status == 304 and headers)):
            raise await self._refusal(response, chain.target)
        if asks_for_bot_check(response.headers):
            response.close()
            raise bot_check_error(response.status, _without_surrogates(response.headers), chain.target.host)
        return response

    async def _refusal(self, response: aiohttp.ClientResponse, target: Target) -> FetchError:
        """Return the error of a response without success; the beginning of its body may tell a bot check."""
        headers, host = _without_surrogates(response.headers), target.host
        try:
            body = await read_refusal(response, headers, target) if response.status in BODY_STATUSES else b""
        finally:
            response.close()
        return status_error(response.status, headers, host, self.limits.max_retry_after_seconds, body)

    async def _send(
        self, method: str, target: Target, headers: dict[str, str], max_bytes: int, body: bytes | None = None
    ) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("the client is not open: use it with `async with`")
        wire_limit.set(2 * max_bytes + WIRE_SLACK_BYTES)
        return await self._session.request(method, target.url, headers=headers, data=body, allow_redirects=False)


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
