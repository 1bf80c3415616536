"""Which names at one site may be one person: initials, short forms, middle names and second family names differ."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import combinations

from scrapersky.extract.people.address_names import latin_spelling
from scrapersky.extract.people.uncased.scripts import COMPACT, UNCASED_LETTER
from scrapersky.extract.short_names import full_forms, is_short_form
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_words

SUFFIXES = load_words("name_parts", "suffixes")
MAX_NAME = 300
TOKEN = re.compile(r"[^\s.,\-–·]{1,100}+\.?")
APOSTROPHES = str.maketrans("", "", "'’‘ʼ`´")
SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
OTHER_ALPHABET = re.compile(r"[\u0370-\u04ff]")
MAX_INITIAL = 3  # letters of a shortened given name with a dot: Th., Chr.


class Fit(IntEnum):
    """How well two names fit; the higher, the more certain it is that they are one person's."""

    NONE = 0
    SHORT_FORM = 1  # Bob Hale and Robert Hale
    INITIALS = 2  # R. Hale and Robert Hale
    WORDS = 3  # Ana Prado and Ana María Prado Ruiz
    SAME = 4


@dataclass(frozen=True)
class Word:
    """A word of a name, or an initial, in all its spellings."""

    spellings: frozenset[str]
    is_initial: bool
    is_foreign: bool  # written in another alphabet, or with letters that are also written as two

    @cached_property
    def text(self) -> str:
        """The plain spelling, which is the shortest."""
        return min(self.spellings, key=lambda one: (len(one), one))


@dataclass(frozen=True)
class PersonName:
    """A name as its words, with those that are given names where the order of the name is known."""

    key: str  # equal for the same words in any order, without accents and capitals
    words: tuple[Word, ...]
    given: frozenset[str]  # plain spellings; empty if unknown
    firsts: frozenset[str]  # plain spellings of the words that may be the first given name
    suffixes: frozenset[str]
    latin: "PersonName | None" = None

    @cached_property
    def texts(self) -> frozenset[str]:
        """The plain spellings of its words."""
        return frozenset([word.text for word in self.words])

    @cached_property
    def has_other_forms(self) -> bool:
        """Whether a word of it may fit another word: an initial, a short form, another alphabet."""
        return any(word.is_initial or word.is_foreign or is_short_form(word.text) for word in self.words)

    @property
    def fullness(self) -> tuple[int, int, int]:
        """How complete the name is: its words, its letters, its initials."""
        full = [word for word in self.words if not word.is_initial]
        return len(full), sum(len(word.text) for word in full), len(self.words) - len(full)


@lru_cache(8192)
def read_name(name: str, first_name: str = "", latin: str = "") -> PersonName:
    """Read a name without titles; `first_name` and `latin`, the name in Latin letters, are empty if unknown."""
    plain = name[:MAX_NAME].translate(APOSTROPHES)
    in_latin = read_name(latin) if latin and latin != name else None
    if COMPACT.match(plain) is not None:
        key = "".join(fold(plain).split())
        return PersonName(key, (_word(key),), frozenset(), frozenset(), frozenset(), in_latin)
    tokens = TOKEN.findall(plain)
    suffixes = frozenset(folded for token in tokens[1:] if (folded := fold(token).strip(".")) in SUFFIXES)
    words = tuple(_word(token) for token in tokens if fold(token).strip(".") not in suffixes)
    given = frozenset(_word(token).text for token in TOKEN.findall(first_name[:MAX_NAME].translate(APOSTROPHES)))
    texts = [word.text for word in words]
    is_uncased = UNCASED_LETTER.match(plain) is not None
    key = "".join(texts) if is_uncased else " ".join(sorted(texts))
    return PersonName(key or fold(plain), words, given, _firsts(words, given, is_uncased), suffixes, in_latin)


def fit(one: PersonName, other: PersonName) -> Fit:
    """Return how well two names of one site fit."""
    if one.key == other.key and one.suffixes == other.suffixes:
        return Fit.SAME
    pairs = [(one, other)]
    if one.latin or other.latin:
        pairs += [(a, b) for a in (one, one.latin) for b in (other, other.latin) if a and b]
    return max(_fit(a, b) for a, b in pairs)


def group(names: Sequence[PersonName], may_join: Callable[[int, int, Fit], bool]) -> list[list[int]]:
    """Divide names into people; a name that fits two names which do not fit each other is alone.

    `may_join` decides about two names, by their places, that fit. The result does not depend on the order.
    """
    near: dict[int, set[int]] = {index: set() for index in range(len(names))}
    for a, b in _neighbours(names):
        if (found := fit(names[a], names[b])) and may_join(a, b, found):
            near[a].add(b)
            near[b].add(a)
    alone = {index for index, others in near.items() if any(b not in near[a] for a, b in combinations(others, 2))}
    groups: dict[int, list[int]] = {}
    for index in near:  # what remains are sets of names that all fit each other
        first = index if index in alone else min({index, *(near[index] - alone)})
        groups.setdefault(first, []).append(index)
    return list(groups.values())


