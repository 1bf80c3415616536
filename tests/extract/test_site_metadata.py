"""The facts about site and business on a home page, clean and limited."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.extract.business.organisation import Organisation
from scrapersky.extract.document.urls import Resolver
from scrapersky.extract.pages.select import PageLink, select_pages
from scrapersky.extract.parser_pool.pool import ParserPool
from scrapersky.extract.site_metadata import read_metadata
from scrapersky.extract.site_results import SiteMetadata
from tests.factories.work import count_calls

HOME = """<!doctype html>
<html lang="de-AT"><head>
<title> Zahnarztpraxis   Muster </title>
<meta name="description" content="Zahnarzt in Musterstadt">
<meta property="og:site_name" content="Praxis Muster">
<meta property="og:image" content="/bilder/praxis.jpg">
<meta name="generator" content="WordPress 6.4.2">
<meta name="generator" content="WooCommerce 8.4.0">
<link rel="canonical" href="https://www.praxis-muster.example/">
<link rel="icon" sizes="16x16" href="/icon-16.png">
<link rel="icon" sizes="64x64" href="/icon-64.png">
<link rel="apple-touch-icon" href="/touch.png">
<link rel="alternate" hreflang="de" href="/"><link rel="alternate" hreflang="en-gb" href="/en/">
<link rel="alternate" hreflang="x-default" href="/">
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Dentist", "name": "Praxis Muster",
 "legalName": "Muster Zahn GmbH", "logo": {"@type": "ImageObject", "url": "/bilder/logo.svg"},
 "foundingDate": "1998-05-01", "vatID": "ATU00000000",
 "numberOfEmployees": {"@type": "QuantitativeValue", "minValue": 5, "maxValue": 10},
 "address": {"@type": "PostalAddress", "streetAddress": "Hauptstraße 1", "postalCode": "1010",
  "addressLocality": "Musterstadt", "addressCountry": {"@type": "Country", "name": "AT"}}}</script>
