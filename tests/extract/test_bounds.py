"""Bounds of the extraction: no page makes it raise, the work grows with the length only, and results are repeatable."""

import importlib
import pkgutil
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapersky import extract
from scrapersky.extract.business.postal_addresses import find_postal_addresses
from scrapersky.extract.business.social_profiles import parse_profile
from scrapersky.extract.contacts import extract_contacts, read_contacts
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.emails.deobfuscate import decode_cloudflare, decode_shifted, decode_value, find_spelled_out
from scrapersky.extract.emails.scripts import find_script_emails
from scrapersky.extract.people.names import is_role, parse_name
from scrapersky.extract.phones.labels import nearest_label
from scrapersky.extract.phones.parse import parse_phone
from tests.factories.work import TooManySteps, count_calls, count_steps

PIECES = st.sampled_from(
    [
        *("<p>", "</p>", "<h3>", "<a href='mailto:", "<a href='tel:", "'>", "<br>", "<td>", "<li>", "</div>"),
        *(
            "info@kontor.example",
            " at ",
            "[at]",
            " dot ",
            "030 23125418",
            "+",
            "Dr. ",
            "Maria Weber",
            "Owner",
            ":",
            "(",
            "|",
        ),
        *(
            "\x00",
            "\u202e",
            "\ud800",
            "é",
            "fax ",
            "&#64;",
            "<script>",
            "'+'",
            "</script>",
            "facebook.com/kontor",
            "12.03.2019",
        ),
        *(
            "<div itemscope>",
            "<span itemprop=telephone>",
            "data-cfemail='zz'",
            "<script type=application/ld+json>",
            "{}",
            "[[",
        ),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("".join)), st.sampled_from(["", "DE", "US"]))
def test_any_page_gives_contacts_and_the_same_ones_again(html: str, region: str) -> None:
    contacts = read_contacts(html, region=region or None)
    assert read_contacts(html, region=region or None) == contacts
    for email in contacts.emails:
        assert email.address.count("@") == 1
        assert 0 <= email.confidence <= 1
    for phone in contacts.phones:
        assert phone.number.startswith("+")
        assert phone.number[1:].isdigit()


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_every_decoder_and_parser_accepts_any_text(text: str) -> None:
    decode_value(text)
    decode_cloudflare(text)
    decode_shifted(text[:40])
    list(find_spelled_out(text))
    list(find_script_emails(text))
    parse_name(text)
    is_role(text)
    nearest_label(text)
    parse_phone(text, "DE")
    parse_profile(text)


LONG = {
    "letters": "a" * 50_000,
    "dotted": "a." * 25_000,
    "ats": "a@" * 25_000,
    "dashes": "a-at-" * 10_000,
    "brackets": "(at)" * 12_000,
    "open brackets": "[" * 50_000,
    "digits": "1 " * 25_000,
    "numbers": "030 23125418 / " * 3_000,
    "spaces": " " * 50_000 + "x",
    "capitals": "Maria Weber " * 4_000,
    "titles": "Dr. " * 12_000,
    "marks": "a" + "\u0301" * 100_000,
    "streets": "Lindenplatz 7, 12049 Berlin " * 1_500,
    "commas": "Maria, " * 7_000,
    "sums": "'a'+" * 12_000,
    "quotes": "'" * 50_000,
    "addresses": "".join(f"a{number}@kontor.example " for number in range(5_000)),
    "links": "facebook.com/a" * 4_000,
}


def page_with(text: str) -> str:
    return (
        f"<p>{text}</p><script>{text} @</script><a href='mailto:{text[:3000]}'>{text[:3000]}</a><h3>{text[:150]}</h3>"
    )


@pytest.mark.parametrize("kind", LONG)
def test_a_text_of_twice_the_length_takes_at_most_twice_the_work_and_gives_few_contacts(kind: str) -> None:
    text = LONG[kind]
    half, _ = count_calls(read_contacts, page_with(text[: len(text) // 2]), region="DE")
    whole, contacts = count_calls(read_contacts, page_with(text), region="DE")
    assert whole < 2.2 * half + 5_000
    assert whole < 300_000
    assert all(len(values) <= 100 for values in (contacts.emails, contacts.phones, contacts.socials, contacts.people))


MODULES = [module.name for module in pkgutil.walk_packages(extract.__path__, "scrapersky.extract.")]
PATTERNS = {
    f"{name.removeprefix('scrapersky.extract.')}.{constant}": value
    for name in MODULES
    for constant, value in vars(importlib.import_module(name)).items()
    if isinstance(value, re.Pattern)
}
STEPS_PER_CHARACTER = 500


def test_the_patterns_of_every_module_are_measured() -> None:
    assert len(PATTERNS) > 100


@pytest.mark.parametrize("kind", LONG)
def test_no_pattern_takes_many_steps_on_a_long_text(kind: str) -> None:
    """Count the steps of each pattern on a text longer than most of its repetitions."""
    text = LONG[kind][:300]
    for pattern in set(PATTERNS.values()):
        assert count_steps(pattern, text, STEPS_PER_CHARACTER * len(text)) > 0


def test_a_pattern_with_nested_repetitions_is_caught() -> None:
    with pytest.raises(TooManySteps):
        count_steps(re.compile(r"(?:a{0,20}){0,20}b"), "a" * 300, STEPS_PER_CHARACTER * 300)


def test_contacts_of_a_parsed_page_do_not_depend_on_what_was_read_before() -> None:
    page = parse_page("<h3>Maria Weber</h3><p>Owner</p><p>Lindenplatz 7, 12049 Berlin</p>")
    first = extract_contacts(page, region="DE")
    read_contacts("<p>info@other.example +49 30 23125418</p>")
    assert extract_contacts(page, region="DE") == first
    assert [address.city for address in find_postal_addresses(page, [])] == ["Berlin"]
