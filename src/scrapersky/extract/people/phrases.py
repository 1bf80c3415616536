"""Phrases of a word list in a short text, such as the title of a person: the longest at each place."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scrapersky.extract.people.uncased.scripts import UNCASED_LETTER
from scrapersky.extract.text import fold

MAX_TEXT = 200
WORD = re.compile(r"[^\W_]++")
ENTRY_WORD = re.compile(r"\*?[^\W_]++\*?|\*")
DIVIDING_SIGNS = frozenset("-'’./&_")
_KEY = 3  # letters by which words with a star are grouped


@dataclass(frozen=True)
class Phrase:
    """A phrase that was found: its list, its place in the folded text, and its number of words."""

    label: str
    start: int
    end: int
    words: int


class _Entry(NamedTuple):
    label: str
    words: tuple[str, ...]  # of scripts without capitals only one: a part of the text

    @property
    def left_to_stars(self) -> tuple[int, bool]:
        """How little of the place the letters of the entry decide, as a sort key."""
        return -sum(len(word.strip("*")) for word in self.words), any("*" in word for word in self.words)


class PhraseLists:
    """Lists of words and phrases by label. A star stands for any letters of a word, or for any word.

    Of two phrases at one place the longer counts, then the one with fewer letters left to a star, then that
    of the earlier list.
    """

    def __init__(self, lists: Mapping[str, str]) -> None:
        self._order = {label: place for place, label in enumerate(lists)}
        self._by_word: dict[str, list[_Entry]] = defaultdict(list)
        self._by_start: dict[str, list[_Entry]] = defaultdict(list)
        self._by_end: dict[str, list[_Entry]] = defaultdict(list)
        self._by_sign: dict[str, list[_Entry]] = defaultdict(list)
        self._behind_any: list[_Entry] = []
        for label, text in lists.items():
            for written in re.split(r"[,\n]", fold(text)):
                self._add(label, written.strip())

    def find(self, text: str) -> list[Phrase]:
        """Return the phrases of the text that do not overlap, in its order."""
        folded = fold(text[:MAX_TEXT])
        found = sorted(
            (*self._in_words(folded), *self._in_signs(folded)),
            key=lambda one: (one[0].start - one[0].end, one[1].left_to_stars, self._order[one[0].label], one[0].start),
        )
        chosen: list[Phrase] = []
        for phrase, _ in found:
            if all(phrase.end <= other.start or other.end <= phrase.start for other in chosen):
                chosen.append(phrase)
        return sorted(chosen, key=lambda phrase: phrase.start)

    def _add(self, label: str, written: str) -> None:
        if not written:
            return
        if not written.isascii() and UNCASED_LETTER.search(written):
            plain = written.rstrip("* ")
            self._by_sign[plain[0]].append(_Entry(label, (plain,)))
            return
        words = tuple(written.split() if DIVIDING_SIGNS.isdisjoint(written) else ENTRY_WORD.findall(written))
        entry = _Entry(label, words)
        if words[0] == "*":
            self._behind_any.append(entry)
        elif words[0].startswith("*"):
            self._by_end[words[0][-_KEY:]].append(entry)
        elif words[0].endswith("*"):
            self._by_start[words[0][:-1][:_KEY]].append(entry)
        else:
            self._by_word[words[0]].append(entry)

    def _in_words(self, folded: str) -> Iterator[tuple[Phrase, _Entry]]:
        places = list(WORD.finditer(folded))
        words = [place[0] for place in places]
        for first, word in enumerate(words):
            for entry in self._entries(word):
                last = first + len(entry.words) - 1
                if last < len(words) and all(map(_matches, entry.words, words[first : last + 1])):
                    yield Phrase(entry.label, places[first].start(), places[last].end(), len(entry.words)), entry

    def _entries(self, word: str) -> list[_Entry]:
        """Return the entries that may begin with a word."""
        found = [*self._by_word.get(word, ()), *self._by_end.get(word[-_KEY:], ()), *self._behind_any]
        for size in range(1, _KEY + 1):
            found += self._by_start.get(word[:size], ())
        return found

    def _in_signs(self, folded: str) -> Iterator[tuple[Phrase, _Entry]]:
        if not self._by_sign or folded.isascii():
            return
        for start, sign in enumerate(folded):
            for entry in self._by_sign.get(sign, ()):
                if folded.startswith(entry.words[0], start):
                    yield Phrase(entry.label, start, start + len(entry.words[0]), 1), entry


def _matches(pattern: str, word: str) -> bool:
    if pattern == "*":
        return True
    if pattern.startswith("*"):
        return word.endswith(pattern[1:])
    return word.startswith(pattern[:-1]) if pattern.endswith("*") else word == pattern
