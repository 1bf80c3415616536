"""The client's address and scheme. X-Forwarded headers count only when a trusted proxy sent them."""

import ipaddress
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import Scope

from scrapersky.core.errors import BadSetting

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_HOPS = 20  # addresses of X-Forwarded-For that are read


class TrustedProxies:
    """The proxies of SCRAPERSKY_TRUSTED_PROXIES."""

    def __init__(self, listed: str) -> None:
        self._networks = tuple(_networks(split_list(listed)))

    def apply_forwarded_headers(self, scope: Scope, headers: Headers) -> None:
        """Write the client's address and scheme into the scope if a trusted proxy forwards them.

        Some proxies add a header line instead of extending the existing one: all lines are joined to one list.
        """
        client = scope.get("client")
        if not self._networks or client is None or not self._trusts(client[0]):
            return
        scope["client"] = (self._client(",".join(headers.getlist("x-forwarded-for")), client[0]), 0)
        scheme = ",".join(headers.getlist("x-forwarded-proto")).rpartition(",")[2].strip()
        if scheme in ("http", "https"):
            scope["scheme"] = scheme

    def _client(self, forwarded: str, peer: str) -> str:
        """Return the rightmost address that is not a trusted proxy: each proxy appends the address before it."""
        client = peer
        for hop in reversed(forwarded.split(",")[-MAX_HOPS:]):
            address = parse_address(hop)
            if address is None:
                break
            client = str(address)
            if not self._trusts(client):
                break
        return client

    def _trusts(self, text: str) -> bool:
        address = parse_address(text)
        return address is not None and any(address in network for network in self._networks)


def split_list(listed: str) -> list[str]:
    """Split a setting at commas and spaces."""
    return listed.replace(",", " ").split()


def parse_address(text: str) -> Address | None:
    """Return the IP address, an IPv4-mapped one as IPv4; None if the text is not an address."""
    try:
        address = ipaddress.ip_address(text.strip().strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def client_network(scope: Scope) -> str:
    """Return what shares one rate limit: an IPv4 address, or the /64 network of an IPv6 address."""
    client = scope.get("client")
    address = parse_address(client[0]) if client else None
    if address is None:
        return "local"
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


def is_loopback(scope: Scope) -> bool:
    """Return whether the client is on this machine; a local socket counts."""
    client = scope.get("client")
    address = parse_address(client[0]) if client else None
    return client is None or (address is not None and address.is_loopback)


def _networks(listed: Iterable[str]) -> Iterable[Network]:
    for network in listed:
        try:
            yield ipaddress.ip_network(network)
        except ValueError as error:
            raise BadSetting(
                f"SCRAPERSKY_TRUSTED_PROXIES: {network} is neither an IP address nor a network ({error}). "
                "Use the form 10.0.0.7, 10.1.0.0/16."
            ) from None


def is_loopback_host(host: str) -> bool:
    """Check whether a server that listens on this host name or address accepts connections of this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
