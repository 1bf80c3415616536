"""Short forms of given names: Bob for Robert (data/short_names.toml)."""

from functools import cache

from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_table


def full_forms(name: str) -> frozenset[str]:
    """Return the given names that have this folded short form; it may be of several: Alex of Alexander, Alexandra."""
    return _full_names().get(name, frozenset())


def is_short_form(name: str) -> bool:
    """Return whether a folded name is a short form."""
    return name in _full_names()


@cache
def _full_names() -> dict[str, frozenset[str]]:
    full: dict[str, set[str]] = {}
    for table in load_table("short_names").values():
        for line in table["names"].splitlines():
            names, _, short = line.partition(":")
            for name in short.split():
                full.setdefault(fold(name), set()).update(map(fold, names.split()))
    return {name: frozenset(found) for name, found in full.items()}
