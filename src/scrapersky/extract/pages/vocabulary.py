"""The vocabulary of pages: what the name of a page, a folder or a link says about its kind, in many languages."""

import tomllib
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources
from operator import itemgetter
from typing import NamedTuple

from scrapersky.extract.text import fold

MAX_NAME_LENGTH = 120
MAX_WORDS = 7
STEM = 4  # letters by which a compound is looked up; no stem is shorter
STRONG, WEAK, INSIDE = 0.95, 0.6, 0.8
MIN_SCORE = 0.25


class PageKind(StrEnum):
    """What a page of a business is for."""

    CONTACT = "contact"
    IMPRINT = "imprint"
    TEAM = "team"
    ABOUT = "about"
    HOME = "home"
    CAREERS = "careers"
    SERVICES = "services"
    LEGAL = "legal"
    PRICING = "pricing"
    BLOG = "blog"
    PRODUCT = "product"
    OTHER = "other"


class Entry(NamedTuple):
    """A word of the vocabulary."""

    kind: PageKind
    weight: float
    word: str
    alone: bool  # counts only as the whole name


class Sense(NamedTuple):
    """What one word inside a name may mean: an entry and how fully it counts, and whether it opens phrases."""

    entry: Entry | None
    share: float
    opens: bool


class Match(NamedTuple):
    """What a name says: the kind, how surely, by which word, and whether that word was the whole name."""

    kind: PageKind
    score: float
    word: str
    whole: bool


SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
SIGNS = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'’‘“”«»–—·•…→›|　・、。\xa0\u200b\ufeff" + "".join(map(chr, range(32)))
SEPARATORS = str.maketrans(dict.fromkeys(SIGNS, " "))


def words_of(name: str) -> list[str]:
    """The words of a name, folded; no more than a name's length is read."""
    folded = fold(name[:MAX_NAME_LENGTH])
    plain = folded.replace("-", " ")
    # Nearly every name is letters and hyphens, and needs no table.
    return plain.split() if plain.replace(" ", "").isalnum() else folded.translate(SEPARATORS).split()


def compact(name: str) -> str:
    """A name without any separators: about-us, About Us and AboutUs are all aboutus."""
    return "".join(words_of(name))


def is_scriptio_continua(text: str) -> bool:
    """Whether a text is written without spaces between words, as Japanese and Chinese are, and Korean often is."""
    return not text.isascii() and any(
        "\u3040" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3" for letter in text
    )


class Vocabulary:
    """All words with their kinds, looked up by whole name, by words inside a name, and by parts of compounds."""

    def __init__(self, languages: dict[str, dict[str, list[str]]], shelves: dict[str, list[str]], little: list[str]):
        self.languages = tuple(languages)
        self.shelves = {compact(name): PageKind(kind) for kind, names in shelves.items() for name in names}
        self._little = frozenset(fold(word) for word in little) | frozenset(languages)
        self._entries: dict[str, Entry] = {}
        self._first_words: set[str] = set()
        self._beginnings: dict[str, list[tuple[str, Entry]]] = {}
        self._endings: dict[str, list[tuple[str, Entry]]] = {}
        for kinds in languages.values():
            for kind, written in kinds.items():
                for word in written:
                    self._learn(PageKind(kind), word)
        # The words of a site repeat from page to page.
        self._sense = lru_cache(maxsize=16_384)(self._sense_of)
        joined = [(key, entry) for key, entry in self._entries.items() if is_scriptio_continua(entry.word)]
        self._joined = sorted(joined, key=lambda pair: (-len(pair[0]), pair[0]))

    def _learn(self, kind: PageKind, written: str) -> None:
        word = written.strip("~=*")
        entry = Entry(kind, WEAK if written.startswith("~") else STRONG, word, written.startswith("="))
        for spelling in dict.fromkeys((word, word.casefold().translate(SPELLED_OUT))):
            words = words_of(spelling)
            key = "".join(words)
            self._entries.setdefault(key, entry)
            if len(words) > 1:
                self._first_words.add(words[0])
            if written.endswith("*"):
                self._beginnings.setdefault(key[:STEM], []).append((key, entry))
            if written.lstrip("~").startswith("*"):
                self._endings.setdefault(key[-STEM:], []).append((key, entry))

    def entry(self, name: str) -> Entry | None:
        """The word that is exactly this name."""
        return self._entries.get(compact(name))

    def read(self, name: str) -> Match | None:
        """What a name says, if anything."""
        words = [word for word in words_of(name) if not word.isdigit()]
        if not words:
            return None
        whole = "".join(words)
        entry = self._entries.get(whole)
        if entry is not None:
            return Match(entry.kind, entry.weight, entry.word, True)
        if not whole.isascii() and is_scriptio_continua(whole):
            return self._read_joined(whole)
        if len(words) > MAX_WORDS:
            return None
        return self._read_words(words)

    def _read_joined(self, name: str) -> Match | None:
        for key, entry in self._joined:
            if key in name:
                return _inside(entry, len(key) / len(name) * entry.weight / STRONG)
        return None

    def _read_words(self, words: list[str]) -> Match | None:
        """The kind with the largest share of the letters; the words of a kind add up."""
        senses = [self._sense(word) for word in words]
        if not any(senses):
            return None
        found: dict[PageKind, tuple[float, Entry]] = {}
        past = 0
        for index, sense in enumerate(senses):
            if sense is None or index < past:
                continue
            entry, count = self._longest(words, index) if sense.opens else (None, 0)
            if entry is not None:
                weighed = entry.weight * sum(map(len, words[index : index + count]))
                past = index + count
            elif sense.entry is not None:
                entry = sense.entry
                weighed = entry.weight * sense.share * len(words[index])
            else:
                continue
            before, first = found.get(entry.kind, (0.0, entry))
            found[entry.kind] = (before + weighed, first)
        if not found:
            return None
        weighed, entry = max(found.values(), key=itemgetter(0))
        weighed /= STRONG
        letters = sum([len(word) for word in words if word not in self._little])
        return _inside(entry, weighed / max(letters, weighed))

    def _longest(self, words: list[str], index: int) -> tuple[Entry | None, int]:
        """The longest phrase that starts at a word, and how many words it takes."""
        for count in range(min(4, len(words) - index), 1, -1):
            phrase = self._entries.get("".join(words[index : index + count]))
            if phrase is not None and not phrase.alone:
                return phrase, count
        return None, 0

    def _sense_of(self, word: str) -> Sense | None:
        opens = word in self._first_words
        entry = self._entries.get(word)
        if entry is None:
            entry, share = self._compound(word), 0.9
        else:
            entry, share = (None if entry.alone or word in self._little else entry), 1.0
        return Sense(entry, share, opens) if entry is not None or opens else None

    def _compound(self, word: str) -> Entry | None:
        for stem, entry in self._beginnings.get(word[:STEM], ()):
            if word.startswith(stem):
                return entry
        for stem, entry in self._endings.get(word[-STEM:], ()):
            # Three letters before it at least: steam is no team.
            if word.endswith(stem) and len(word) >= len(stem) + 3:
                return entry
        return None


def _inside(entry: Entry, share: float) -> Match | None:
    score = INSIDE * share
    return Match(entry.kind, score, entry.word, False) if score >= MIN_SCORE else None


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary of the data file, read once."""
    text = resources.files("scrapersky.extract").joinpath("data/page_kinds.toml").read_text("utf-8")
    table = tomllib.loads(text)
    return Vocabulary(shelves=table.pop("shelves"), little=table.pop("little_words"), languages=table)
