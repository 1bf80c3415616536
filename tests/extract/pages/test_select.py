"""The selection of the pages of a site that are worth fetching for contacts."""

import random

from hypothesis import given
from hypothesis import strategies as st

from scrapersky.extract.pages.select import PageLink, select_pages
from tests.factories.work import count_calls


def picked(addresses: list[str], limit: int = 5, language: str = "") -> list[str]:
    return [
        pick.url.removeprefix("https://example.org") for pick in select_pages(candidates(addresses), limit, language)
    ]


def candidates(addresses: list[str]) -> list[PageLink]:
    return [PageLink(f"https://example.org{address}") for address in addresses]


def test_contact_comes_before_imprint_team_about_and_home() -> None:
    site = ["/", "/blog", "/about", "/produkte/lampe", "/team", "/impressum", "/kontakt", "/preise"]
    assert picked(site) == ["/kontakt", "/impressum", "/team", "/about", "/"]


def test_every_kind_is_selected_before_a_second_page_of_one() -> None:
    site = ["/contact", "/contact/berlin", "/contact/bonn", "/impressum", "/team", "/team/jane", "/about"]
    assert picked(site) == ["/contact", "/impressum", "/team", "/about", "/contact/bonn"]


def test_one_language_version_is_selected() -> None:
    site = ["/yhteystiedot", "/en/contact", "/sv/kontakt", "/meista", "/en/about", "/", "/en/", "/sv/"]
    assert picked(site, limit=8) == ["/yhteystiedot", "/meista", "/"]


def test_the_requested_language_is_preferred_and_others_fill_its_gaps() -> None:
    site = ["/fi/yhteystiedot", "/en/contact", "/fi/henkilokunta", "/de/impressum", "/"]
    assert picked(site, language="en") == ["/en/contact", "/de/impressum", "/fi/henkilokunta", "/"]
    assert picked(site, language="fi") == ["/fi/yhteystiedot", "/de/impressum", "/fi/henkilokunta", "/"]


def test_the_most_frequent_prefix_is_selected_where_every_page_has_one() -> None:
    site = ["/de/kontakt", "/de/team", "/de/ueber-uns", "/en/contact", "/en/team"]
    assert picked(site) == ["/de/kontakt", "/de/team", "/de/ueber-uns"]


def test_spellings_of_one_address_are_one_page() -> None:
    addresses = [
        "https://example.org/contact",
        "https://example.org/contact/",
        "http://www.example.org/Contact.html",
        "https://example.org/contact#form",
        "https://example.org/contact/index.php",
        "https://example.org/contact?utm_source=letter",
    ]
    picks = select_pages([PageLink(address) for address in addresses], 5)
    assert [pick.url for pick in picks] == ["https://example.org/contact"]


def test_pages_told_apart_by_their_query_are_different_pages() -> None:
    site = ["/index.php?page=kontakt", "/index.php?page=team", "/index.php?page=kontakt&lang=de"]
    assert picked(site) == ["/index.php?page=kontakt", "/index.php?page=team", "/index.php?page=kontakt&lang=de"]


def test_blogs_products_and_files_are_not_selected() -> None:
    assert picked(["/blog/contact-form-tips", "/product/team-shirt", "/contact.pdf", "/tag/team", "/x"]) == []


def test_the_text_of_a_link_can_select_a_page() -> None:
    picks = select_pages([PageLink("https://example.org/p-9", "Ota yhteyttä"), PageLink("https://example.org/p-8")], 3)
    assert [(page.url, page.classification.kind, page.classification.place) for page in picks] == [
        ("https://example.org/p-9", "contact", "link text")
    ]


def test_shallow_pages_come_before_deep_ones() -> None:
    assert picked(["/a/b/c/contact", "/contact", "/a/contact"], limit=3) == ["/contact", "/a/contact", "/a/b/c/contact"]


def test_the_limit_holds() -> None:
    assert picked(["/contact", "/team"], limit=1) == ["/contact"]
    assert picked(["/contact", "/team"], limit=0) == []


@given(st.lists(st.text(max_size=30), max_size=12), st.integers(0, 6), st.randoms(use_true_random=False))
def test_the_selection_does_not_depend_on_the_order(names: list[str], limit: int, shuffler: random.Random) -> None:
    site = ["/contact", "/kontakt", "/team/", "/en/team", *(f"/{name}" for name in names)]
    shuffled = list(site)
    shuffler.shuffle(shuffled)
    assert picked(site, limit) == picked(shuffled, limit)
    assert len(picked(site, limit)) <= limit


def test_the_work_for_twenty_thousand_team_pages_grows_with_their_number_only() -> None:
    site = candidates(
        [f"/{language}/team/person-{number}" for number in range(5_000) for language in ("", "de", "fr", "en")]
    )
    assert len(select_pages(site, 10)) == 10
    assert count_calls(select_pages, site, 10)[0] < 200 * len(site)
