"""Finds the OpenStreetMap tags for a kind of business named in a search."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from scrapersky.extract.text import fold

MAX_PHRASE_LENGTH = 5  # in words, of the longest entry
PLURALS = ("es", "s")
# "cafes and bakeries", "dentists, lawyers"
_BETWEEN_KINDS = re.compile(
    r"\s{0,20}[,;/|+]\s{0,20}|\s{1,20}(?:&|and|or|und|oder|et|ou|y|o|e|ed|ja|tai|och|eller|og|en|of|i|oraz|lub|и|или)"
    r"\s{1,20}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class BusinessKind:
    """The tags to search for, the phrase they come from, and the words that are unknown."""

    tags: tuple[str, ...]
    known: str
    unknown: tuple[str, ...]


def business_kind(text: str) -> BusinessKind | None:
    """Return the kind of business for the longest known phrase of a text; None if no word is known.

    If the text lists several known kinds ("cafes and bakeries"), the kind is all of them.
    """
    whole = _kind(text)
    listed = [(part, _kind(part)) for part in _BETWEEN_KINDS.split(text)] if whole and whole.unknown else []
    kinds = [kind for _, kind in listed if kind]
    if whole is None or len(kinds) < 2 or whole.known not in {kind.known for kind in kinds}:
        return whole
    tags = dict.fromkeys(tag for kind in kinds for tag in kind.tags)
    unknown = (word for part, kind in listed for word in (kind.unknown if kind else _words(part)))
    return BusinessKind(tuple(tags), ", ".join(kind.known for kind in kinds), tuple(unknown))


def _kind(text: str) -> BusinessKind | None:
    words = _words(text)
    for length in range(min(len(words), MAX_PHRASE_LENGTH), 0, -1):
        for start in range(len(words) - length, -1, -1):  # the last phrase first: "store" is the noun of "pet store"
            phrase = " ".join(words[start : start + length])
            tags = _tags_of(phrase)
            if tags:
                return BusinessKind(tags, phrase, tuple(words[:start] + words[start + length :]))
    return None


def known_phrase(text: str) -> str | None:
    """Return the longest known phrase of a text; None if no word is known."""
    kind = business_kind(text)
    return kind.known if kind else None


@cache
def kind_names() -> frozenset[str]:
    """Return the names of the kinds of categories.toml, in words."""
    return frozenset(name.replace("_", " ") for name in _kinds())


@cache
def tags_by_phrase() -> dict[str, tuple[str, ...]]:
    """Read every phrase of categories.toml, folded, with the tags of all the kinds it may mean."""
    found: dict[str, tuple[str, ...]] = {}
    for kind in _kinds().values():
        for phrase in kind["words"].split(","):
            folded = " ".join(_words(phrase))
            found[folded] = tuple(dict.fromkeys((*found.get(folded, ()), *kind["tags"])))
    return found


@cache
def _kinds() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("categories.toml").read_text("utf-8"))


def _tags_of(phrase: str) -> tuple[str, ...]:
    singular = [phrase.removesuffix(ending) for ending in PLURALS if phrase.endswith(ending)]
    return next((tags for form in (phrase, *singular) if (tags := tags_by_phrase().get(form))), ())


def _words(text: str) -> list[str]:
    return fold(text.replace("-", " ").replace("'", " ").replace("’", " ")).split()
