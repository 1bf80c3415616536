"""The proxies of CRAWL_PROXY_URL, used in turn. One that fails has a cooldown, kept in the memory of the process."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog
import yarl
from aiohttp import ClientError

from scrapersky.core.errors import BadSetting
from scrapersky.crawl.errors import ProxiesCoolingDown

log = structlog.get_logger(__name__)

SOCKS = "socks5"
SCHEMES = frozenset({"http", "https", SOCKS})
FIRST_COOLDOWN_SECONDS = 30.0
MAX_COOLDOWN_SECONDS = 900.0
MAX_SOCKS_TEXT_BYTES = 255  # RFC 1929
HINT = "write http://host:port or socks5://user:password@host:port, and a comma between two of them."


class ProxyFailed(ClientError):
    """The proxy itself does not work: it cannot be reached, refuses our password, or does not speak its protocol."""


class ProxyRefused(ClientError):
    """The proxy works, but opens no connection to this site."""


@dataclass(eq=False, slots=True)
class Proxy:
    """One proxy, and until when it is not used."""

    url: yarl.URL
    failures: int = 0
    cooldown_until: float = 0.0
    problem: str = ""

    @property
    def is_socks(self) -> bool:
        """Whether it speaks SOCKS5, not HTTP."""
        return self.url.scheme == SOCKS

    @property
    def name(self) -> str:
        """The URL without user name and password."""
        return str(self.url.with_user(None).origin())

    def start_cooldown(self, problem: str) -> None:
        """Do not use it for a while: longer with each failure, up to a maximum."""
        now = time.monotonic()
        self.problem = problem
        if self.cooldown_until > now:
            return  # several requests failed at the same time
        seconds = min(FIRST_COOLDOWN_SECONDS * 2**self.failures, MAX_COOLDOWN_SECONDS)
        self.failures = min(self.failures + 1, 10)
        self.cooldown_until = now + seconds
        log.warning("proxy_cooldown_started", proxy=self.name, problem=problem, seconds=seconds)

    def recover(self) -> None:
        """Forget its failures: it has done its work."""
        self.failures, self.cooldown_until = 0, 0.0


class ProxyRotation:
    """Chooses the proxy of each request."""

    def __init__(self, proxies: Sequence[Proxy]) -> None:
        self.proxies = list(proxies)
        self._next = 0

    def choose(self, tried: set[Proxy]) -> Proxy | None:
        """Return the next one that has no cooldown and was not tried; None if there is none."""
        now = time.monotonic()
        for step in range(len(self.proxies)):
            place = (self._next + step) % len(self.proxies)
            proxy = self.proxies[place]
            if proxy.cooldown_until <= now and proxy not in tried:
                self._next = place + 1
                return proxy
        return None

    def no_proxy(self) -> ProxiesCoolingDown:
        """Return the error for a request for which no proxy is left; it names the one that is tried again first."""
        first = min(self.proxies, key=lambda proxy: proxy.cooldown_until)
        seconds = max(first.cooldown_until - time.monotonic(), 1.0)
        count = len(self.proxies)
        which = "The proxy" if count == 1 else f"All {count} proxies fail; the proxy"
        return ProxiesCoolingDown(
            f"{which} {first.name} {first.problem}. Start it or correct CRAWL_PROXY_URL; the work waits until then.",
            after=timedelta(seconds=seconds),
        )


def parse_proxies(text: str) -> list[Proxy]:
    """Parse URLs separated by commas or blanks; the error repeats none, for it may contain a password."""
    parts = text.replace(",", " ").split()
    if not parts:
        raise BadSetting(f"CRAWL_PROXY_URL has no URL; {HINT}")
    proxies = []
    for number, part in enumerate(parts, 1):
        try:
            proxies.append(_proxy(part))
        except ValueError as error:
            which = f"number {number} of CRAWL_PROXY_URL" if len(parts) > 1 else "CRAWL_PROXY_URL"
            raise BadSetting(f"{which} {error}; {HINT}") from None
    if len({proxy.url for proxy in proxies}) < len(proxies):
        raise BadSetting("CRAWL_PROXY_URL has the same proxy twice; write each one once.")
    return proxies


def _proxy(text: str) -> Proxy:
    """Return the proxy; the ValueError has a sentence without the URL."""
    try:
        url = yarl.URL(text)
        is_url = url.scheme in SCHEMES and bool(url.host and url.port) and url.path in ("", "/") and not url.query
    except ValueError:
        is_url = False
    if not is_url or url.fragment:
        raise ValueError("is not the URL of a proxy")
    _check_login(url)
    return Proxy(url)


def _check_login(url: yarl.URL) -> None:
    if url.user is None and url.password is None:
        return
    if url.scheme == SOCKS:
        if not all(0 < len((part or "").encode()) <= MAX_SOCKS_TEXT_BYTES for part in (url.user, url.password)):
            raise ValueError(f"needs a user name and a password of 1 to {MAX_SOCKS_TEXT_BYTES} bytes, or neither")
        return
    if ":" in (url.user or "") or not f"{url.user}{url.password}".isascii():
        raise ValueError("has a user name with a colon, or letters that are not ASCII")
