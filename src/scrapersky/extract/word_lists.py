"""The word lists in data/, each read once."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from scrapersky.extract.text import fold


@cache
def load_table(name: str) -> dict[str, Any]:
    """Load a TOML file of data/, such as people."""
    return tomllib.loads(_read(f"{name}.toml"))


@cache
def load_words(name: str, section: str, key: str = "words") -> frozenset[str]:
    """Load the words of one entry of a TOML file."""
    return word_set(load_table(name)[section][key])


@cache
def load_names(which: str) -> frozenset[str]:
    """Load the given names or the surnames, folded."""
    lines = [line for line in _read(f"{which}.txt").splitlines() if not line.startswith("#")]
    return word_set(" ".join(lines))


def word_set(text: str) -> frozenset[str]:
    """Split a text into a set of words; those with a final sigma are in the set as they are folded, too."""
    words = frozenset(text.split())
    return words | {word.replace("ς", "σ") for word in words if word[-1] == "ς"} if "ς" in text else words


def _read(name: str) -> str:
    return resources.files(__package__).joinpath("data", name).read_text("utf-8")


class AffixSet:
    """A set of words, prefixes (director*) and suffixes (*leiter); `in` takes one folded word."""

    def __init__(self, entries: Iterable[str]) -> None:
        folded = {fold(entry) for entry in entries}
        self._words = frozenset(entry for entry in folded if "*" not in entry)
        self._prefixes = _group_by_start(entry.rstrip("*") for entry in folded if entry.endswith("*"))
        self._suffixes = _group_by_start(entry.lstrip("*")[::-1] for entry in folded if entry.startswith("*"))

    def __contains__(self, word: str) -> bool:
        if word in self._words:
            return True
        prefixes = self._prefixes.get(word[:3])
        if prefixes is not None and word.startswith(prefixes):
            return True
        return self.has_suffix(word)

    def has_suffix(self, word: str) -> bool:
        """Return whether a folded word ends with one of the suffixes."""
        reverse = word[::-1]
        suffixes = self._suffixes.get(reverse[:3])
        return suffixes is not None and reverse.startswith(suffixes)


def _group_by_start(affixes: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Group affixes by their first three letters, so that a word is compared with a few of them only."""
    groups: dict[str, list[str]] = {}
    for affix in sorted(affixes):
        groups.setdefault(affix[:3], []).append(affix)
    return {start: tuple(group) for start, group in groups.items()}


def alternatives(entries: Iterable[str]) -> str:
    """Build a regular expression that matches any entry, the longest first."""
    return "|".join(re.escape(entry) for entry in sorted(set(entries), key=lambda entry: (-len(entry), entry)))


def grouped_alternatives(entries: Iterable[str]) -> str:
    """Build the same expression grouped by first letter, so that a word is tried against a few entries only."""
    groups: dict[str, list[str]] = {}
    for entry in sorted(set(entries)):
        groups.setdefault(entry[0], []).append(entry[1:])
    return "|".join(f"{re.escape(first)}(?:{alternatives(rests)})" for first, rests in groups.items())
