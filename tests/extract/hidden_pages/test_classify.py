"""The reason why a page shows nothing to a plain reader; a page with content never has one."""

from collections import Counter

import pytest

from scrapersky.core.vocabularies import HiddenReason
from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.hidden_pages.classify import hidden_reason
from scrapersky.extract.parked_domains import read_home_page
from scrapersky.extract.site_results import ParkedDomain
from tests.extract.hidden_pages.pages import InventedPage, hidden_pages, ordinary_pages

HIDDEN, SMALL = list(hidden_pages()), list(ordinary_pages())


def test_the_corpus_is_large_enough() -> None:
    assert min(Counter(page.reason for page in HIDDEN).values()) >= 10
    assert (len(HIDDEN) >= 60, len(SMALL) >= 40) == (True, True)


@pytest.mark.parametrize("parser", ["turbohtml", "lxml"])
@pytest.mark.parametrize("page", HIDDEN, ids=[page.name for page in HIDDEN])
def test_a_page_that_hides_is_named(page: InventedPage, parser: str) -> None:
    found = hidden_reason(parse_page(page.html, parser), page.html, page.url)  # type: ignore[arg-type]
    assert found == HiddenReason(page.reason)


@pytest.mark.parametrize("page", SMALL, ids=[page.name for page in SMALL])
def test_a_small_page_is_not_called_hidden(page: InventedPage) -> None:
    assert hidden_reason(parse_page(page.html), page.html, page.url) is None


@pytest.mark.parametrize("page", HIDDEN, ids=[page.name for page in HIDDEN])
def test_a_page_with_a_contact_is_never_hidden(page: InventedPage) -> None:
    found = read_contacts(page.html.replace("</body>", "<p>Call +358 9 6131 4720</p></body>"), url=page.url)
    assert (bool(found.phones), found.hidden) == (True, None)


@pytest.mark.parametrize("page", HIDDEN, ids=[page.name for page in HIDDEN])
def test_the_reader_of_a_page_names_the_reason(page: InventedPage) -> None:
    assert read_contacts(page.html, url=page.url).hidden == page.reason


def test_the_reader_of_a_home_page_names_the_reason_or_a_parked_domain() -> None:
    shell = next(page for page in HIDDEN if page.reason == "javascript")
    home = read_home_page(shell.html, shell.url, {}, None, "example.org")
    parked = read_home_page("<title>x</title><p>This domain is for sale.</p>", shell.url, {}, None, "example.org")
    assert isinstance(parked, ParkedDomain)
    assert not isinstance(home, ParkedDomain)
    assert home.contacts.hidden is HiddenReason.JAVASCRIPT
