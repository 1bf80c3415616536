"""Which addresses are public: the list by name, and by property over all addresses there are."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.core.errors import BadSetting
from scrapersky.crawl.network.ip_ranges import DENIED, Allowance, why_denied

NOT_PUBLIC = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "4000::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "172.15.0.1",
    "172.32.0.1",
    "192.169.0.1",
    "2606:4700::1111",
    "2a00:1450::8",
    "::ffff:8.8.8.8",
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_this_address_is_not_public(address: str) -> None:
    assert why_denied(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_this_address_is_public(address: str) -> None:
    assert why_denied(ip_address(address)) is None


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_what_passes_is_unicast_and_global_by_the_standard_library_too(address: IPv4Address | IPv6Address) -> None:
    if why_denied(address) is None:
        inner = getattr(address, "ipv4_mapped", None) or address
        assert inner.is_global
        assert not any((inner.is_multicast, inner.is_reserved, inner.is_loopback, inner.is_link_local))


@given(st.sampled_from(DENIED), st.data())
def test_no_address_of_a_denied_network_passes_not_even_mapped(entry: tuple, data: st.DataObject) -> None:
    network = entry[0]
    address = network[data.draw(st.integers(0, network.num_addresses - 1))]
    assert why_denied(address)
    if address.version == 4:
        assert why_denied(IPv6Address(f"::ffff:{address}"))


def test_an_allowance_covers_what_it_names_and_nothing_beside_it() -> None:
    allowance = Allowance(["127.0.0.1:8080", "10.1.0.0/16", "[::1]:9000", "localhost:7000"])
    assert allowance.covers(ip_address("127.0.0.1"), 8080)
    assert allowance.covers(ip_address("127.0.0.1"), 7000)
    assert allowance.covers(ip_address("::1"), 9000)
    assert allowance.covers(ip_address("10.1.2.3"), 22)
    assert not allowance.covers(ip_address("127.0.0.1"), 8081)
    assert not allowance.covers(ip_address("127.0.0.2"), 8080)
    assert not allowance.covers(ip_address("::1"), 9001)
    assert not allowance.covers(ip_address("10.2.0.1"), 22)


@pytest.mark.parametrize("entry", ["example.com:80", "127.0.0.1:0", "127.0.0.1:99999", "10.0.0.1/8", "all", "*"])
def test_an_allowance_that_cannot_be_understood_names_its_setting(entry: str) -> None:
    with pytest.raises(BadSetting, match="CRAWL_ALLOWED_PRIVATE_NETWORKS"):
        Allowance([entry])
