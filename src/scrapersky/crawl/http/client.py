"""The one guarded HTTP client: every byte from a web site comes through here."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

import aiohttp
import structlog
from multidict import CIMultiDict, CIMultiDictProxy

from scrapersky.core import clock
from scrapersky.crawl.errors import BlockedByPolicy, FetchError, GiveUp, Hop, Known, Page
from scrapersky.crawl.http.connector import GuardedConnector, wire_limit
from scrapersky.crawl.http.error_mapping import TROUBLES, named, refuse_status
from scrapersky.crawl.http.limits import Limits
from scrapersky.crawl.http.response_stream import Stream
from scrapersky.crawl.network.dns_resolver import DnsResolver
from scrapersky.crawl.network.ssrf_guard import SsrfGuard, Target

log = structlog.get_logger(__name__)

REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_VALIDATOR_LENGTH = 256
WIRE_SLACK_BYTES = 1_048_576

# Asked before every address of a chain, the first one included; raises what shall end the fetch.
Gate = Callable[[Target], Awaitable[None]]


class Client:
    """Fetches pages and streams bodies within its limits; open it with `async with`.

    `guard` says where it may connect, `known_hosts` answers for names without asking a name server (and still passes
    the guard), `proxy` is the one way out when there is one: then the proxy has to judge addresses, we only see names.
    """

    def __init__(
        self,
        guard: SsrfGuard | None = None,
        limits: Limits | None = None,
        *,
        user_agent: str = "scrapersky",
        known_hosts: Mapping[str, str] | None = None,
        dns_threads: int = 32,
        dns_seconds: float = 5.0,
        proxy: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.guard = guard or SsrfGuard()
        self.limits = limits or Limits()
        self._proxy = proxy
        self._ssl = ssl_context or ssl.create_default_context()
        self._headers = {
            "User-Agent": user_agent,
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
            "Accept-Encoding": "gzip, deflate",
        }
        self._at_connect = None if proxy else self.guard
        self._names = DnsResolver(self._at_connect, known=known_hosts, threads=dns_threads, seconds=dns_seconds)
        self._session: aiohttp.ClientSession | None = None
        if self.guard.allowance:
            log.warning("private_network_allowed", allowed=[str(entry) for entry in self.guard.allowance.entries])

    async def __aenter__(self) -> Self:
        connector = GuardedConnector(
            self._at_connect, self._names, connections=self.limits.connections, ssl_context=self._ssl
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            proxy=self._proxy,
            # One deadline over the whole chain is ours; aiohttp only limits how long one address may take to connect.
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
        known: Known | None = None,
        method: str = "GET",
        max_bytes: int | None = None,
        cut: bool = False,
        seconds: float | None = None,
        gate: Gate | None = None,
    ) -> Page:
        """The whole page, or an error named by what is to be done. With `cut` a long body is cut off, not refused."""
        started = time.monotonic()
        most = self.limits.page_bytes if max_bytes is None else max_bytes
        async with self.stream(
            url, known=known, method=method, max_bytes=most, cut=cut, seconds=seconds, gate=gate
        ) as answer:
            body = b"".join([piece async for piece in answer])
        return _page(answer, body, started)

    @asynccontextmanager
    async def stream(
        self,
        url: str,
        *,
        known: Known | None = None,
        method: str = "GET",
        max_bytes: int | None = None,
        cut: bool = False,
        seconds: float | None = None,
        gate: Gate | None = None,
    ) -> AsyncIterator[Stream]:
        """The answer with its metadata; iterate over it for the inflated body, piece by piece."""
        most = self.limits.stream_bytes if max_bytes is None else max_bytes
        budget = self.limits.deadline_seconds if seconds is None else seconds
        first = self.guard.target(url)
        chain = _Chain(first)
        started = time.monotonic()
        try:
            async with asyncio.timeout(budget):
                response = await self._follow(chain, method, self._conditional(known), most, gate)
        except FetchError as error:
            raise chain.blame(error) from None
        except TROUBLES as error:
            raise chain.blame(named(error, chain.target.host, budget)) from error
        try:
            yield Stream(
                url=first.href,
                final_url=chain.target.href,
                host=chain.target.host,
                status=response.status,
                headers=_readable(response.headers),
                redirects=tuple(chain.hops),
                fetched_at=clock.now(),
                response=response,
                max_bytes=most,
                cut_long=cut,
                seconds=budget,
                spent=time.monotonic() - started,
            )
        finally:
            response.release()

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int | None = None,
        seconds: float | None = None,
    ) -> Page:
        """One question to an API: every status is an answer, and no redirect is followed, for it may carry a key.

        With `max_bytes=0` the status and the headers are all that is waited for.
        """
        most = self.limits.stream_bytes if max_bytes is None else max_bytes
        budget = self.limits.deadline_seconds if seconds is None else seconds
        target = self.guard.target(url)
        started = time.monotonic()
        try:
            async with asyncio.timeout(budget):
                response = await self._ask(method, target, dict(headers or {}), most, body)
        except TROUBLES as error:
            raise _Chain(target).blame(named(error, target.host, budget)) from error
        answer = Stream(
            url=target.href,
            final_url=target.href,
            host=target.host,
            status=response.status,
            headers=_readable(response.headers),
            redirects=(),
            fetched_at=clock.now(),
            response=response,
            max_bytes=most,
            cut_long=False,
            seconds=budget,
            spent=time.monotonic() - started,
        )
        try:
            return _page(answer, b"".join([piece async for piece in answer]) if most else b"", started)
        finally:
            response.release()

    async def look_up(self, url: str) -> None:
        """Refuse an address that a request would be refused for, or whose name nobody knows; nothing is sent."""
        target = self.guard.target(url)
        if self._at_connect is None:
            return  # the proxy looks names up
        try:
            await self._names.resolve(target.host, target.port)
        except OSError as error:
            raise BlockedByPolicy(f"{target.host} does not lead to a public web site.", url=target.href) from error

    async def _follow(
        self, chain: "_Chain", method: str, headers: dict[str, str], most: int, gate: Gate | None
    ) -> aiohttp.ClientResponse:
        """Ask, and ask on where the answer points, until an answer is none of a redirect."""
        while True:
            if gate is not None:
                await gate(chain.target)
            response = await self._ask(method, chain.target, headers, most)
            if response.status not in REDIRECTS:
                break
            response.release()
            chain.go_on(self.guard, response, self.limits.max_redirects)
        if not (200 <= response.status < 300 or (response.status == 304 and headers)):
            response.close()
            raise refuse_status(
                response.status, _readable(response.headers), chain.target.host, self.limits.max_retry_after_seconds
            )
        return response

    async def _ask(
        self, method: str, target: Target, headers: dict[str, str], most: int, body: bytes | None = None
    ) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("the client is not open: use it with `async with`")
        wire_limit.set(2 * most + WIRE_SLACK_BYTES)
        return await self._session.request(method, target.url, headers=headers, data=body, allow_redirects=False)

    def _conditional(self, known: Known | None) -> dict[str, str]:
        """If-None-Match and If-Modified-Since, from validators that are fit to be sent."""
        pairs: tuple[tuple[str, Any], ...] = (
            ("If-None-Match", known and known.etag),
            ("If-Modified-Since", known and known.last_modified),
        )
        return {
            name: value
            for name, value in pairs
            if value and len(value) <= MAX_VALIDATOR_LENGTH and value.isascii() and value.isprintable()
        }


class _Chain:
    """The addresses of one fetch so far."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.hops: list[Hop] = []

    def go_on(self, guard: SsrfGuard, response: aiohttp.ClientResponse, most: int) -> None:
        """Take the next address from a redirect; it passes the same guard as the first."""
        self.hops.append(Hop(self.target.href, response.status))
        location = response.headers.get("Location", "").strip()
        if not location:
            raise GiveUp(f"{self.target.host} redirects without saying where to.", status=response.status)
        if len(self.hops) > most:
            raise GiveUp(f"{self.hops[0].url} redirects more than {most} times.", status=response.status)
        self.target = guard.target(location, base=self.target.href)
        if any(hop.url == self.target.href for hop in self.hops):
            raise GiveUp(f"{self.target.host} redirects in a circle.", status=response.status)

    def blame(self, error: FetchError) -> FetchError:
        """The error with the way that led to it."""
        error.url = error.url or self.target.href
        error.redirects = tuple(self.hops)
        return error


def _page(answer: Stream, body: bytes, started: float) -> Page:
    """The answer as a whole, once its body is read."""
    return Page(
        url=answer.url,
        final_url=answer.final_url,
        status=answer.status,
        headers=answer.headers,
        body=body,
        redirects=answer.redirects,
        fetched_at=answer.fetched_at,
        seconds=time.monotonic() - started,
        raw_bytes=answer.raw_bytes,
        cut=answer.cut,
    )


def _readable(headers: CIMultiDictProxy[str]) -> CIMultiDictProxy[str]:
    """The headers without the surrogates that stand for bytes which are no text."""
    if all(value.isascii() for value in headers.values()):
        return headers
    clean = (
        (name, value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")) for name, value in headers.items()
    )
    return CIMultiDictProxy(CIMultiDict(clean))
