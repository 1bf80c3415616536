"""How senior a person is and which functions a title names, by words of all languages served (data/seniority.toml)."""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from itertools import pairwise

from scrapersky.core.vocabularies import JobFunction
from scrapersky.extract.people.phrases import Phrase, PhraseLists
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_table

# Between two titles of one person: owner, dentist; Inhaberin und Zahnärztin.
SEPARATOR = re.compile(
    r"[,;/|&+·•()–—、・，／：:]|\s-\s|\s(?:and|und|et|y|e|i|och|og|ja|en|a|и|та|ve|dan|va|και|es|si|sowie|oraz|samt)\s"
)


class Seniority(IntEnum):
    """How senior a person is; the lowest number is the most senior."""

    OWNER = 1
    CHIEF = 2
    EXECUTIVE = 3
    HEAD = 4
    STAFF = 5
    JUNIOR = 6
    OUTSIDE = 7  # on the page for another reason: a data protection officer, a former chairman


@dataclass(frozen=True)
class TitleMeaning:
    """The seniority of a title, and its functions."""

    seniority: Seniority
    functions: tuple[JobFunction, ...] = ()


# The lists in the order in which they count for one and the same word: the less senior meaning first.
_LABELS = ("outside", "junior", "staff", "deputy", "head", "executive", "chief", "owner")
_DEPUTY_OF = {
    Seniority.OWNER: Seniority.EXECUTIVE,
    Seniority.CHIEF: Seniority.EXECUTIVE,
    Seniority.HEAD: Seniority.STAFF,
}


@lru_cache(8192)
def title_meaning(title: str) -> TitleMeaning:
    """Return what a title says about a person."""
    phrases = _levels().find(title)
    functions = functions_in(title)
    parts = _parts(fold(title), phrases)
    levels = [_seniority(part, title, bool(functions)) for part in parts]
    return TitleMeaning(min(levels, default=Seniority.STAFF), functions)


def functions_in(text: str) -> tuple[JobFunction, ...]:
    """Return the functions that a title or the name of a mailbox contains."""
    found = {phrase.label for phrase in _functions().find(text)}
    return tuple(function for function in JobFunction if function in found)


def _parts(folded: str, phrases: list[Phrase]) -> list[list[Phrase]]:
    """Divide the phrases where a separator stands between them."""
    if not phrases:
        return []
    parts = [[phrases[0]]]
    for before, phrase in pairwise(phrases):
        if SEPARATOR.search(folded[before.end : phrase.start]):
            parts.append([])
        parts[-1].append(phrase)
    return parts


def _seniority(part: list[Phrase], title: str, has_function: bool) -> Seniority:
    labels = {phrase.label for phrase in part}
    for label in ("outside", "junior"):  # the assistant of the managing director
        if label in labels:
            return Seniority[label.upper()]
    levels = [_level(phrase, title, has_function) for phrase in part if phrase.label != "deputy"]
    level = min(levels, default=Seniority.STAFF)
    return _DEPUTY_OF.get(level, level) if "deputy" in labels else level


def _level(phrase: Phrase, title: str, has_function: bool) -> Seniority:
    """Return the level of a phrase: a director heads the business, a director of sales a department."""
    level = Seniority[phrase.label.upper()]
    if level is Seniority.CHIEF and has_function and phrase.words == 1:
        word = fold(title)[phrase.start : phrase.end]
        return Seniority.HEAD if _heads_of_functions().find(word) else level
    return level


@cache
def _levels() -> PhraseLists:
    table = load_table("seniority")
    return PhraseLists({label: table[label]["words"] for label in _LABELS})


@cache
def _heads_of_functions() -> PhraseLists:
    return PhraseLists({"head": load_table("seniority")["leads_a_function"]["words"]})


@cache
def _functions() -> PhraseLists:
    return PhraseLists({function: load_table("functions")["functions"][function] for function in JobFunction})
