"""The word lists beside this module, read once: words as data, folded to lower case without accents."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from scrapersky.extract.text import fold


@cache
def table(name: str) -> dict[str, Any]:
    """A word list file, such as people.toml."""
    return tomllib.loads(_read(f"{name}.toml"))


@cache
def words(name: str, section: str, key: str = "words") -> frozenset[str]:
    """The words of one entry."""
    return frozenset(table(name)[section][key].split())


@cache
def names(which: str) -> frozenset[str]:
    """Given names or surnames."""
    lines = _read(f"{which}.txt").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _read(name: str) -> str:
    return resources.files(__package__).joinpath("data", name).read_text("utf-8")


class Stems:
    """Words, stems (director*) and endings of compounds (*leiter), asked one folded word at a time."""

    def __init__(self, entries: Iterable[str]) -> None:
        folded = {fold(entry) for entry in entries}
        self._exact = frozenset(entry for entry in folded if "*" not in entry)
        self._starts = _grouped(entry.rstrip("*") for entry in folded if entry.endswith("*"))
        self._ends = _grouped(entry.lstrip("*")[::-1] for entry in folded if entry.startswith("*"))

    def __contains__(self, word: str) -> bool:
        if word in self._exact:
            return True
        stems = self._starts.get(word[:3])
        if stems is not None and word.startswith(stems):
            return True
        back = word[::-1]
        endings = self._ends.get(back[:3])
        return endings is not None and back.startswith(endings)


def _grouped(stems: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Stems by their first three letters, so that a word is held against a handful and not against all."""
    groups: dict[str, list[str]] = {}
    for stem in sorted(stems):
        groups.setdefault(stem[:3], []).append(stem)
    return {start: tuple(group) for start, group in groups.items()}


def alternatives(entries: Iterable[str]) -> str:
    """The entries as one regular expression, longest first."""
    return "|".join(re.escape(entry) for entry in sorted(set(entries), key=lambda entry: (-len(entry), entry)))


def grouped_alternatives(entries: Iterable[str]) -> str:
    """The same, the first letters apart: a word is tried against a handful of entries and not against all."""
    groups: dict[str, list[str]] = {}
    for entry in sorted(set(entries)):
        groups.setdefault(entry[0], []).append(entry[1:])
    return "|".join(f"{re.escape(first)}(?:{alternatives(rests)})" for first, rests in groups.items())
