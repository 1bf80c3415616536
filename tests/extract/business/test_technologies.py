"""Technologies, recognised by the signatures of the data file, each with its own samples."""

import tomllib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.extract.business.technologies import (
    MAX_PLACE,
    Technology,
    compile_sign,
    find_technologies,
    load_signatures,
    search_places,
)
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.pages.vocabulary import PageKind, load_vocabulary
from scrapersky.extract.site_metadata import read_metadata
from tests import ROOT
from tests.factories.work import count_steps

TABLE = tomllib.loads(resources.files("scrapersky.extract").joinpath("data/technologies.toml").read_text("utf-8"))
PLACES = {"generator", "meta", "script", "asset", "code", "class", "comment", "link", "header"}
SAMPLES = [(name, number) for name, entry in TABLE.items() for number in range(len(entry["samples"]))]


def recognised(html: str, headers: str = "") -> dict[str, Technology]:
    answered = dict([headers.split(": ", 1)]) if headers else {}
    found = read_metadata(html, "https://example.org/", answered).technologies
    return {technology.name: technology for technology in found}


@pytest.mark.parametrize(("name", "number"), SAMPLES)
def test_a_sample_is_recognised_and_taken_for_nothing_else(name: str, number: int) -> None:
    entry = TABLE[name]
    found = recognised(entry["samples"][number], entry.get("headers", ""))
    assert set(found) == {name, *entry.get("implies", ())}
    assert found[name].category == entry["category"]
    assert found[name].sign in entry["signs"]
    if number == 0:
        assert found[name].version == entry.get("version", "")


def test_the_table_is_wide() -> None:
    assert len(TABLE) >= 60
    categories = {entry["category"] for entry in TABLE.values()}
    assert categories >= {
        "cms",
        "builder",
        "shop",
        "analytics",
        "booking",
        "chat",
        "forms",
        "framework",
        "cdn",
        "consent",
    }


def test_every_entry_is_well_formed() -> None:
    for name, entry in TABLE.items():
        assert set(entry) <= {"category", "signs", "implies", "samples", "version", "headers"}, name
        assert entry["samples"], name
        assert all(implied in TABLE for implied in entry.get("implies", ())), name
        for sign in entry["signs"]:
            place, _, text = sign.partition(": ")
            assert place in PLACES, sign
            assert len(text) >= 4, sign
            assert text.replace("{version}", "") == text.replace("{version}", "").lower(), sign


def test_the_documentation_states_the_right_counts() -> None:
    page = (ROOT / "docs" / "pages.md").read_text("utf-8")
    assert f"a table of {len(TABLE)} signatures" in page
    assert f"{len(load_vocabulary().languages)} languages" in page
    assert all(f"| {kind} |" in page for kind in PageKind)


def test_an_implied_technology_names_the_one_that_implies_it() -> None:
    found = recognised('<meta name="generator" content="WooCommerce 8.4.0">')
    assert found["WordPress"] == Technology("WordPress", "cms", "", "implied by WooCommerce")


def test_a_version_is_preferred_to_a_bare_sign() -> None:
    html = '<script src="/wp-includes/x.js"></script><meta name="generator" content="WordPress 6.5">'
    assert recognised(html)["WordPress"].version == "6.5"


def test_technologies_are_recognised_in_headers() -> None:
    found = find_technologies(parse_page("<p>x"), {"Server": "cloudflare", "X-Powered-By": "PHP/8.1.2"})
    assert [(one.name, one.version) for one in found] == [("PHP", "8.1.2"), ("Cloudflare", "")]


def test_words_in_the_text_are_no_signs_of_a_technology() -> None:
    html = (
        "<p>We build WordPress 6.4 and Shopify shops with wp-content and cdn.shopify.com, jQuery 3.7.1 and React.</p>"
    )
    assert recognised(html) == {}


def test_the_order_is_that_of_the_table() -> None:
    html = '<script src="https://js.stripe.com/v3/"></script><meta name="generator" content="Joomla!">'
    assert list(recognised(html)) == ["Joomla", "Stripe"]


@pytest.mark.parametrize("place", ["script", "asset", "class", "comment", "generator", "link"])
def test_only_a_limited_part_of_a_place_is_searched(place: str) -> None:
    near = "/bootstrap@1.1.1.1." * (MAX_PLACE // 20)
    html = {
        "script": f'<script src="{near[:3900]}{{}}"></script>',
        "asset": f'<link href="{near[:3900]}{{}}">',
        "class": f'<p class="{near[:290]}{{}}">x',
        "comment": f"<!--{near[:400]}{{}}-->",
        "generator": f'<meta name=generator content="{near[:4000]}{{}}">',
        "link": f'<a href="{near[:3900]}{{}}">x</a>',
    }[place]
    document = parse_page("".join(html.format(number) for number in range(5_000)))
    searched = search_places(document, {}, ())[place]
    assert 0 < len(searched) <= MAX_PLACE


def test_near_signs_take_few_steps() -> None:
    patterns = [sign.pattern for signature in load_signatures() for sign in signature.signs if sign.pattern]
    near = "/bootstrap@1.1.1.1." * 20
    assert len(patterns) > 20
    for pattern in patterns:
        assert count_steps(pattern, near, 200 * len(near)) > 0


@given(st.text(max_size=200), st.dictionaries(st.text(max_size=20), st.text(max_size=40), max_size=3))
def test_no_page_is_too_odd(text: str, headers: dict[str, str]) -> None:
    html = (
        f'<meta name="generator" content="{text}"><script src="{text}"></script><p class="{text}">{text}<!--{text}-->'
    )
    found = find_technologies(parse_page(html), headers)
    assert len(found) <= len(load_signatures())


@given(st.text(alphabet="0123456789./v{}", max_size=60))
def test_a_version_is_short_and_of_digits(text: str) -> None:
    match = compile_sign("generator {version}").search(f"generator {text}")
    assert match is None or (len(match["version"]) <= 40 and match["version"].replace(".", "").isdigit())