</head><body>
<header><a href="/"><img src="/bilder/kopf.png" class="site-logo" alt="Praxis Muster"></a></header>
<p>Schreiben Sie an <a href="mailto:praxis@praxis-muster.example">praxis@praxis-muster.example</a>.</p>
<a href="https://www.facebook.com/praxismuster.example">Facebook</a>
<form action="/kontakt" method="post"><input name="name"><input type="email" name="mail">
<textarea name="text"></textarea></form>
</body></html>"""


def read(html: str, url: str = "https://www.praxis-muster.example/start/") -> SiteMetadata:
    return read_metadata(html, url)


def test_every_fact_of_a_home_page_is_collected() -> None:
    found = read(HOME)

    assert found.title == "Zahnarztpraxis Muster"
    assert found.description == "Zahnarzt in Musterstadt"
    assert found.site_name == "Praxis Muster"
    assert (found.language, found.locale, found.languages) == ("de", "de-AT", ("de", "en"))
    assert found.canonical == "https://www.praxis-muster.example/"
    assert found.favicon == "https://www.praxis-muster.example/icon-64.png"
    assert found.logo == "https://www.praxis-muster.example/bilder/logo.svg"
    assert found.image == "https://www.praxis-muster.example/bilder/praxis.jpg"
    assert (found.generator, found.cms, found.cms_version) == ("WordPress 6.4.2", "WordPress", "6.4.2")
    assert [one.name for one in found.technologies] == ["WordPress", "WooCommerce"]
    assert found.has_contact_form
    assert found.organisation == Organisation(
        name="Praxis Muster",
        kind="Dentist",
        legal_name="Muster Zahn GmbH",
        logo="https://www.praxis-muster.example/bilder/logo.svg",
        street="Hauptstraße 1",
        postal_code="1010",
        city="Musterstadt",
        country="AT",
        founded="1998",
        vat_id="ATU00000000",
        employees="5–10",
    )
    assert [email.address for email in found.contacts.emails] == ["praxis@praxis-muster.example"]
    assert [social.platform for social in found.contacts.socials] == ["facebook"]


def test_people_of_a_home_page_are_left_to_the_step_that_stores_them() -> None:
    person = "<html><body><p>Managing director: <b>Anna Berg</b></p>{}</body></html>"
    url = "https://berg.example/"
    with_address = read_metadata(person.format("<a href='mailto:info@berg.example'>write</a>"), url).contacts
    assert [email.address for email in with_address.emails] == ["info@berg.example"]
    assert with_address.people == ()
    alone = read_metadata(person.format(""), url).contacts
    assert [one.name for one in alone.people] == ["Anna Berg"], "a page that shows a person hides nothing"


def test_both_parsers_give_the_same_facts() -> None:
    url = "https://www.praxis-muster.example/"
    by_lxml = read_metadata(HOME, url, parser="lxml")
    assert by_lxml.parser == "lxml"
    for name in (
        "title",
        "language",
        "canonical",
        "favicon",
        "logo",
        "technologies",
        "organisation",
        "has_contact_form",
    ):
        assert getattr(by_lxml, name) == getattr(read_metadata(HOME, url), name), name


async def test_the_facts_can_be_returned_by_a_parser_process() -> None:
    async with ParserPool(1, preload=("scrapersky.extract.site_metadata",)) as pool:
        assert await pool.run(read_metadata, HOME, "https://www.praxis-muster.example/") == read_metadata(
            HOME, "https://www.praxis-muster.example/"
        )


def test_an_empty_page_has_no_facts() -> None:
    assert read("") == SiteMetadata(parser="turbohtml")


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>One</title><meta property='og:title' content='Two'>", "One"),
        ("<title> </title><meta property='og:title' content='Two'>", "Two"),
        ("<h1>Three</h1>", "Three"),
        ("<title>A\x00B\u202eC</title>", "ABC"),
        (f"<title>{'x' * 5000}</title>", "x" * 500),
    ],
)
def test_the_title_is_the_first_there_is_clean_and_short(html: str, title: str) -> None:
    assert read(html).title == title


@pytest.mark.parametrize(
    ("html", "language", "locale"),
    [
        ("<html lang='fi'>", "fi", "fi"),
        ("<html lang='en_GB'>", "en", "en-GB"),
        ("<html lang='zh-Hant-TW'>", "zh", "zh-TW"),
        ("<html xml:lang='sv-fi'>", "sv", "sv-FI"),
        ("<meta http-equiv='content-language' content='nl-BE'>", "nl", "nl-BE"),
        ("<meta property='og:locale' content='pt_BR'>", "pt", "pt-BR"),
        ('<script type=\'application/ld+json\'>{"@type": "WebSite", "inLanguage": "et-EE"}</script>', "et", "et-EE"),
        ("<html lang='<script>'><meta name='language' content='Deutsch'>", "", ""),
        ("<p>x", "", ""),
    ],
)
def test_the_language_is_read_where_it_is_stated(html: str, language: str, locale: str) -> None:
    found = read(html)
    assert (found.language, found.locale) == (language, locale)


@pytest.mark.parametrize(
    ("html", "favicon"),
    [
        ("<link rel='shortcut icon' href='f.ico'>", "https://www.praxis-muster.example/start/f.ico"),
        ("<base href='/b/'><link rel='icon' href='f.ico'>", "https://www.praxis-muster.example/b/f.ico"),
        ("<base href='ftp://x/'><link rel='icon' href='/f.ico'>", "https://www.praxis-muster.example/f.ico"),
        (
            "<link rel='icon' href='data:image/png;base64,AA'><link rel='apple-touch-icon' href='/a.png'>",
            "https://www.praxis-muster.example/a.png",
        ),
        (
            "<link rel='icon' sizes='16x16' href='/s.png'><link rel='icon' type='image/svg+xml' href='/v.svg'>",
            "https://www.praxis-muster.example/v.svg",
        ),
        ("<link rel='icon' href='javascript:alert(1)'>", ""),
        ("<link rel='icon' href='https://user:word@example.org/f.ico'>", ""),
        ("<link rel='mask-icon' href='/m.svg'>", ""),
        (f"<link rel='icon' sizes='{'9' * 99}x1' href='//cdn.example.org/f.ico'>", "https://cdn.example.org/f.ico"),
    ],
)
def test_the_icon_has_a_web_address(html: str, favicon: str) -> None:
    assert read(html).favicon == favicon


@pytest.mark.parametrize(
    ("html", "logo"),
    [
        ("<header><img src='/a.png' alt='x'><img src='/img/logo-acme.svg'></header>", "/img/logo-acme.svg"),
        ("<img src='/partner-logo.png'><header><img src='/h.png' class='logo'></header>", "/h.png"),
        ("<img src='/p/partner-logo.png' class='partner'>", ""),
        ("<footer><img src='/f/logo.png'></footer>", ""),
        ("<img src='/catalogo.png' alt='our catalogo'>", ""),
        ("<img src='/x.png' id='logo' alt='Acme logo'>", "/x.png"),
        ("<img src='data:image/png;base64,AA' class='logo'><img src='/y.png' alt='Logo'>", "/y.png"),
    ],
)
def test_the_logo_is_the_image_with_such_a_name(html: str, logo: str) -> None:
    assert read(html).logo.removeprefix("https://www.praxis-muster.example") == logo


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<form><input name=name><input type=email name=m><textarea name=msg></textarea></form>", True),
        ("<form class='wpcf7-form'><textarea name='your-message'></textarea></form>", True),
        ("<form action='https://formspree.io/f/x'><input name=email><input name=message></form>", True),
        ("<form id=kontaktformular><input name=vorname><input name=nachname><input name=email></form>", True),
        ("<iframe src='https://docs.google.com/forms/d/e/1/viewform'></iframe>", True),
        ("<form role=search><input type=search name=s></form>", False),
        ("<form class=newsletter><input type=email name=email></form>", False),
        ("<form><input name=user><input type=password name=pw><textarea></textarea></form>", False),
        ("<form id=commentform><textarea name=comment></textarea><input name=email><input name=author></form>", False),
        (
            "<form action='https://x.list-manage.com/subscribe'><input name=EMAIL><input name=A><input name=B></form>",
            False,
        ),
        ("<p>contact form</p>", False),
    ],
)
def test_a_contact_form_takes_messages(html: str, expected: bool) -> None:
    assert read(html).has_contact_form is expected


def test_a_form_without_a_reply_address_is_no_contact_form() -> None:
    assert not read("<form><textarea name=notes></textarea></form>").has_contact_form


@pytest.mark.parametrize(
    ("source", "name", "city"),
    [
        ('{"@type": "Organization", "name": "A", "address": "Street 1, Town"}', "A", ""),
        (
            '{"@type": ["Restaurant", "LocalBusiness"], "name": "B", "address": [{"addressLocality": "Turku"}]}',
            "B",
            "Turku",
        ),
        ('{"@graph": [{"@type": "WebSite", "name": "No"}, {"@type": "Organization", "name": "C"}]}', "C", ""),
        ('{"@type": "Organization", "legalName": "D Oy"}', "D Oy", ""),
        (
            '[{"@type": "NGO", "name": "E"}, {"@type": "Hotel", "name": "F", "address": {"addressLocality": "Oulu"}}]',
            "F",
            "Oulu",
        ),
        ('{"@type": "https://schema.org/Corporation", "name": "G", "logo": []}', "G", ""),
    ],
)
def test_the_organisation_is_the_best_described_one(source: str, name: str, city: str) -> None:
    organisation = read(f'<script type="application/ld+json">{source}</script>').organisation
    assert organisation is not None
    assert (organisation.name, organisation.city) == (name, city)


@pytest.mark.parametrize(
    "source",
    [
        "{",
        "null",
        '{"@type": "Person", "name": "Jane", "address": "x"}',
        '{"@type": "Product", "name": "Lamp", "logo": "x.png"}',
        '{"@type": "Organization"}',
        '{"@type": "Organization", "name": NaN, "x": 1e999}',
        '{"@type": {"@type": []}, "name": [[]], "address": [[[]]]}',
        "[" * 5000,
        '{"@type": "Organization", "name": null, "numberOfEmployees": ' + "9" * 5000 + "}",
    ],
)
def test_other_things_are_no_organisations(source: str) -> None:
    found = read(f'<title>x</title><script type="application/ld+json">{source}</script>')
    assert found.title == "x"
    assert found.organisation is None or found.organisation.name == "NaN"


@pytest.mark.parametrize(
    ("base", "href", "expected"),
    [
        ("", "/x", "https://example.org/x"),
        ("", "//cdn.example.org/x", "https://cdn.example.org/x"),
        ("", " \t/x\n", "https://example.org/x"),
        ("https://other.example/y/", "x", "https://other.example/y/x"),
        ("javascript:alert(1)", "x", "https://example.org/a/x"),
        ("", "https://münchen.example/ü", "https://xn--mnchen-3ya.example/%C3%BC"),
        ("", "http://[bad", ""),
        ("", "file:///etc/passwd", ""),
        ("", "mailto:a@example.org", ""),
        ("", "/" + "x" * 3000, ""),
        ("", "", ""),
    ],
)
def test_addresses_are_resolved_as_a_browser_would(base: str, href: str, expected: str) -> None:
    assert Resolver("https://example.org/a/", base)(href) == expected


def test_a_page_without_an_address_resolves_only_absolute_ones() -> None:
    resolve = Resolver("", "")
    assert resolve("https://example.org/x") == "https://example.org/x"
    assert resolve("/x") == ""


MONSTERS = {
    "frames never closed": "<iframe " * 300_000,
    "frames": "<iframe src=x>" * 200_000,
    "links": "".join(f"<a href='/k{number}'>kontakt {number}</a>" for number in range(50_000)),
    "logos": "<img class='logo' src='/logo.png' alt='logo'>" * 50_000,
    "forms": "<form><textarea name=m></textarea><input name=email></form>" * 20_000,
    "generators": "<meta name=generator content='wordpress 1.1.1.1.1.1.1'>" * 50_000,
    "versions": "<link rel=alternate hreflang=de href=/x>" * 50_000,
    "brackets": "<script type=application/ld+json>" + "[" * 1_000_000,
    "addresses in addresses": "<script type=application/ld+json>" + '{"@type":"NGO","name":"x","address":' * 20_000,
    "a title": "<title>" + "x" * 3_000_000,
    "accents": "<h1>e" + "\u0301" * 500_000,
    "one class": "<div class='" + "logo " * 100_000 + "'>x",
    "depth": "<div>" * 100_000,
}


@pytest.mark.parametrize("name", MONSTERS)
def test_the_work_for_an_extreme_page_grows_with_its_length_only(name: str) -> None:
    assert count_calls(read, MONSTERS[name])[0] < 6 * len(MONSTERS[name])


def test_links_to_pages_of_the_same_site_are_kept_for_the_selection() -> None:
    html = """<a href="/kontakt#form"><img src=x></a><a href="/kontakt">Kontakt</a><a href="/kontakt">nochmals</a>
    <a href="https://shop.praxis-muster.example/">Shop</a><a href="https://elsewhere.example/kontakt">Kontakt</a>
    <a href="/preise.pdf">Preise</a><a href="mailto:a@example.org">Mail</a><a href="/team" title="Team"></a>"""
    links = read(html).links
    assert links == (
        PageLink("https://www.praxis-muster.example/kontakt", "Kontakt"),
        PageLink("https://shop.praxis-muster.example/", "Shop"),
        PageLink("https://www.praxis-muster.example/team", "Team"),
    )
    assert [page.classification.kind for page in select_pages(links, 2)] == ["contact", "team"]


def test_the_number_of_links_is_limited() -> None:
    assert len(read("".join(f"<a href=/{number}>x</a>" for number in range(1000))).links) == 500


@given(st.text(max_size=300), st.text(max_size=60))
def test_no_page_is_too_odd(text: str, url: str) -> None:
    for html in (
        text,
        f"<title>{text}</title><link rel=icon href='{text}'><img class=logo src='{text}'><iframe src='{text}'>",
    ):
        found = read_metadata(html, url)
        assert len(found.title) <= 500
        assert len(found.favicon) <= 2048
        assert found == read_metadata(html, url)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=10),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["@type", "name", "address", "logo", "url", "legalName", "foundingDate", "numberOfEmployees", "x"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_no_structured_data_is_too_odd(value: object) -> None:
    thing = {"@type": "Organization", "name": "A", "x": value, "address": value, "logo": value}
    html = f'<script type="application/ld+json">{json.dumps(thing)}</script>'
    assert read(html).organisation is not None
