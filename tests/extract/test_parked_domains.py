"""Parked domains, and sites that are only small, unfinished or about domains."""

import pytest

from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.parked_domains import parked_reason, read_home_page
from scrapersky.extract.site_results import ParkedDomain, SiteMetadata

SITE = "molar.fi"


def judged(body: str, url: str = f"https://{SITE}/", head: str = "", html: str = "<html lang='en'>") -> str:
    return parked_reason(parse_page(f"{html}<head>{head}</head><body>{body}</body></html>"), url, SITE)


@pytest.mark.parametrize(
    "sentence",
    [
        "This domain is for sale!",
        "THIS DOMAIN NAME MAY BE FOR SALE",
        "Buy this domain",
        "This Web page is parked FREE, courtesy of GoDaddy.com",
        "Registered at Namecheap.com",
        "Molar.fi is for sale",
        "This domain has expired. Is this your domain? Renew now",
        "Diese Domain steht zum Verkauf",
        "Diese Domain wurde gerade freigeschaltet.",
        "Ce nom de domaine est à vendre",
        "Este dominio está en venta",
        "Questo dominio è in vendita",
        "Este domínio está à venda",
        "Deze domeinnaam is te koop",
        "Den här domänen är till salu",
        "Domenet er til salgs",
        "Tämä verkkotunnus on myynnissä",
        "Ta domena jest na sprzedaż",
        "Tato doména je na prodej",
        "Bu alan adı satılıktır",
        "Этот домен продаётся",
        "该域名正在出售",
        "このドメインは売り出し中です",
        "이 도메인은 판매 중입니다",
        "هذا النطاق للبيع",
    ],
)
def test_a_page_with_a_sentence_of_parking_pages_is_parked(sentence):
    assert judged(f"<h1>molar.fi</h1><p>{sentence}</p><ul><li>Cheap flights</li></ul>").startswith("its page says")
    assert judged("word " * 2_000, head=f"<title>{sentence}</title>").startswith("its page says")


@pytest.mark.parametrize(
    ("url", "market"),
    [
        ("https://www.hugedomains.com/domain_profile.cfm?d=molar.fi", "hugedomains.com"),
        ("https://dan.com/buy-domain/molar.fi", "dan.com"),
        ("https://sedo.com/search/details/?domain=molar.fi", "sedo.com"),
        ("https://www.godaddy.com/forsale/molar.fi?utm_source=TDFS", "godaddy.com"),
    ],
)
def test_a_domain_that_redirects_to_a_marketplace_is_parked(url, market):
    assert judged("<p>Welcome</p>", url) == f"it leads to {market}, where domains are sold"
    assert judged(f"<p>Welcome</p><a href='{url}'>an offer</a>") == f"it is offered at {market}"


@pytest.mark.parametrize(
    "parts",
    [
        {"body": "<script src='//img.sedoparking.com/js/x.js'></script>"},
        {"body": "<img src='https://c.parkingcrew.net/p.gif'>"},
        {"body": '<script>window.onload=function(){window.location.href="/lander"}</script>'},
        {"body": "<script src='https://www.google.com/adsense/domains/caf.js?abp=1'></script>"},
        {"body": "<div id='target'></div><script>window.park = \"eyJ1dWlkIjo\"</script>"},
        {"body": "<p>Related searches</p>", "html": "<html data-adblockkey='MFwwDQYJKoZIhvcNAQEBBQADSwAw'>"},
    ],
)
def test_a_page_with_parts_of_a_parking_service_is_parked(parts):
    assert judged(**parts)


@pytest.mark.parametrize(
    "body",
    [
        "<h1>Coming soon</h1><p>Our new site is under construction.</p>",
        "<h1>Hier entsteht eine neue Website</h1><a href='mailto:info@molar.fi'>info@molar.fi</a>",
        "<h1>404</h1><p>Page not found</p>",
        "<h1>Molar Dental</h1><p>Our practice is for sale: ask Eva.</p>",
        "<p>Free parking for patients; cars may be parked free of charge.</p><a href='/parking'>Parking</a>",
        "<p>I buy and sell names, also at <a href='https://sedo.com/search/details/?domain=other.example'>Sedo</a>.</p>",
        "<p>Hosting by <a href='https://www.godaddy.com/'>GoDaddy</a></p>",
        "<p>How to answer a letter that says: this domain is for sale.</p>" + "<p>A long story.</p>" * 400,
        "",
    ],
)
def test_a_small_or_unfinished_site_is_not_parked(body):
    assert judged(body) == ""


def test_a_marketplace_is_not_a_parked_domain():
    page = parse_page("<h1>Names of all kinds</h1><a href='/search/?domain=sedo.com'>Search</a>")
    assert parked_reason(page, "https://sedo.com/", "sedo.com") == ""


@pytest.mark.parametrize("parser", ["turbohtml", "lxml"])
def test_reading_a_home_page_gives_facts_or_a_parked_domain(parser):
    facts = read_home_page("<title>Molar Dental</title><h1>Hello</h1>", f"https://{SITE}/", {}, "FI", SITE, parser)
    assert isinstance(facts, SiteMetadata)
    assert facts.title == "Molar Dental"
    none = read_home_page("<p>This domain is for sale.</p>", f"https://{SITE}/", {}, "FI", SITE, parser)
    assert none == ParkedDomain("its page says “this domain is for sale”")
