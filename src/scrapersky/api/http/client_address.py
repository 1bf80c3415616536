"""Who really calls: the address and the scheme, seen through the proxies that are trusted and through no other."""

import ipaddress
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import Scope

from scrapersky.core.errors import BadSetting

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_HOPS = 20  # nobody has more proxies in a row


class TrustedProxies:
    """The proxies of SCRAPERSKY_TRUSTED_PROXIES. What anybody else says about a request's origin is not believed."""

    def __init__(self, listed: str) -> None:
        self._networks = tuple(_networks(split_list(listed)))

    def look_through(self, scope: Scope, headers: Headers) -> None:
        """Write the true caller and scheme into the scope, if a trusted proxy says them.

        Some proxies add a line of their own below the one they were sent: all lines are one list, and its end counts.
        """
        client = scope.get("client")
        if not self._networks or client is None or not self._trusts(client[0]):
            return
        scope["client"] = (self._caller(",".join(headers.getlist("x-forwarded-for")), client[0]), 0)
        scheme = ",".join(headers.getlist("x-forwarded-proto")).rpartition(",")[2].strip()
        if scheme in ("http", "https"):
            scope["scheme"] = scheme

    def _caller(self, forwarded: str, peer: str) -> str:
        """From the right, each proxy names the one before it: the first that is not ours is the caller."""
        caller = peer
        for hop in reversed(forwarded.split(",")[-MAX_HOPS:]):
            address = parse_address(hop)
            if address is None:
                break
            caller = str(address)
            if not self._trusts(caller):
                break
        return caller

    def _trusts(self, text: str) -> bool:
        address = parse_address(text)
        return address is not None and any(address in network for network in self._networks)


def split_list(listed: str) -> list[str]:
    """The words of a setting, which stand between commas or spaces."""
    return listed.replace(",", " ").split()


def parse_address(text: str) -> Address | None:
    """An address in its plain form; None if it is none."""
    try:
        address = ipaddress.ip_address(text.strip().strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def client_network(scope: Scope) -> str:
    """What shares one limit: an IPv4 address, or the 64 bits that one IPv6 subscriber has to himself."""
    client = scope.get("client")
    address = parse_address(client[0]) if client else None
    if address is None:
        return "local"
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else str(address)


def is_loopback(scope: Scope) -> bool:
    """Whether the caller sits at this machine; a local socket counts."""
    client = scope.get("client")
    address = parse_address(client[0]) if client else None
    return client is None or (address is not None and address.is_loopback)


def _networks(listed: Iterable[str]) -> Iterable[Network]:
    for word in listed:
        try:
            yield ipaddress.ip_network(word)
        except ValueError as error:
            raise BadSetting(
                f"SCRAPERSKY_TRUSTED_PROXIES: {word} is no address and no network ({error}). "
                "Write them like 10.0.0.7, 10.1.0.0/16."
            ) from None
