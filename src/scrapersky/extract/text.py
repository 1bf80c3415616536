"""Cleaning of text where it enters: afterwards it fits a database, a terminal and a spreadsheet."""

import re
import unicodedata
from functools import lru_cache

TEXT_LIMIT = 10_000

CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
SURROGATES = re.compile(r"[\ud800-\udfff]")
# Soft hyphen, zero-width, bidi marks and overrides, variation selectors, interlinear marks, tags, noncharacters.
_INVISIBLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff"
)
# Inside words of the Arabic script and those of India a zero-width joiner belongs to the spelling: نقیب‌زاده.
JOINER = re.compile("[\u200c\u200d]")
_JOINED = r"\u0620-\u06ff\u0900-\u0dff"
INVISIBLE = re.compile(rf"[{_INVISIBLE}]|(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])")
_MARK = r"\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
ACCENT = re.compile(f"[{_MARK}]{{1,100}}")
EXCESS_MARKS = re.compile(f"([{_MARK}]{{3}})[{_MARK}]{{1,10000}}")
# ASCII, Latin-1 and Latin Extended-A, and the quotes, dashes and dots of running text.
BEYOND_LATIN = re.compile("[^\x00-\u017f\u2010-\u201e\u2022\u2026]")
# All of these in one class: most texts have none, and one search shows it.
UNCLEAN = re.compile(f"[{CONTROLS.pattern[1:-1]}{SURROGATES.pattern[1:-1]}{_INVISIBLE}\u200c\u200d{_MARK}]")
# Letters that do not decompose, as people type them on another keyboard.
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ß": "ss"})


def clean_text(text: str, limit: int = TEXT_LIMIT) -> str:
    """Remove controls, invisible characters and excess accents; normalise to NFC; keep at most `limit` characters."""
    text = text[:limit]  # before anything else: normalising a long run of combining marks is quadratic
    if text.isascii():
        return text if text.isprintable() else CONTROLS.sub("", text)
    if UNCLEAN.search(text):
        text = CONTROLS.sub("", text)
        text = SURROGATES.sub("�", text)
        text = INVISIBLE.sub("", text)
        text = EXCESS_MARKS.sub(r"\1", text)
    if not unicodedata.is_normalized("NFC", text):
        # Normalising sorts marks, so a run of them can be too long again, and the text may grow a little.
        text = EXCESS_MARKS.sub(r"\1", unicodedata.normalize("NFC", text))[:limit]
    return text


def single_line(text: str, limit: int = TEXT_LIMIT) -> str:
    """Clean the text and put it on one line, with each run of white space as one space."""
    if text.isascii() and text.isprintable() and "  " not in text and len(text) <= limit:
        return text.strip()  # true of most
    return clean_single_line(joined_words(text[: limit * 4]), limit)


def joined_words(text: str) -> str:
    """Return the text with each run of white space as one space, and none around it."""
    stripped = text.strip()
    # Of white space only the space is printable, so that most texts need not be split.
    if "  " not in stripped and stripped.isprintable():
        return stripped
    return " ".join(stripped.split())


def clean_single_line(text: str, limit: int = TEXT_LIMIT) -> str:
    """Clean a text whose runs of white space are single spaces already."""
    if text.isascii() and text.isprintable():
        return text if len(text) <= limit else text[:limit].rstrip()
    cleaned = clean_text(text, limit)
    # If nothing was removed, no two spaces have become neighbours.
    return text if cleaned == text else " ".join(cleaned.split())


class _LatinFolds(dict[int, str]):
    """What each character of the Latin blocks folds to; computed once per character."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_whole(chr(code))
        return folded


def fold(text: str) -> str:
    """Return the text in lower case without accents and joiners, for comparing words. The caller limits its length."""
    text = text.casefold()
    if text.isascii():
        return text
    # Latin letters fold one by one: nothing that composes or changes order stands among them.
    return _fold_whole(text) if BEYOND_LATIN.search(text) else text.translate(_LATIN_FOLDS)


def _fold_whole(text: str) -> str:
    text = JOINER.sub("", ACCENT.sub("", unicodedata.normalize("NFKD", text)))
    # NFKD also splits Hangul and kana, which have no accents to lose: NFC joins them again.
    return text if text.isascii() else unicodedata.normalize("NFC", text.translate(_LETTERS))


_LATIN_FOLDS = _LatinFolds()


@lru_cache(1 << 16)
def fold_word(word: str) -> str:
    """Fold one word; cached, since the same few thousand words recur on every page."""
    return fold(word)
