"""Names in scripts without capitals: Han, kana and Hangul beside a role, Hebrew and Arabic behind a title."""

from typing import NamedTuple

from scrapersky.extract import regexes, word_lists
from scrapersky.extract.people.names import Name

MAX_TEXT = 2_000
LONG_LINE = 60  # of these scripts; a longer one is a sentence
SCORE = 0.4  # a role or a title stands beside each of them
ROLES = regexes.eastern_roles(word_lists.alternatives(word_lists.words("people", "eastern_roles")))
KOREAN_SURNAMES = word_lists.words("people", "eastern_names", "korean_surnames")
CHINESE_SURNAMES = frozenset("".join(word_lists.words("people", "eastern_names", "chinese_surnames")))
JAPANESE_ENDINGS = frozenset("".join(word_lists.words("people", "eastern_names", "japanese_endings")))


class UncasedName(NamedTuple):
    """A name and the role beside it."""

    name: Name
    role: str
    whole: bool


def find(text: str) -> list[UncasedName]:
    """The names of a line: 院長 桐島 健一郎. 대표 : 강민재. ד"ר יעל אלמוג."""
    found = []
    if len(text) <= LONG_LINE and (match := ROLES.match(text)) is not None:
        name = match["name"].strip()
        if _is_name(name, match["colon"] is not None):
            found.append(UncasedName(_named(name), match["role"], True))
    titled = regexes.EASTERN_TITLE.finditer(text[:MAX_TEXT])
    return [*found, *(UncasedName(_named(one["name"], one["title"]), "", False) for one in titled)]


def _is_name(name: str, behind_colon: bool) -> bool:
    """Headings stand behind roles, too: the first sign has to begin a family name, or the last to end a given one."""
    if regexes.HANGUL.match(name):
        return len(name) == 3 and name[0] in KOREAN_SURNAMES
    if " " in name:
        return name[-1] in JAPANESE_ENDINGS
    return behind_colon and (name[0] in CHINESE_SURNAMES or (len(name) > 2 and name[-1] in JAPANESE_ENDINGS))


def _named(name: str, title: str = "") -> Name:
    # A title is as good as a role, and has nothing else to add to it.
    return Name(name, tuple(name.split()), title, "", SCORE + (0.3 if title else 0.0))
