"""Hosts are split at their public suffix exactly as tldextract splits them, without importing it."""

import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import tldextract

from scrapersky.extract.public_suffix import RULE, registrable_domain, split_host

ODD = """
com localhost 127.0.0.1 1.2.3.4.5 [::1] [fe80::1%25eth0] [shop.firma.de] a..b.com .com com. ..com
shop.firma.co.uk. www.ck a.ck a.b.ck city.kobe.jp a.city.kobe.jp x.kobe.jp y.x.kobe.jp a.github.io
b.a.github.io github.io FIRMA.CO.UK xn--j1amh фірма.укр xn--80a.xn--j1amh xn--.com xn--a.de 例え.jp firma。jp
firma．co．jp *.ck !www.ck a.*.ck firma.unknown user@firma.de:8080/path?x#y https://shop.firma.de/a//b
//firma.de/x ://firma.de firma.de?x firma.de#y firma.de:443 mailto:a@firma.de ß.de -firma.de a_b.firma.de
"""


@cache
def extractor() -> tldextract.TLDExtract:
    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


def hosts() -> list[str]:
    package = find_spec("tldextract")
    assert package is not None
    assert package.origin is not None
    rules = RULE.findall(Path(package.origin).with_name(".tld_set_snapshot").read_text("utf-8"))
    plain = [rule.lstrip("!").replace("*", "any") for rule in rules]
    assert len(plain) > 9_000
    return (
        [f"{before}{rule}" for rule in plain for before in ("", "firma.", "shop.firma.")]
        + ODD.split()
        + ["", " firma.de "]
    )


@pytest.mark.parametrize("is_private_kept", [False, True])
def test_every_rule_of_the_list_splits_hosts_as_tldextract_does(is_private_kept: bool) -> None:
    other = [
        host
        for host in hosts()
        if (parts := extractor()(host, include_psl_private_domains=is_private_kept))
        and (parts.suffix, parts.top_domain_under_public_suffix)
        != ((own := split_host(host, is_private_kept=is_private_kept)).suffix, own.registrable)
    ]
    assert other == []


def test_reserved_endings_and_single_labels() -> None:
    assert registrable_domain("shop.firma.example") == "firma.example"
    assert registrable_domain("localhost") == ""
    assert registrable_domain("Shop.Firma.co.uk.") == "firma.co.uk"


def test_no_process_imports_the_package() -> None:
    code = (
        "import sys; from scrapersky.extract.public_suffix import registrable_domain; "
        "assert registrable_domain('a.firma.de') == 'firma.de'; assert 'tldextract' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
