"""From a website to a company's domain, or to a profile on a platform."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, PlatformProfile, home_urls, parse_website


@pytest.mark.parametrize(
    ("website", "domain"),
    [
        ("https://www.Example.COM:8080/x", "example.com"),
        ("HTTP://acme.org/", "acme.org"),
        ("https://user:pw@acme.net/", "acme.net"),
        ("mywww.site.com", "site.com"),
        ("acme.fi", "acme.fi"),
        ("//acme.fi/yhteys", "acme.fi"),
        ("https://shop.acme.co.uk./", "acme.co.uk"),
        ("https://a.b.c.acme.com.au/?q=1#top", "acme.com.au"),
        ("https://käytettyä.fi/", "xn--kytetty-5wag.fi"),
        ("https://xn--kytetty-5wag.fi/", "xn--kytetty-5wag.fi"),
        ("http://пример.рф", "xn--e1afmkfd.xn--p1ai"),
        ("https://MÜLLER.de", "xn--mller-kva.de"),
        ("https://foo_bar.acme.com", "acme.com"),
        ("https://facebook.com.evil.fi/", "evil.fi"),
        ("https://notfacebook.com", "notfacebook.com"),
    ],
)
def test_the_registrable_domain_is_found(website, domain):
    found = parse_website(website)
    assert isinstance(found, CompanyDomain)
    assert found.name == domain


@pytest.mark.parametrize(
    ("website", "start_url"),
    [
        ("acme.fi", None),
        ("//acme.fi/", None),
        ("http://acme.fi", "http://acme.fi/"),
        ("https://acme.fi", "https://acme.fi/"),
        ("www.acme.fi", "https://www.acme.fi/"),
        ("acme.fi/sitemap.xml", "https://acme.fi/sitemap.xml"),
        ("acme.fi:8080", "https://acme.fi:8080/"),
    ],
)
def test_a_bare_name_says_nothing_about_where_to_begin(website, start_url):
    assert parse_website(website).start_url == start_url


def test_https_is_tried_before_http_and_the_given_host_before_the_bare_name():
    assert home_urls("acme.fi", None) == ["https://acme.fi/", "http://acme.fi/"]
    assert home_urls("acme.fi", "http://acme.fi/x") == ["http://acme.fi/", "https://acme.fi/"]
    assert home_urls("acme.fi", "https://www.acme.fi/x") == [
        "https://www.acme.fi/",
        "http://www.acme.fi/",
        "https://acme.fi/",
        "http://acme.fi/",
    ]


def test_credentials_and_fragments_are_removed():
    assert parse_website("https://user:pw@acme.net/a?b=1#c").url == "https://acme.net/a?b=1"


def test_the_unicode_form_is_kept_for_display():
    assert parse_website("https://xn--mller-kva.de").unicode_name == "müller.de"


@pytest.mark.parametrize(
    ("website", "kind", "platform"),
    [
        ("https://www.facebook.com/acme", "social", "facebook"),
        ("https://m.me/acme", "social", "facebook"),
        ("fi-fi.facebook.com/acme", "social", "facebook"),
        ("https://instagram.com/acme", "social", "instagram"),
        ("https://linktr.ee/acme", "link-in-bio", "linktree"),
        ("https://www.booking.com/hotel/fi/acme.html", "booking", "booking-com"),
        ("https://acme.wixsite.com/home", "free-host", "wix"),
        ("https://acme.blogspot.com", "free-host", "blogger"),
        ("https://acme.github.io", "free-host", "github"),
        ("https://sites.google.com/view/acme", "free-host", "google-sites"),
        ("https://maps.google.com/?cid=1", "marketplace", "google-maps"),
        ("https://acme.business.site", "marketplace", "google-maps"),
        ("https://wolt.com/fi/acme", "marketplace", "wolt"),
    ],
)
def test_a_page_on_a_platform_is_a_profile(website, kind, platform):
    found = parse_website(website)
    assert isinstance(found, PlatformProfile)
    assert (found.kind, found.platform) == (kind, platform)


@pytest.mark.parametrize(
    "website",
    [
        "",
        "   ",
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://127.1/",
        "localhost",
        "http://intranet/",
        "mailto:info@acme.fi",
        "javascript:alert(1)",
        "ftp://acme.fi",
        "file:///etc/passwd",
        "https://co.uk",
        "https://",
        "call us",
        "https://acme.fi\\@evil.com",
        "https://-.-.-",
        "https://" + "a" * 64 + ".fi",
        "https://acme.fi:99999/",
        "x" * 3000,
        "https://xn--a.fi",
    ],
)
def test_an_invalid_website_has_a_reason(website):
    with pytest.raises(InvalidWebsite) as caught:
        parse_website(website)
    assert str(caught.value)


@given(st.text(max_size=300))
def test_any_text_is_a_domain_a_profile_or_invalid(text):
    try:
        found = parse_website(text)
    except InvalidWebsite:
        return
    if isinstance(found, CompanyDomain):
        assert found.name == found.name.lower()
        assert found.name.isascii()
        assert parse_website(found.name).name == found.name


@given(st.sampled_from(["acme.fi", "müller.de", "a.co.uk"]), st.text("abc-.:@/?#%", max_size=40))
def test_path_and_query_do_not_change_the_domain(host, tail):
    try:
        found = parse_website(f"https://{host}/{tail}")
    except InvalidWebsite:
        return
    assert isinstance(found, CompanyDomain)
    assert found.name == parse_website(host).name
