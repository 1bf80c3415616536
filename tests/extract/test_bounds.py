"""No page makes the finders raise, wander or stall; the same page gives the same answer."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapersky.extract import regexes
from scrapersky.extract.business import social_profiles
from scrapersky.extract.business.postal_addresses import find as find_addresses
from scrapersky.extract.contacts import extract_contacts, read_contacts
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.emails import deobfuscate
from scrapersky.extract.emails import scripts as email_scripts
from scrapersky.extract.people import names
from scrapersky.extract.phones import labels as phone_labels
from scrapersky.extract.phones.parse import parse_phone

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
def test_the_small_readers_take_any_text(text: str) -> None:
    deobfuscate.unwrapped(text)
    deobfuscate.cloudflare(text)
    deobfuscate.shifted(text[:40])
    list(deobfuscate.written_out(text))
    list(email_scripts.addresses(text))
    names.read(text)
    names.is_role(text)
    phone_labels.nearest(text)
    parse_phone(text, "DE")
    social_profiles.parse_profile(text)


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


@pytest.mark.parametrize("kind", LONG)
def test_a_long_run_costs_no_more_than_its_length(kind: str) -> None:
    text = LONG[kind]
    page = (
        f"<p>{text}</p><script>{text} @</script><a href='mailto:{text[:3000]}'>{text[:3000]}</a><h3>{text[:150]}</h3>"
    )
    started = time.process_time()
    contacts = read_contacts(page, region="DE")
    assert time.process_time() - started < 2.5
    assert all(len(values) <= 100 for values in (contacts.emails, contacts.phones, contacts.socials, contacts.people))


COMPILED = {name: value for name, value in vars(regexes).items() if isinstance(value, re.Pattern)}
COMPILED |= {"WRITTEN_OUT": deobfuscate.WRITTEN_OUT, "PLAIN_WORDS": deobfuscate.PLAIN_WORDS}
COMPILED |= {"DOT_BETWEEN": deobfuscate.DOT_BETWEEN, "GATE": names.GATE}
COMPILED |= {"AT_IN_WORDS": deobfuscate.AT_IN_WORDS}


@pytest.mark.parametrize("name", COMPILED)
def test_every_repetition_of_every_pattern_is_bounded(name: str) -> None:
    """An unbounded repeat is * or + or {n,} outside a character class."""
    outside = re.sub(r"\\.|\[(?:\\.|[^\]\\])+\]", "x", COMPILED[name].pattern)
    assert not re.search(r"[*+]|[{]\d+,[}]", outside), outside


@pytest.mark.parametrize("kind", LONG)
def test_no_pattern_runs_away_on_a_long_run(kind: str) -> None:
    """Each pattern alone, on text longer than any block can be."""
    for name, pattern in COMPILED.items():
        started = time.process_time()
        for count, _ in enumerate(pattern.finditer(LONG[kind][:20_000])):
            if count > 20_000:
                break
        assert time.process_time() - started < 2, name


def test_contacts_of_a_parsed_page_do_not_depend_on_what_was_read_before() -> None:
    page = parse_page("<h3>Maria Weber</h3><p>Owner</p><p>Lindenplatz 7, 12049 Berlin</p>")
    first = extract_contacts(page, region="DE")
    read_contacts("<p>info@other.example +49 30 23125418</p>")
    assert extract_contacts(page, region="DE") == first
    assert [address.city for address in find_addresses(page, [])] == ["Berlin"]
