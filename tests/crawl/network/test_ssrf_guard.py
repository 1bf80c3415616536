"""The guard over URLs: what it refuses, what it keeps, and that nothing else can come out of it."""

import socket
from ipaddress import ip_address

import pytest
import yarl
from hypothesis import example, given
from hypothesis import strategies as st

from scrapersky.crawl.errors import BlockedByPolicy
from scrapersky.crawl.network.ip_ranges import Allowance, parse_address, why_denied
from scrapersky.crawl.network.ssrf_guard import AddressRefused, SsrfGuard

GUARD = SsrfGuard()

REFUSED = {
    "http://127.0.0.1/": "this machine",
    "http://2130706433/": "this machine",
    "http://0x7f000001/": "this machine",
    "http://0x7f.0.0.1/": "this machine",
    "http://0177.0.0.1/": "this machine",
    "http://127.1/": "this machine",
    "http://0/": "this network",
    "http://0.0.0.0/": "this network",
    "http://①②⑦.0.0.1/": "this machine",
    "http://127.0.0.1./": "this machine",
    "http://%31%32%37.0.0.1/": "this machine",
    "http://[::1]/": "this machine",
    "http://[::ffff:127.0.0.1]/": "this machine",
    "http://[64:ff9b::7f00:1]/": "translation",
    "http://[fe80::1]/": "link-local",
    "http://169.254.169.254/latest/meta-data/": "metadata",
    "http://[fd00:ec2::254]/": "private",
    "http://10.0.0.1/": "private",
    "http://good.example@127.0.0.1/": "user name",
    "http://user:secret@good.example/": "user name",
    "http://@good.example/": "user name",
    "http:user@good.example/": "user name",
    "http://good.example\\@127.0.0.1/": "backslash",
    "http:\\\\127.0.0.1\\": "backslash",
    "http://127.0.0.1\t.good.example/": "control",
    "http://good.example/\r\nHost: evil": "control",
    "ht\ntp://127.0.0.1/": "control",
    "http://good.example/\x00": "control",
    "//127.0.0.1/": "not a web address",
    "file:///etc/passwd": "scheme",
    "gopher://127.0.0.1:70/_x": "scheme",
    "ftp://good.example/": "scheme",
    "data:text/html,x": "scheme",
    "javascript:alert(1)": "scheme",
    "ws://good.example/": "scheme",
    "http://good.example:22/": "Port 22",
    "http://good.example:25/": "Port 25",
    "http://good.example:6379/": "Port 6379",
    "https://good.example:5432/": "Port 5432",
    "http://good.example:99999/": "not a web address",
    "http://good.example:0/": "Port 0",
    "http:///": "not a web address",
    "http://": "not a web address",
    "": "not a web address",
    "good.example": "not a web address",
    "http://[::1": "not a web address",
    "http://a b.example/": "not a web address",
    "http://good.example/" + "a" * 2100: "longer than",
    "http://good.example/" + "ä" * 1000: "longer than",
    "http://xn--a/": "not a web address",
}


@pytest.mark.parametrize("url", REFUSED)
def test_this_url_is_refused_with_its_reason(url: str) -> None:
    with pytest.raises(BlockedByPolicy, match=REFUSED[url]):
        GUARD.target(url)


@pytest.mark.parametrize(
    ("url", "href"),
    [
        ("http://EXAMPLE.com", "http://example.com/"),
        ("https://bücher.example/ä b?q=ö#top", "https://xn--bcher-kva.example/%C3%A4%20b?q=%C3%B6"),
        ("http://example.com:80/a/../b", "http://example.com/b"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
        ("http://example.com/a@b?c=d@e", "http://example.com/a@b?c=d@e"),
        ("http://straße.example/", "http://xn--strae-oqa.example/"),
        ("http://example.com/x%2Fy%41?", "http://example.com/x%2Fy%41"),
    ],
)
def test_this_url_is_kept_in_its_one_canonical_form(url: str, href: str) -> None:
    target = GUARD.target(url)
    assert target.href == href
    assert str(target.url) == href


@pytest.mark.parametrize("location", ["//127.0.0.1/", "http://127.1/", "//[::1]:80/", "//0/", "https:127.0.0.1"])
def test_a_redirect_to_this_machine_is_refused_however_it_is_written(location: str) -> None:
    with pytest.raises(BlockedByPolicy, match=r"this (machine|network)"):
        GUARD.target(location, base="http://good.example/a/b")


def test_a_relative_redirect_stays_on_its_host() -> None:
    assert GUARD.target("../c?d", base="http://good.example/a/b").href == "http://good.example/c?d"


def test_an_allowance_opens_its_own_port_only() -> None:
    guard = SsrfGuard(allowance=Allowance(["127.0.0.1:39001"]))
    assert guard.target("http://127.0.0.1:39001/").port == 39001
    assert guard.target("http://localhost:39001/").port == 39001
    for url in ("http://127.0.0.1:39002/", "http://127.0.0.1/", "http://[::1]:39001/", "http://good.example:39001/"):
        with pytest.raises(BlockedByPolicy):
            guard.target(url)


def test_the_socket_is_refused_before_it_exists() -> None:
    for address, family in (("127.0.0.1", socket.AF_INET), ("::ffff:127.0.0.1", socket.AF_INET6)):
        with pytest.raises(AddressRefused):
            GUARD.open_socket((family, socket.SOCK_STREAM, 0, "", (address, 80)))
    with GUARD.open_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("8.8.8.8", 80))) as opened:
        assert opened.family == socket.AF_INET


HOSTS = st.sampled_from(
    ["127.0.0.1", "[::1]", "0x7f.1", "017700000001", "good.example", "localhost", "[::ffff:a00:1]", "①②⑦.1", "8.8.8.8"]
)
MIXED = st.builds(
    "".join,
    st.lists(
        st.sampled_from(["http://", "https:", "//", "\\", "@", ":80", ":", "/", "?", "#", "%2f", "."]) | HOSTS,
        max_size=8,
    ),
)


@given(st.text(max_size=200) | MIXED)
@example("http://\ud800/")
@example("http://a/\udcff")
def test_any_text_is_refused_properly_or_leads_to_a_public_place(text: str) -> None:
    try:
        target = GUARD.target(text)
        refused = None
    except BlockedByPolicy as error:
        refused = error
    if refused is not None:
        assert refused.reason.endswith(".")
        assert refused.url.isprintable()
        return
    address = parse_address(target.host)
    assert address is None or why_denied(address) is None
    assert target.scheme in ("http", "https")
    assert target.port in GUARD.ports
    again = yarl.URL(target.href, encoded=True)
    assert (again.raw_host, again.port, again.user) == (target.host, target.port, None)
    assert GUARD.target(target.href).href == target.href


@given(st.ip_addresses(), st.integers(1, 65535))
def test_only_public_addresses_pass_the_check(address: object, port: int) -> None:
    try:
        GUARD.check_address(str(address), port)
    except AddressRefused:
        return
    assert why_denied(ip_address(str(address))) is None


@given(st.text(max_size=60))
def test_text_that_is_not_an_address_is_refused(text: str) -> None:
    if parse_address(text) is None:
        with pytest.raises(AddressRefused):
            GUARD.check_address(text, 80)
