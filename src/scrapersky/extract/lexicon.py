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
        self.exact = frozenset(entry for entry in folded if "*" not in entry)
        self.starts = frozenset(entry.rstrip("*") for entry in folded if entry.endswith("*"))
        self.ends = frozenset(entry.lstrip("*") for entry in folded if entry.startswith("*"))
        self._start_lengths = sorted({len(stem) for stem in self.starts})
        self._end_lengths = sorted({len(stem) for stem in self.ends})

    def __contains__(self, word: str) -> bool:
        if word in self.exact:
            return True
        for length in self._start_lengths:
            if word[:length] in self.starts:
                return True
        for length in self._end_lengths:  # noqa: SIM110  # a plain loop is twice as fast, and this is asked for every word
            if word[-length:] in self.ends:
                return True
        return False


def alternatives(entries: Iterable[str]) -> str:
    """The entries as one regular expression, longest first."""
    return "|".join(re.escape(entry) for entry in sorted(set(entries), key=lambda entry: (-len(entry), entry)))
