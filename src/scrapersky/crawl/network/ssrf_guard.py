"""The check of every URL before a fetch, and of every numeric address when a connection is opened."""

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
    """The address may not be connected to; an OSError, so that aiohttp tries the next address."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that passed the guard: its canonical form, and the parts on which both parsers agree."""

    href: str
    scheme: str
    host: str
    port: int
    url: yarl.URL

    @property
    def origin(self) -> str:
        """Scheme, host and port: the scope of one robots.txt."""
        return f"{self.scheme}://{self.url.authority}"


class SsrfGuard:
    """Checks URLs and addresses against ports, allowance and denied networks.

    `receivers` are private addresses that may be reached at every port that their entry allows.
    """

    def __init__(
        self,
        ports: Iterable[int] = STANDARD_PORTS,
        allowance: Allowance | None = None,
        receivers: Allowance | None = None,
    ) -> None:
        self.ports = frozenset(ports)
        self.allowance = allowance or Allowance()
        self.receivers = receivers or Allowance()

    def target(self, text: str, base: str | None = None) -> Target:
        """Return the URL in canonical form, resolved against `base`; raise BlockedByPolicy if it is refused."""
        _check_text(text)
        try:
            parsed = ada_url.URL(text, base=base) if base else ada_url.URL(text)
            parsed.hash = ""
            parsed.search = parsed.search  # removes a bare "?", as yarl does
            target = _agreed(parsed)
        except (ValueError, UnicodeError):
            reason = f"{_shown(text)} is not a web address; one begins with http:// or https://."
            raise BlockedByPolicy(reason, url=_shown(text)) from None
        self._check_target(parsed, target)
        return target

    def open_socket(self, info: tuple[int, int, int, str, tuple[object, ...]]) -> socket.socket:
        """Create the socket for a resolved address. Every connection is made through here, so none avoids the check."""
        family, kind, protocol, _, place = info
        self.check_address(str(place[0]), int(str(place[1])))
        return socket.socket(family, kind, protocol)

    def check_address(self, address_text: str, port: int) -> None:
        """Raise AddressRefused unless the address is public or in the allowance."""
        address = parse_address(address_text)
        if address is None:
            raise AddressRefused(f"{address_text} (not an address)")
        why = why_denied(address)
        if why is not None and not self._allows(address, port):
            raise AddressRefused(f"{address} ({why})")
        if why is None and self.receivers and port not in self.ports:
            raise AddressRefused(f"{address} (port {port})")  # the port was let through for a name of a receiver

    def _allows(self, address: Address, port: int) -> bool:
        mapped = getattr(address, "ipv4_mapped", None)
        return any(allowance.covers(mapped or address, port) for allowance in (self.allowance, self.receivers))

    def _may_have_port(self, place: Address | None, port: int) -> bool:
        """Return whether a host may have this port; of a name, `check_address` decides when it is resolved."""
        if port in self.ports:
            return True
        if place is None:
            return self.receivers.has_port(port)
        return self.allowance.names_port(place, port) or self.receivers.covers(place, port)

    def _check_target(self, parsed: ada_url.URL, target: Target) -> None:
        if parsed.username or parsed.password:
            raise BlockedByPolicy("The address carries a user name or password.", url=target.href)
        if len(target.href) > MAX_URL_LENGTH:
            raise BlockedByPolicy(f"The address is longer than {MAX_URL_LENGTH} characters.", url=target.href[:200])
        address = parse_address(target.host)
        place = LOOPBACK if target.host == "localhost" else address
        if not self._may_have_port(place, target.port):
            raise BlockedByPolicy(f"Port {target.port} is not a port we fetch from.", url=target.href)
        if address is not None:
            try:
                self.check_address(target.host, target.port)
            except AddressRefused as refused:
                raise BlockedByPolicy(f"{refused} is not a public web site.", url=target.href) from None


def _check_text(text: str) -> None:
    """Refuse characters that one parser strips and another one reads."""
    if len(text) > MAX_URL_LENGTH:
        raise BlockedByPolicy(f"The address is longer than {MAX_URL_LENGTH} characters.", url=_shown(text))
    if not (text.isascii() and text.isprintable() and "\\" not in text) and any(map(_is_forbidden, text)):
        raise BlockedByPolicy("The address contains a backslash or a control character.", url=_shown(text))
    if "@" in _authority(text):
        raise BlockedByPolicy("The address carries a user name or password.", url=_shown(text))


def _is_forbidden(char: str) -> bool:
    return char == "\\" or char < " " or "\x7f" <= char <= "\x9f" or "\ud800" <= char <= "\udfff"


def _authority(text: str) -> str:
    rest = text.partition("//")[2]
    return rest[: min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))]


def _agreed(parsed: ada_url.URL) -> Target:
    """Return the target on which ada-url and yarl agree; ada-url checks it, and yarl is used to fetch it."""
    scheme = parsed.protocol.removesuffix(":")
    if scheme not in SCHEME_PORTS:
        raise BlockedByPolicy(f"{scheme}: is not a scheme we fetch, only http and https.", url=_shown(parsed.href))
    host = parsed.hostname.strip("[]")
    port = int(parsed.port) if parsed.port else SCHEME_PORTS[scheme]
    url = yarl.URL(parsed.href, encoded=True)
    agreed = (url.scheme, url.raw_host, url.port, url.raw_path_qs) == (scheme, host, port, _path(parsed))
    # url.host decodes the name, as aiohttp does: a name that cannot be decoded fails here.
    if not agreed or str(url) != parsed.href or not url.host:
        raise BlockedByPolicy("The URL can be parsed in two ways.", url=_shown(parsed.href))
    return Target(parsed.href, scheme, host, port, url)


def _path(parsed: ada_url.URL) -> str:
    return f"{parsed.pathname}{parsed.search}"


def _shown(text: str) -> str:
    """Return the text for an error sentence: short, and without control characters."""
    return "".join(char if char.isprintable() else "?" for char in text[:200])
