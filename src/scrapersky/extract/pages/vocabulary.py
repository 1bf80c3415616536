"""The vocabulary of page names: the kind of page that a name in a URL or a link text means, in many languages."""

from enum import StrEnum
from functools import cache, lru_cache
from operator import itemgetter
from typing import NamedTuple

from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_table

MAX_NAME_LENGTH = 120
MAX_WORDS = 7
STEM_LENGTH = 4  # letters by which compounds are looked up; no stem is shorter
STRONG, WEAK, INSIDE = 0.95, 0.6, 0.8
MIN_SCORE = 0.25


class PageKind(StrEnum):
    """The purpose of a page."""

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


class VocabularyEntry(NamedTuple):
    """A word of the vocabulary."""

    kind: PageKind
    weight: float
    word: str
    alone: bool  # counts only as the whole name


class WordSense(NamedTuple):
    """The meaning of one word inside a name: its entry, how much it counts, and whether a phrase can start with it."""

    entry: VocabularyEntry | None
    share: float
    starts_phrase: bool


class NameMatch(NamedTuple):
    """The kind that a name means, its score, the word, and whether the word is the whole name."""

    kind: PageKind
    score: float
    word: str
    is_whole: bool


SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
SIGNS = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'’‘“”«»–—·•…→›|　・、。\xa0\u200b\ufeff" + "".join(map(chr, range(32)))
SEPARATORS = str.maketrans(dict.fromkeys(SIGNS, " "))


def words_of(name: str) -> list[str]:
    """Return the folded words of a name, of at most MAX_NAME_LENGTH characters."""
    folded = fold(name[:MAX_NAME_LENGTH])
    plain = folded.replace("-", " ")
    # Most names have letters and hyphens only, and need no translation table.
    return plain.split() if plain.replace(" ", "").isalnum() else folded.translate(SEPARATORS).split()


def compact_name(name: str) -> str:
    """Return a name folded and without separators: aboutus for about-us, About Us and AboutUs."""
    return "".join(words_of(name))


def is_unspaced_script(text: str) -> bool:
    """Return whether a text is in a script without spaces between words: Japanese, Chinese, often Korean."""
    return not text.isascii() and any(
        "\u3040" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3" for letter in text
    )


class Vocabulary:
    """All words with their kinds, found by the whole name, by words inside a name, and by parts of compounds."""

    def __init__(
        self, languages: dict[str, dict[str, list[str]]], listings: dict[str, list[str]], small_words: list[str]
    ):
        self.languages = tuple(languages)
        self.listings = {compact_name(name): PageKind(kind) for kind, names in listings.items() for name in names}
        self._small_words = frozenset(fold(word) for word in small_words) | frozenset(languages)
        self._entries: dict[str, VocabularyEntry] = {}
        self._first_words: set[str] = set()
        self._beginnings: dict[str, list[tuple[str, VocabularyEntry]]] = {}
        self._endings: dict[str, list[tuple[str, VocabularyEntry]]] = {}
        for kinds in languages.values():
            for kind, written in kinds.items():
                for word in written:
                    self._add(PageKind(kind), word)
        # The pages of a site repeat the same words.
        self._sense = lru_cache(maxsize=16_384)(self._sense_of)
        unspaced = [(key, entry) for key, entry in self._entries.items() if is_unspaced_script(entry.word)]
        self._unspaced = sorted(unspaced, key=lambda pair: (-len(pair[0]), pair[0]))

    def _add(self, kind: PageKind, written: str) -> None:
        word = written.strip("~=*")
        entry = VocabularyEntry(kind, WEAK if written.startswith("~") else STRONG, word, written.startswith("="))
        for spelling in dict.fromkeys((word, word.casefold().translate(SPELLED_OUT))):
            words = words_of(spelling)
            key = "".join(words)
            self._entries.setdefault(key, entry)
            if len(words) > 1:
                self._first_words.add(words[0])
            if written.endswith("*"):
                self._beginnings.setdefault(key[:STEM_LENGTH], []).append((key, entry))
            if written.lstrip("~").startswith("*"):
                self._endings.setdefault(key[-STEM_LENGTH:], []).append((key, entry))

    def entry(self, name: str) -> VocabularyEntry | None:
        """Return the entry that is exactly this name."""
        return self._entries.get(compact_name(name))

    def match(self, name: str) -> NameMatch | None:
        """Return the kind that a name means, or None."""
        words = [word for word in words_of(name) if not word.isdigit()]
        if not words:
            return None
        whole = "".join(words)
        entry = self._entries.get(whole)
        if entry is not None:
            return NameMatch(entry.kind, entry.weight, entry.word, True)
        if not whole.isascii() and is_unspaced_script(whole):
            return self._match_unspaced(whole)
        if len(words) > MAX_WORDS:
            return None
        return self._match_words(words)

    def _match_unspaced(self, name: str) -> NameMatch | None:
        for key, entry in self._unspaced:
            if key in name:
                return _inside(entry, len(key) / len(name) * entry.weight / STRONG)
        return None

    def _match_words(self, words: list[str]) -> NameMatch | None:
        """Return the kind with the largest share of the letters; the words of one kind are added."""
        senses = [self._sense(word) for word in words]
        if not any(senses):
            return None
        found: dict[PageKind, tuple[float, VocabularyEntry]] = {}
        phrase_end = 0
        for index, sense in enumerate(senses):
            if sense is None or index < phrase_end:
                continue
            entry, count = self._longest_phrase(words, index) if sense.starts_phrase else (None, 0)
            if entry is not None:
                weighed = entry.weight * sum(map(len, words[index : index + count]))
                phrase_end = index + count
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
        letters = sum([len(word) for word in words if word not in self._small_words])
        if len(found) == 1 and weighed >= letters:  # “Anfahrt & Kontakt”: every word means this kind
            return NameMatch(entry.kind, STRONG, entry.word, False)
        return _inside(entry, weighed / max(letters, weighed))

    def _longest_phrase(self, words: list[str], index: int) -> tuple[VocabularyEntry | None, int]:
        """Return the longest phrase that starts at a word, and the number of its words."""
        for count in range(min(4, len(words) - index), 1, -1):
            phrase = self._entries.get("".join(words[index : index + count]))
            if phrase is not None and not phrase.alone:
                return phrase, count
        return None, 0

    def _sense_of(self, word: str) -> WordSense | None:
        starts_phrase = word in self._first_words
        entry = self._entries.get(word)
        if entry is None:
            entry, share = self._compound(word), 0.9
        else:
            entry, share = (None if entry.alone or word in self._small_words else entry), 1.0
        return WordSense(entry, share, starts_phrase) if entry is not None or starts_phrase else None

    def _compound(self, word: str) -> VocabularyEntry | None:
        for stem, entry in self._beginnings.get(word[:STEM_LENGTH], ()):
            if word.startswith(stem):
                return entry
        for stem, entry in self._endings.get(word[-STEM_LENGTH:], ()):
            # At least three letters before the stem: steam is not a team.
            if word.endswith(stem) and len(word) >= len(stem) + 3:
                return entry
        return None


def _inside(entry: VocabularyEntry, share: float) -> NameMatch | None:
    score = INSIDE * share
    return NameMatch(entry.kind, score, entry.word, False) if score >= MIN_SCORE else None


@cache
def load_vocabulary() -> Vocabulary:
    """Load the vocabulary of the data file."""
    languages = dict(load_table("page_kinds"))
    listings, small_words = languages.pop("listing_folders"), languages.pop("small_words")
    return Vocabulary(languages, listings, small_words)
