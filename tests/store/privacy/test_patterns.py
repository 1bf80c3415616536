"""How somebody who is to be forgotten may stand in a text, and what only looks alike."""

import pytest
from sqlalchemy import Text, literal, select

from scrapersky.store.privacy.contact_points import ContactPoint, person_points
from scrapersky.store.privacy.patterns import MARK, can_mention, like_patterns, mention_pattern, mentions, without

POINTS = [
    ContactPoint("email", "anna@molar.fi"),
    ContactPoint("phone", "+35891234567"),
    *person_points("Anna Molar", "molar.fi"),
]
ANNA = mention_pattern(POINTS)
WRITTEN = [
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
]


async def test_the_database_sees_every_way_of_writing(database, tenant):
    async with database.session(tenant) as session:
        seen = [await session.scalar(select(can_mention(literal(text, Text()), POINTS))) for text in WRITTEN]
        other = await session.scalar(select(can_mention(literal("https://molar.fi/team/2024/05/12", Text()), POINTS)))
    assert seen == [True] * len(WRITTEN)
    assert other is False


async def test_the_database_ignores_the_case_of_letters_with_accents(database, tenant):
    points = [ContactPoint("email", "jörg_100%@zähne.de"), *person_points("Zoë Ångström", "zähne.de")]
    async with database.session(tenant) as session:
        for text in ("JÖRG_100%@ZÄHNE.DE", "ZOË ÅNGSTRÖM"):
            assert await session.scalar(select(can_mention(literal(text, Text()), points))), text


def test_a_part_of_an_address_is_no_wildcard():
    assert like_patterns([ContactPoint("email", "a_b%c@molar.fi")]) == [r"%a\_b\%c%molar.fi%"]


@pytest.mark.parametrize("text", WRITTEN)
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
