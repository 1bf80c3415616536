"""The one check every address passes: as text before a fetch, and as a number at the moment of connecting."""

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address

import ada_url
import yarl

from scrapersky.crawl.errors import BlockedByPolicy
from scrapersky.crawl.network.ip_ranges import Address, Allowance, parse_address, why_denied

SCHEME_PORTS = {"http": 80, "https": 443}
STANDARD_PORTS = (80, 443, 8080, 8443)
MAX_URL_LENGTH = 2048
LOOPBACK = IPv4Address("127.0.0.1")


class AddressRefused(OSError):
    """Raised while connecting, where only an OSError reads as "this address did not work"."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that passed: its one canonical form, and the parts both parsers agree on."""

    href: str
    scheme: str
    host: str
    port: int
    url: yarl.URL

    @property
    def origin(self) -> str:
        """Scheme, host and port: what one robots.txt speaks for."""
        return f"{self.scheme}://{self.url.authority}"


class SsrfGuard:
    """Ports, allowance and deny list in one place."""

    def __init__(self, ports: Iterable[int] = STANDARD_PORTS, allowance: Allowance | None = None) -> None:
        self.ports = frozenset(ports)
        self.allowance = allowance or Allowance()

    def target(self, text: str, base: str | None = None) -> Target:
        """The URL in canonical form, relative to `base` if there is one; or BlockedByPolicy with the reason."""
        _refuse_tricks(text)
        try:
            parsed = ada_url.URL(text, base=base) if base else ada_url.URL(text)
            parsed.hash = ""
            parsed.search = parsed.search  # a bare "?" asks for nothing, and yarl drops it
            target = _agreed(parsed)
        except (ValueError, UnicodeError):
            reason = f"{_shown(text)} is not a web address; one begins with http:// or https://."
            raise BlockedByPolicy(reason, url=_shown(text)) from None
        self._refuse_target(parsed, target)
        return target

    def open_socket(self, info: tuple[int, int, int, str, tuple[object, ...]]) -> socket.socket:
        """A socket for this resolved address. Every connection is made through here, so nothing can pass beside it."""
        family, kind, protocol, _, place = info
        self.judge(str(place[0]), int(str(place[1])))
        return socket.socket(family, kind, protocol)

    def judge(self, address_text: str, port: int) -> None:
        """AddressRefused unless this is a public address or one the allowance names."""
        address = parse_address(address_text)
        if address is None:
            raise AddressRefused(f"{address_text} (no address)")
        why = why_denied(address)
        if why is not None and not self._allows(address, port):
            raise AddressRefused(f"{address} ({why})")

    def _allows(self, address: Address, port: int) -> bool:
        mapped = getattr(address, "ipv4_mapped", None)
        return self.allowance.covers(mapped or address, port)

    def _refuse_target(self, parsed: ada_url.URL, target: Target) -> None:
        if parsed.username or parsed.password:
            raise BlockedByPolicy("The address carries a user name or password.", url=target.href)
        if len(target.href) > MAX_URL_LENGTH:
            raise BlockedByPolicy(f"The address is longer than {MAX_URL_LENGTH} characters.", url=target.href[:200])
        address = parse_address(target.host)
        place = LOOPBACK if target.host == "localhost" else address
        named = place is not None and self.allowance.names_port(place, target.port)
        if target.port not in self.ports and not named:
            raise BlockedByPolicy(f"Port {target.port} is not a port we fetch from.", url=target.href)
        if address is not None:
            try:
                self.judge(target.host, target.port)
            except AddressRefused as refused:
                raise BlockedByPolicy(f"{refused} is not a public web site.", url=target.href) from None


def _refuse_tricks(text: str) -> None:
    """What one parser strips and another one reads is refused before either sees it."""
    if len(text) > MAX_URL_LENGTH:
        raise BlockedByPolicy(f"The address is longer than {MAX_URL_LENGTH} characters.", url=_shown(text))
    if not (text.isascii() and text.isprintable() and "\\" not in text) and any(map(_is_trick, text)):
        raise BlockedByPolicy("The address contains a backslash or a control character.", url=_shown(text))
    if "@" in _authority(text):
        raise BlockedByPolicy("The address carries a user name or password.", url=_shown(text))


def _is_trick(char: str) -> bool:
    return char == "\\" or char < " " or "\x7f" <= char <= "\x9f" or "\ud800" <= char <= "\udfff"


def _authority(text: str) -> str:
    rest = text.partition("//")[2]
    return rest[: min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))]


def _agreed(parsed: ada_url.URL) -> Target:
    """The parts as ada-url and yarl both read them; they check and fetch the same text."""
    scheme = parsed.protocol.removesuffix(":")
    if scheme not in SCHEME_PORTS:
        raise BlockedByPolicy(f"{scheme}: is not a scheme we fetch, only http and https.", url=_shown(parsed.href))
    host = parsed.hostname.strip("[]")
    port = int(parsed.port) if parsed.port else SCHEME_PORTS[scheme]
    url = yarl.URL(parsed.href, encoded=True)
    agreed = (url.scheme, url.raw_host, url.port, url.raw_path_qs) == (scheme, host, port, _path(parsed))
    # url.host decodes the name, as aiohttp will: a name that cannot be decoded shall fail here.
    if not agreed or str(url) != parsed.href or not url.host:
        raise BlockedByPolicy("The address can be read in two ways.", url=_shown(parsed.href))
    return Target(parsed.href, scheme, host, port, url)


def _path(parsed: ada_url.URL) -> str:
    return f"{parsed.pathname}{parsed.search}"


def _shown(text: str) -> str:
    """The text as it may stand in a sentence: short, and without anything that moves a cursor."""
    return "".join(char if char.isprintable() else "?" for char in text[:200])
