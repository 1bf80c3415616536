"""Cleaning of text: what is removed, what stays, and the limit of the work."""

import unicodedata
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.extract.text import TEXT_LIMIT, clean_text, fold, single_line

ANYTHING = st.text(st.characters(), max_size=400)


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [
        ("a\x00b", "ab"),
        ("a\x07\x1b[31mb", "a[31mb"),
        ("a\x9bb", "ab"),
        ("a\ud800b", "a�b"),
        ("inf\u200bo@x.example", "info@x.example"),
        ("\u202egnp.exe\u202c", "gnp.exe"),
        ("so\u00adft", "soft"),
        ("e\u0301", "é"),
        ("نقیب\u200cزاده \u200cx\u200d", "نقیب\u200cزاده x"),
        ("a\u200cb ک\u200c\u200cه", "ab که"),
    ],
)
def test_invisible_and_control_characters_are_removed(dirty: str, cleaned: str) -> None:
    assert clean_text(dirty) == cleaned


def test_a_joiner_inside_a_word_makes_no_other_word() -> None:
    assert fold("نقیب\u200cزاده") == fold("نقیبزاده")


def test_excess_accents_are_removed() -> None:
    assert len(clean_text("z" + "\u0316" * 500)) <= 4


@pytest.mark.parametrize("long", ["a" + "\u0301\u0316" * 100_000, "\ufdfa" * 100_000])
def test_the_text_is_cut_before_it_is_normalised(long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def measure(form: str, text: str) -> str:
        lengths.append(len(text))
        return unicodedata.normalize(form, text)  # type: ignore[arg-type]

    counted = SimpleNamespace(is_normalized=unicodedata.is_normalized, normalize=measure)
    monkeypatch.setattr("scrapersky.extract.text.unicodedata", counted)
    assert len(clean_text(long)) <= TEXT_LIMIT
    assert all(length <= TEXT_LIMIT for length in lengths)


@given(ANYTHING)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once


@given(ANYTHING, st.integers(1, 50))
def test_a_line_is_short_storable_and_has_no_breaks(text: str, limit: int) -> None:
    found = single_line(text, limit)
    assert len(found) <= limit
    assert "\n" not in found
    assert "\x00" not in found
    found.encode("utf-8")
    assert unicodedata.is_normalized("NFC", found)
    assert single_line(found, limit) == found


def test_folding_removes_case_and_accents() -> None:
    assert fold("Łódź Ærø STRASSE Ångström") == "lodz aero strasse angstrom"
