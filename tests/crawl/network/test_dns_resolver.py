"""Names that are answered without DNS: one by one, or every name at once."""

import socket
from typing import Any

import pytest

from scrapersky.crawl.network.dns_resolver import DnsResolver, parse_known
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import AddressRefused, SsrfGuard


def no_dns(*asked: Any, **options: Any) -> list[tuple[Any, ...]]:
    raise socket.gaierror(socket.EAI_NONAME, "nobody may be asked here")


def guarded(text: str, allowance: str = "127.0.0.1") -> DnsResolver:
    return DnsResolver(SsrfGuard(allowance=Allowance([allowance])), known=parse_known(text), lookup=no_dns)


async def test_a_star_resolves_every_name():
    names = guarded("*=127.0.0.1:9001")

    for host in ("one.fi", "www.two.co.uk", "xn--three-9qa.de."):
        (found,) = await names.resolve(host, 80)
        assert (found["host"], found["port"], found["hostname"]) == ("127.0.0.1", 9001, host)


async def test_an_exact_name_comes_before_the_star():
    names = guarded("*=127.0.0.1:9001, one.fi=127.0.0.1:9002, one.fi:443=127.0.0.1:9003")

    ports = [(await names.resolve("one.fi", port))[0]["port"] for port in (80, 443)]

    assert ports == [9002, 9003]


async def test_without_a_star_other_names_are_looked_up():
    with pytest.raises(socket.gaierror):
        await guarded("one.fi=127.0.0.1:9001").resolve("two.fi", 80)


async def test_the_star_does_not_allow_what_the_guard_refuses():
    with pytest.raises(AddressRefused):
        await guarded("*=127.0.0.1:9001", allowance="127.0.0.1:9002").resolve("one.fi", 80)
