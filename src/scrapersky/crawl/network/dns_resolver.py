"""Names to addresses, on threads of our own: a name server that never answers delays its own name and no other."""

import asyncio
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from scrapersky.core.errors import BadSetting
from scrapersky.crawl.network.ip_ranges import parse_address, split_host_port
from scrapersky.crawl.network.ssrf_guard import AddressRefused, SsrfGuard

EVERY_NAME = "*"
Lookup = Callable[..., list[tuple[Any, ...]]]


class LookupTooSlow(OSError):
    """The name server did not answer in time."""


class DnsResolver(AbstractResolver):
    """Looks names up with a bounded number of threads, and drops the addresses the guard refuses.

    The guard looks again at the moment of connecting; here it only makes the reason better and the choice wider.
    `known` answers for some names (or name:port) without asking, for every name where it knows `*` (or *:port): the
    sandbox's own little internet.
    """

    def __init__(
        self,
        guard: SsrfGuard | None,
        *,
        known: Mapping[str, str] | None = None,
        threads: int = 32,
        seconds: float = 5.0,
        lookup: Lookup = socket.getaddrinfo,
    ) -> None:
        self._guard = guard
        self._known = {name.lower(): _place(place) for name, place in (known or {}).items()}
        self._free = asyncio.Semaphore(threads)
        self._seconds = seconds
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of a host that may be connected to; AddressRefused when it has only others."""
        names = (f"{host}:{port}", host.rstrip("."), f"{EVERY_NAME}:{port}", EVERY_NAME)
        known = next((place for name in names if (place := self._known.get(name))), None)
        places = [(known[0], known[1] or port)] if known else await self._asked(host, port, family)
        return [_result(host, *place) for place in self._permitted(host, places)]

    async def close(self) -> None:
        """Nothing is kept open: a thread that still waits for its answer is a daemon and holds up no exit."""

    async def _asked(self, host: str, port: int, family: int) -> list[tuple[str, int]]:
        try:
            async with asyncio.timeout(self._seconds):
                await self._free.acquire()
                answer = await self._on_a_thread(host, port, family)
        except TimeoutError:
            raise LookupTooSlow(f"no answer about {host} within {self._seconds:g} s") from None
        return [(str(place[0]), int(place[1])) for *_, place in answer]

    def _on_a_thread(self, host: str, port: int, family: int) -> "asyncio.Future[list[tuple[Any, ...]]]":
        """Start the lookup. Its place is given back when the thread ends, not when the caller stops waiting."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[tuple[Any, ...]]] = loop.create_future()

        def finish(answer: list[tuple[Any, ...]] | None, error: Exception | None) -> None:
            self._free.release()
            if found.done():
                return
            if error is not None:
                found.set_exception(error)
            else:
                found.set_result(answer or [])

        def ask() -> None:
            answer, problem = None, None
            try:
                answer = self._lookup(host, port, type=socket.SOCK_STREAM, family=family)
            except (OSError, UnicodeError) as error:
                problem = error if isinstance(error, OSError) else socket.gaierror(socket.EAI_NONAME, "no such name")
            with suppress(RuntimeError):  # the loop is closed: nobody waits for this answer any more
                loop.call_soon_threadsafe(finish, answer, problem)

        threading.Thread(target=ask, name="scrapersky-names", daemon=True).start()
        return found

    def _permitted(self, host: str, places: list[tuple[str, int]]) -> list[tuple[str, int]]:
        if self._guard is None:
            return places
        permitted, refused = [], []
        for place in places:
            try:
                self._guard.judge(*place)
            except AddressRefused as error:
                refused.append(str(error))
            else:
                permitted.append(place)
        if not permitted:
            raise AddressRefused(f"{host}, which leads to {refused[0] if refused else 'nowhere'},")
        return permitted


def parse_known(text: str) -> dict[str, str]:
    """`a.example=127.0.0.1:8001, *=...` as a mapping; BadSetting when it is not of this form."""
    entries = [entry.partition("=") for part in text.split(",") if (entry := part.strip())]
    known = {name.strip(): place.strip() for name, _, place in entries}
    for place in known.values():
        _place(place)
    return known


def _place(text: str) -> tuple[str, int | None]:
    try:
        host, port = split_host_port(text)
    except ValueError:
        host, port = "", None
    if parse_address(host) is None:
        raise BadSetting(
            f"CRAWL_HOST_OVERRIDES cannot hold {text or 'a name alone'}: write shop.example=127.0.0.1:8001, "
            "and a comma between two of them."
        )
    return host, port


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=family,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
