"""Invented pages by class of layout and of mistake: who is found, with which title, address and number.

links.toml has the pages that are about whose address and number it is, pages.toml all others.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from scrapersky.extract.contacts import read_contacts

PAGES: list[dict[str, Any]] = [
    page
    for name in ("pages.toml", "links.toml")
    for page in tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))["page"]
]


@pytest.mark.parametrize("page", PAGES, ids=[f"{page['class']}, {page['title']}" for page in PAGES])
def test_the_people_of_a_page_are_found(page: dict[str, Any]) -> None:
    html = f"<title>{page['title']}</title>{page['html']}"
    people = {person.name: person for person in read_contacts(html, region=page["region"]).people}
    assert sorted(people) == sorted(name for name, *_ in page["people"])
    for name, *expected in page["people"]:
        person = people[name]
        fields = [expected[0] if expected[0] == "*" else person.title, person.email, person.phone]
        assert fields[: len(expected)] == expected
