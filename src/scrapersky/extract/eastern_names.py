"""Names in scripts without capitals: Han, kana and Hangul beside a role, Hebrew and Arabic behind a title."""

from typing import NamedTuple

from scrapersky.extract import lexicon, patterns
from scrapersky.extract.names import Name

MAX_TEXT = 2_000
LONG_LINE = 60  # of these scripts; a longer one is a sentence
SCORE = 0.4  # a role or a title stands beside each of them
ROLES = patterns.eastern_roles(lexicon.alternatives(lexicon.words("people", "eastern_roles")))
SURNAMES = lexicon.words("people", "eastern_roles", "korean_surnames")


class EasternName(NamedTuple):
    """A name and the role beside it."""

    name: Name
    role: str
    whole: bool


def find(text: str) -> list[EasternName]:
    """The names of a line: 院長 桐島 健一郎. 대표 : 강민재. ד"ר יעל אלמוג."""
    found = []
    if len(text) <= LONG_LINE and (match := ROLES.match(text)) is not None:
        name = match["name"].strip()
        if match["colon"] or " " in name or (len(name) == 3 and name[0] in SURNAMES):
            found.append(EasternName(_named(name), match["role"], True))
    titled = patterns.EASTERN_TITLE.finditer(text[:MAX_TEXT])
    return [*found, *(EasternName(_named(one["name"], one["title"]), "", False) for one in titled)]


def _named(name: str, title: str = "") -> Name:
    # A title is as good as a role, and has nothing else to add to it.
    return Name(name, tuple(name.split()), title, "", SCORE + (0.3 if title else 0.0))
