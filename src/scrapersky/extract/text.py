"""Text is cleaned once, where it comes in: afterwards it fits a database, a terminal and a spreadsheet."""

import unicodedata
from functools import lru_cache

from scrapersky.extract import regexes

TEXT_LIMIT = 10_000


def clean_text(text: str, limit: int = TEXT_LIMIT) -> str:
    """The text without controls, invisible characters and heaps of accents; NFC; at most `limit` characters."""
    text = text[:limit]  # first of all: normalising a long run of combining marks is quadratic
    if text.isascii():
        return text if text.isprintable() else regexes.CONTROLS.sub("", text)
    if regexes.DIRT.search(text):
        text = regexes.CONTROLS.sub("", text)
        text = regexes.SURROGATES.sub("�", text)
        text = regexes.INVISIBLE.sub("", text)
        text = regexes.MARK_HEAP.sub(r"\1", text)
    if not unicodedata.is_normalized("NFC", text):
        # Normalising sorts marks, which can heap them again, and may grow the text a little.
        text = regexes.MARK_HEAP.sub(r"\1", unicodedata.normalize("NFC", text))[:limit]
    return text


def single_line(text: str, limit: int = TEXT_LIMIT) -> str:
    """The cleaned text on one line, every run of white space as one space."""
    if not text:
        return ""
    return clean_single_line(" ".join(text[: limit * 4].split()), limit)


def clean_single_line(text: str, limit: int = TEXT_LIMIT) -> str:
    """The cleaned text, where its white space is one space everywhere already."""
    if text.isascii() and text.isprintable():
        return text if len(text) <= limit else text[:limit].rstrip()
    cleaned = clean_text(text, limit)
    # Nothing had to go, so no white space came together.
    return text if cleaned == text else " ".join(cleaned.split())


def fold(text: str) -> str:
    """Lower case without accents, for comparing words; bounded by whoever cleaned the text."""
    text = text.casefold()
    if text.isascii():
        return text
    text = regexes.ACCENT.sub("", unicodedata.normalize("NFKD", text))
    # Hangul and kana come apart as well, but what they lose is no accent: they are put together again.
    return text if text.isascii() else unicodedata.normalize("NFC", text.translate(_LETTERS))


@lru_cache(1 << 16)
def fold_word(word: str) -> str:
    """`fold` for single words: the same few thousand come again on every page."""
    return fold(word)


# Letters that do not decompose, as people type them without the key.
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ß": "ss"})
