"""The words and parts of hidden pages (data/hidden.toml), folded for comparison."""

from functools import cache
from typing import Any

from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_table

PUNCTUATION = " .…!¡。·-–—:|"


@cache
def phrases(section: str, key: str) -> tuple[str, ...]:
    """Return the phrases of an entry, one per line or between bars, each once, folded."""
    value: Any = load_table("hidden")[section]
    for name in key.split("."):
        value = value[name]
    parts = (part.strip() for line in value.splitlines() for part in line.split("|"))
    return tuple(dict.fromkeys(fold(part) for part in parts if part))


@cache
def phrase_set(section: str, key: str) -> frozenset[str]:
    """Return the phrases of an entry for comparison with whole lines, without punctuation around them."""
    return frozenset(bare(phrase) for phrase in phrases(section, key))


def bare(line: str) -> str:
    """Return a line without punctuation around it."""
    return line.strip(PUNCTUATION)


def has_any(text: str, wanted: tuple[str, ...]) -> bool:
    """Return whether a folded text contains one of these phrases."""
    return any(phrase in text for phrase in wanted)
