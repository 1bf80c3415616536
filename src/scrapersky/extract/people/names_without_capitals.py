"""Names in scripts without capitals: Han, kana and Hangul beside a role, Hebrew and Arabic behind a title."""

import re

from scrapersky.extract.people.names import Name, NameCandidate
from scrapersky.extract.word_lists import alternatives, load_words

MAX_TEXT = 2_000
MAX_LINE = 60  # a longer line in these scripts is a sentence
SCORE = 0.4  # for a name with a role or a title beside it
KOREAN_SURNAMES = load_words("people", "uncased_names", "korean_surnames")
CHINESE_SURNAMES = frozenset("".join(load_words("people", "uncased_names", "chinese_surnames")))
JAPANESE_ENDINGS = frozenset("".join(load_words("people", "uncased_names", "japanese_endings")))

_HAN, _HANGUL = r"\u3005\u4e00-\u9fff", r"\uac00-\ud7a3"
HANGUL = re.compile(f"[{_HANGUL}]")
UNCASED_LETTER = re.compile(f"[{_HAN}{_HANGUL}\u05d0-\u05ea\u0621-\u064a]")
_ROLES = alternatives(load_words("people", "uncased_roles"))
_NAME = rf"[{_HAN}]{{1,3}}\s?[{_HAN}\u3041-\u3096\u30a1-\u30fa]{{1,4}}|[{_HANGUL}]{{2,4}}"
# A role, a space or a colon, and a name of Han or Hangul, perhaps with its reading in brackets.
ROLE_AND_NAME = re.compile(
    rf"(?P<role>(?:{_ROLES}){{1,2}})(?:\s?(?P<colon>[:：])\s?|\s)(?P<name>{_NAME})(?=$|\s?[（(/／|,、])"
)
# Hebrew and Arabic titles, and the two words behind them.
TITLE_AND_NAME = re.compile(
    r"(?<!\w)(?P<title>ד[\"״]ר|עו[\"״]ד|רו[\"״]ח|פרופ['׳]|د\.|أ\.د\.)\s?"
    r"(?P<name>[א-תء-ي]{2,14}\s[א-תء-ي]{2,14}(?:-[א-תء-ي]{2,14})?)(?=$|\s?[,.|(–-])"
)


def find_uncased_names(text: str) -> list[NameCandidate]:
    """Return the names in a line: 院長 桐島 健一郎. 대표 : 강민재. ד"ר יעל אלמוג."""
    found = []
    if len(text) <= MAX_LINE and (match := ROLE_AND_NAME.match(text)) is not None:
        name = match["name"].strip()
        if _is_name(name, match["colon"] is not None):
            found.append(NameCandidate(_build_name(name), True, match["role"]))
    titled = TITLE_AND_NAME.finditer(text[:MAX_TEXT])
    return [*found, *(NameCandidate(_build_name(one["name"], one["title"]), False, "") for one in titled)]


def _is_name(name: str, behind_colon: bool) -> bool:
    """Tell a name from a heading: its first sign begins a family name, or its last one ends a given name."""
    if HANGUL.match(name):
        return len(name) == 3 and name[0] in KOREAN_SURNAMES
    if " " in name:
        return name[-1] in JAPANESE_ENDINGS
    return behind_colon and (name[0] in CHINESE_SURNAMES or (len(name) > 2 and name[-1] in JAPANESE_ENDINGS))


def _build_name(name: str, title: str = "") -> Name:
    # A title counts as much as a role; nothing else can add to the score of such a name.
    return Name(name, tuple(name.split()), title, "", SCORE + (0.3 if title else 0.0))
