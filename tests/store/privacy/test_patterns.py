"""How somebody who is to be forgotten may stand in a text, and what only looks alike."""

import pytest

from scrapersky.store.privacy.contact_points import ContactPoint, person_points
from scrapersky.store.privacy.patterns import MARK, mention_pattern, mentions, without

ANNA = mention_pattern(
    [
        ContactPoint("email", "anna@molar.fi"),
        ContactPoint("phone", "+35891234567"),
        *person_points("Anna Molar", "molar.fi"),
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        "Anna@Molar.FI",
        "mailto:anna@molar.fi?subject=x",
        "https://molar.fi/?to=anna%40molar.fi",
        "x%20anna@molar.fi",
        "write to anna@molar.fi.",
        "Tel. 09 123 4567",
        "+358 (0)9 123-4567",
        "0035891234567",
        "ANNA  MOLAR",
        '{"name": "Anna Molar"}',
    ],
)
def test_every_way_of_writing_is_seen(text):
    assert mentions(ANNA, text)
    assert not mentions(ANNA, str(without(text, ANNA)))


@pytest.mark.parametrize(
    "text",
    [
        "joanna@molar.fi",
        "anna@molar.fi.com",
        "anna@molar.finance",
        "109 123 4567",
        "09 123 45678",
        "Joanna Molar",
        "",
        None,
    ],
)
def test_what_only_looks_alike_stays(text):
    assert not mentions(ANNA, text)
    assert without(text, ANNA) == text


def test_values_of_any_depth_lose_what_was_nothing_else():
    held = {
        "emails": ["anna@molar.fi", "bo@molar.fi"],
        "by": {"anna@molar.fi": 1},
        "note": "ask anna@molar.fi",
        "n": [None, 2],
    }
    assert without(held, ANNA) == {"emails": ["bo@molar.fi"], "by": {MARK: 1}, "note": f"ask {MARK}", "n": [None, 2]}
    assert without("+358 9 123 4567", ANNA) is None
