"""The addresses that a fetch may connect to: the public internet, and what the allowance adds."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from scrapersky.core.errors import BadSetting

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# `is_global` is true for several of these, depending on the Python version, so the list is our own.
DENIED: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), why)
    for network, why in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a carrier's private network"),
        ("127.0.0.0/8", "this machine"),
        ("168.63.129.16/32", "a cloud provider's host service"),
        ("169.254.0.0/16", "link-local, with the metadata service of clouds"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation only"),
        ("192.31.196.0/24", "a special-purpose sink"),
        ("192.52.193.0/24", "a special-purpose tunnel"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "a private network"),
        ("192.175.48.0/24", "a special-purpose sink"),
        ("198.18.0.0/15", "for benchmarks only"),
        ("198.51.100.0/24", "for documentation only"),
        ("203.0.113.0/24", "for documentation only"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "this network"),
        ("::1/128", "this machine"),
        ("64:ff9b::/96", "a translation to IPv4"),
        ("64:ff9b:1::/48", "a translation to IPv4"),
        ("2001::/23", "reserved for protocols and tunnels"),
        ("2001:db8::/32", "for documentation only"),
        ("2002::/16", "a 6to4 tunnel to IPv4"),
        ("2620:4f:8000::/48", "a special-purpose sink"),
        ("3fff::/20", "for documentation only"),
        ("fc00::/7", "a private network"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "a private network"),
        ("ff00::/8", "multicast"),
    )
)
# All routable IPv6 addresses are in this network; everything else is denied.
GLOBAL_UNICAST = IPv6Network("2000::/3")


def why_denied(address: Address) -> str | None:
    """Return the kind of a non-public address, or None for a public one."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    for network, why in DENIED:
        if address in network:
            return why
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return "outside the public part of IPv6"
    return None if address.is_global and not address.is_multicast else "not a public address"


def parse_address(text: str) -> Address | None:
    """Parse an address without its brackets and zone; return None for a name."""
    try:
        return ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class AllowedNetwork:
    """One entry of the allowance: a network, and one port or all ports."""

    network: Network
    port: int | None

    def covers(self, address: Address, port: int) -> bool:
        """Return whether the entry allows this address and port."""
        return address in self.network and self.port in (None, port)

    def __str__(self) -> str:
        return f"{self.network}" if self.port is None else f"{self.network} port {self.port}"


class Allowance:
    """The non-public addresses that a setting allows to connect to; empty by default."""

    def __init__(self, entries: Iterable[str] = (), setting: str = "CRAWL_ALLOWED_PRIVATE_NETWORKS") -> None:
        self.entries = tuple(
            allowed for entry in entries if entry.strip() for allowed in _parse(entry.strip(), setting)
        )

    def __bool__(self) -> bool:
        return bool(self.entries)

    def covers(self, address: Address, port: int) -> bool:
        """Return whether an entry allows this address and port."""
        return any(entry.covers(address, port) for entry in self.entries)

    def has_port(self, port: int) -> bool:
        """Return whether an entry allows this port, at any address."""
        return any(entry.port in (None, port) for entry in self.entries)

    def names_port(self, address: Address, port: int) -> bool:
        """Return whether an entry names this port, and not only the address."""
        return any(entry.port == port and entry.covers(address, port) for entry in self.entries)


def split_host_port(text: str) -> tuple[str, int | None]:
    """Split `10.0.0.1:80`, `[::1]:80` or `host:80`; the port may be missing. Raises ValueError for a wrong port."""
    host, colon, port = text.rpartition(":")
    bare_ipv6 = text.count(":") > 1 and not host.endswith("]") and "/" not in host
    if not colon or bare_ipv6 or not port.isdecimal():
        return text.strip("[]"), None
    if not 0 < int(port) < 65536:
        raise ValueError("ports go from 1 to 65535")
    return host.strip("[]"), int(port)


def parse_address_port(text: str, advice: str) -> tuple[str, int | None]:
    """Split an address and its port; raise BadSetting with the advice if the text is not an address."""
    try:
        host, port = split_host_port(text)
    except ValueError:
        host, port = "", None
    if parse_address(host) is None:
        raise BadSetting(advice)
    return host, port


def _parse(entry: str, setting: str) -> list[AllowedNetwork]:
    try:
        host, port = split_host_port(entry)
        if host.lower() == "localhost":
            return [AllowedNetwork(ip_network("127.0.0.1/32"), port), AllowedNetwork(ip_network("::1/128"), port)]
        return [AllowedNetwork(ip_network(host), port)]
    except ValueError:
        raise BadSetting(
            f"{setting} cannot hold {entry}: give an address, a network or localhost, "
            "with or without a port, such as 127.0.0.1:8080 or 10.1.0.0/16."
        ) from None
