"""Resolves host names in threads: a name server that does not respond delays only its own lookups."""

import asyncio
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from scrapersky.crawl.network.ip_ranges import parse_address_port
from scrapersky.crawl.network.ssrf_guard import AddressRefused, SsrfGuard

EVERY_NAME = "*"
Lookup = Callable[..., list[tuple[Any, ...]]]


class LookupTimedOut(OSError):
    """The name server did not respond in time."""


class DnsResolver(AbstractResolver):
    """Resolves names with a bounded number of threads, and leaves out the addresses that the guard refuses.

    The guard checks again when a connection is opened; the check here gives a better reason and tries other addresses.
    `known` maps names (or name:port) to addresses that need no lookup; `*` (or *:port) stands for every other name.
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
        self._slots = asyncio.Semaphore(threads)
        self._seconds = seconds
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the permitted addresses of a host; raise AddressRefused if it has none."""
        names = (f"{host}:{port}", host.rstrip("."), f"{EVERY_NAME}:{port}", EVERY_NAME)
        known = next((place for name in names if (place := self._known.get(name))), None)
        places = [(known[0], known[1] or port)] if known else await self._looked_up(host, port, family)
        return [_result(host, *place) for place in self._permitted(host, places)]

    async def close(self) -> None:
        """Do nothing: a thread that still waits for a response is a daemon and does not delay the exit."""

    async def _looked_up(self, host: str, port: int, family: int) -> list[tuple[str, int]]:
        try:
            async with asyncio.timeout(self._seconds):
                await self._slots.acquire()
                found = await self._in_thread(host, port, family)
        except TimeoutError:
            raise LookupTimedOut(f"no answer about {host} within {self._seconds:g} s") from None
        return [(str(place[0]), int(place[1])) for *_, place in found]

    def _in_thread(self, host: str, port: int, family: int) -> "asyncio.Future[list[tuple[Any, ...]]]":
        """Start the lookup; its slot is released when the thread ends, not when the caller stops waiting."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[tuple[Any, ...]]] = loop.create_future()

        def finish(addresses: list[tuple[Any, ...]] | None, error: Exception | None) -> None:
            self._slots.release()
            if found.done():
                return
            if error is not None:
                found.set_exception(error)
            else:
                found.set_result(addresses or [])

        def look_up() -> None:
            addresses, failure = None, None
            try:
                addresses = self._lookup(host, port, type=socket.SOCK_STREAM, family=family)
            except (OSError, UnicodeError) as error:
                failure = error if isinstance(error, OSError) else socket.gaierror(socket.EAI_NONAME, "no such name")
            with suppress(RuntimeError):  # the loop is closed, so the result is not needed
                loop.call_soon_threadsafe(finish, addresses, failure)

        threading.Thread(target=look_up, name="scrapersky-dns", daemon=True).start()
        return found

    def _permitted(self, host: str, places: list[tuple[str, int]]) -> list[tuple[str, int]]:
        if self._guard is None:
            return places
        permitted, refused = [], []
        for place in places:
            try:
                self._guard.check_address(*place)
            except AddressRefused as error:
                refused.append(str(error))
            else:
                permitted.append(place)
        if not permitted:
            raise AddressRefused(f"{host}, which leads to {refused[0] if refused else 'nowhere'},")
        return permitted


def parse_known(text: str) -> dict[str, str]:
    """Parse `a.example=127.0.0.1:8001, *=...` into a mapping; raise BadSetting for any other form."""
    entries = [entry.partition("=") for part in text.split(",") if (entry := part.strip())]
    known = {name.strip(): place.strip() for name, _, place in entries}
    for place in known.values():
        _place(place)
    return known


def _place(text: str) -> tuple[str, int | None]:
    return parse_address_port(
        text,
        f"CRAWL_HOST_OVERRIDES cannot hold {text or 'a name alone'}: write shop.example=127.0.0.1:8001, "
        "and a comma between two of them.",
    )


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