def any_fit(names: Sequence[PersonName]) -> bool:
    """Return whether any two of these names fit."""
    return any(fit(names[a], names[b]) for a, b in _neighbours(names))


def _fit(one: PersonName, other: PersonName) -> Fit:
    if one.key == other.key and one.suffixes == other.suffixes:
        return Fit.SAME
    if min(len(one.words), len(other.words)) < 2 or one.suffixes != other.suffixes:
        return Fit.NONE
    if not (one.has_other_forms or other.has_other_forms or one.texts <= other.texts or other.texts <= one.texts):
        return Fit.NONE  # most pairs
    pairs, rest_of_one, rest_of_other = _pairs(one.words, other.words)
    if rest_of_one and rest_of_other:
        return Fit.NONE
    has_first = any(a.text in one.firsts and b.text in other.firsts for a, b, _ in pairs)
    families = [
        (a, b) for a, b, how in pairs if how >= Fit.WORDS and a.text not in one.given and b.text not in other.given
    ]
    # The first name is not the family name, so two pairs are needed.
    if not has_first or not families or len(pairs) < 2:
        return Fit.NONE
    return min(how for _, _, how in pairs)


def _pairs(one: Sequence[Word], other: Sequence[Word]) -> tuple[list[tuple[Word, Word, Fit]], list[Word], list[Word]]:
    """Return the words that fit each other, the best fits first, and the remaining words of both."""
    pairs: list[tuple[Word, Word, Fit]] = []
    rest, others = list(one), list(other)
    for wanted in (Fit.SAME, Fit.WORDS, Fit.SHORT_FORM, Fit.INITIALS):
        for a in tuple(rest):
            b = next((b for b in others if _compare(a, b) is wanted), None)
            if b is not None:
                pairs.append((a, b, Fit.WORDS if wanted is Fit.SAME else wanted))
                rest.remove(a)
                others.remove(b)
    return pairs, rest, others


@lru_cache(16384)
def _compare(one: Word, other: Word) -> Fit:
    if one.is_initial or other.is_initial:
        # The shorter of two initials may begin the other one: T. and Th.
        short, long = sorted((one, other), key=lambda word: (not word.is_initial, len(word.text)))
        forms = long.spellings if long.is_initial else long.spellings | full_forms(long.text)
        is_start = any(form.startswith(text) for form in forms for text in short.spellings)
        return Fit.INITIALS if is_start else Fit.NONE
    if one.text == other.text:
        return Fit.SAME
    if not one.spellings.isdisjoint(other.spellings):
        return Fit.WORDS
    if one.is_foreign != other.is_foreign and latin_spelling(one.text) == latin_spelling(other.text):
        return Fit.WORDS
    is_short = one.text in full_forms(other.text) or other.text in full_forms(one.text)
    return Fit.SHORT_FORM if is_short else Fit.NONE


@lru_cache(8192)
def _word(token: str) -> Word:
    stem = token.casefold().rstrip(".")
    folded = fold(stem)
    is_initial = len(folded) == 1 or (token.endswith(".") and len(folded) <= MAX_INITIAL)
    if UNCASED_LETTER.match(token):
        is_initial = False
    spelled_out = fold(stem.translate(SPELLED_OUT))
    is_foreign = spelled_out != folded or OTHER_ALPHABET.search(folded) is not None
    return Word(frozenset((folded, spelled_out)), is_initial, is_foreign)


def _firsts(words: Sequence[Word], given: frozenset[str], is_uncased: bool) -> frozenset[str]:
    """Return the plain spellings of the words that may be the first given name."""
    initials = [word.text for word in words if word.is_initial]
    if initials and not given and len(initials) == len(words) - 1:
        return frozenset(initials[:1])  # Иванов А. Б.
    known = [word.text for word in words if word.text in given]
    if known or is_uncased:
        return frozenset((known or [word.text for word in words])[:1])
    return frozenset(word.text for word in words[:2])  # Kovács Eszter and Eszter Kovács


def _neighbours(names: Sequence[PersonName]) -> list[tuple[int, int]]:
    """Return the pairs of names that have a word in common; others never fit."""
    by_word: dict[str, set[int]] = {}
    for index, name in enumerate(names):
        for version in filter(None, (name, name.latin)):
            for word in version.words:
                if not word.is_initial:
                    for text in {*word.spellings, latin_spelling(word.text)}:
                        by_word.setdefault(text, set()).add(index)
    return sorted({pair for found in by_word.values() for pair in combinations(sorted(found), 2)})
