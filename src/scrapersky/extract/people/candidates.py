"""The names in a line of text: alone, beside a role, in a row, behind a title, in running text."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from scrapersky.extract import regexes, word_lists
from scrapersky.extract.people import names, names_without_capitals
from scrapersky.extract.people.names import Name
from scrapersky.extract.text import fold_word

MAX_IN_PROSE = 40
LAST_BEFORE_OWN_NAME = word_lists.words("people", "own_name", "last")
MARKED_PARTS = 40
SHORT_LINE = 70  # a longer one names somebody at its beginning or behind a label, if at all
LONG_LINE = 170
LONG_ROW = 700  # names side by side


class NameCandidate(NamedTuple):
    """A name in a text."""

    name: Name
    whole: bool  # the line, or a marked part of it, is the name
    title: str  # a role on the same line


@lru_cache(8192)  # the pages of a site share their heads and feet
def mentions(text: str, parts: tuple[str, ...]) -> tuple[NameCandidate, ...]:
    """The names in a block's text, given also as the parts that inline markup cuts it into."""
    if len(text) < 4:
        return ()
    if len(text) <= LONG_ROW and ("(" in text or '"' in text or "“" in text or "„" in text):
        text, parts = _without_asides(text), tuple([_without_asides(part) for part in parts])
    length = len(text)
    # Quick looks first: a line without two capitals in a row or a title names nobody, or only beside a sign.
    capitals = regexes.TWO_CAPITALS.search(text)
    if capitals is None and not text.isascii() and regexes.EASTERN.search(text) is not None:
        return tuple([NameCandidate(one.name, one.whole, one.role) for one in names_without_capitals.find(text)])
    title = regexes.TITLE_IN_TEXT.search(text)
    if capitals is None and title is None and (length > names.MAX_NAME or not _may_label(text)):
        return ()
    found: list[NameCandidate] = []
    if length <= SHORT_LINE or len(parts) > 1 or _may_begin(text):
        found.extend(_in_line(text, parts))
    if title is not None and length > 8:
        found.extend(_titled(text, title.start()))
    if capitals is not None and length > 40:
        found.extend(_introduced(text, capitals.start()))
    return tuple([_ended(mention, parts) for mention in found] if len(parts) > 1 else found)


def _without_asides(text: str) -> str:
    """The text without what people write into a name: the school of a degree, a nickname."""
    return regexes.NICKNAME.sub(_nickname, regexes.SCHOOL_OF_DEGREE.sub("", text))


def _nickname(match: re.Match[str]) -> str:
    # In brackets it may be a role: Jane Roe (Owner) John Doe.
    is_name = match[0][0] != "(" or fold_word(match["name"]) in names.GIVEN
    return "" if is_name else match[0]


def _ended(mention: NameCandidate, parts: tuple[str, ...]) -> NameCandidate:
    """A name ends where its element does: <b>Jane Roe</b> Surgery and care is not Jane Roe Surgery."""
    if any(mention.name.text in part for part in parts):
        return mention
    for index, part in enumerate(parts[:MARKED_PARTS]):
        name = names.read(part) if len(part) <= names.MAX_NAME + 40 else None
        if name is not None and len(name.words) > 1 and mention.name.text.startswith(name.text):
            return NameCandidate(name, mention.whole, mention.title or _role_behind(parts, index))
    return mention


def _may_label(text: str) -> bool:
    """A single word, or one beside a sign: Maria. Owner: Maria."""
    return " " not in text or regexes.SEPARATOR_SIGN.search(text) is not None


def _may_begin(text: str) -> bool:
    """Whether a longer line can be a name and more: it begins with one, has a label, or is a row of them."""
    if ":" in text or names.GATE.match(text) is not None:
        return True
    return len(text) <= LONG_ROW and regexes.ROW_SIGN.search(text) is not None


def _in_line(text: str, parts: tuple[str, ...]) -> list[NameCandidate]:
    """Names that a line consists of: alone, before or behind a role, several side by side, or as its marked part."""
    found: list[NameCandidate] = []
    if len(text) <= LONG_LINE or (len(text) <= LONG_ROW and regexes.ROW_SIGN.search(text)):
        several = regexes.SEGMENT_SIGN.search(text) or regexes.AND_WORD.search(text)
        for segment in regexes.SEGMENT.split(text) if several else (text,):
            found.extend(_in_segment(segment))
    if found or len(parts) == 1:
        return found
    for index, part in enumerate(parts[: MARKED_PARTS if len(text) <= LONG_ROW else 3]):
        if len(part) > names.MAX_NAME + 40:
            continue
        mentions = _in_segment(part)
        if mentions:
            role = _role_behind(parts, index)
            found.extend(mention._replace(title=mention.title or role) for mention in mentions)
    return found


def _role_behind(parts: tuple[str, ...], index: int) -> str:
    behind = parts[index + 1] if index + 1 < len(parts) else ""
    return behind.strip(" ,-–|()") if len(behind) < 160 and names.is_role(behind) else ""


def _in_segment(segment: str) -> list[NameCandidate]:
    segment = segment.strip(" \t-–—•*|,;\"“”„'()")
    if not 4 <= len(segment) <= LONG_LINE:
        return []
    whole = names.read(segment)
    if whole is not None:
        return [NameCandidate(whole, True, "")]
    if alone := _before_number(segment):
        return [NameCandidate(alone, True, "")]
    if " " not in segment or (len(segment) > SHORT_LINE and not _may_begin(segment)):
        return []
    if regexes.SEPARATOR_SIGN.search(segment) is None:
        return _behind_role(segment)
    pieces = [piece for piece in regexes.SEPARATOR.split(segment, maxsplit=3) if piece]
    if len(pieces) < 2:
        return _behind_role(segment)
    return _beside_role(segment, pieces)


def _before_number(segment: str) -> Name | None:
    """Jane Roe 0701 23 45 68: nothing but a name and a number."""
    number = regexes.NUMBER_BEHIND.search(segment) if segment[-1].isdigit() else None
    name = names.read(segment[: number.start()]) if number is not None else None
    return name if name is not None and len(name.words) > 1 else None


def _beside_role(segment: str, pieces: list[str]) -> list[NameCandidate]:
    """Jane Roe, owner. Owner: Jane Roe. Jane Roe (owner). Jane Roe, John Doe."""
    rest = segment[len(pieces[0]) :].strip(" ,:()-–—―")
    first = names.read(pieces[0])
    if first is not None and (other := _behind_role(rest)):
        return [NameCandidate(first, True, ""), *other]  # Jane Roe, master joiner John Doe
    if first is not None and (names.is_role(rest) or first.title):
        return [NameCandidate(first, True, rest if len(rest) < 120 else "")]
    if names.is_role(pieces[0]):
        if several := _several(rest):
            return [NameCandidate(name, True, pieces[0].strip()) for name in several]
        last = names.read(rest) or names.read(pieces[1]) or names.read(pieces[-1])
        if last is not None:
            return [NameCandidate(last, True, _role_before(segment[: segment.find(last.text)]))]
        if behind := _behind_role(rest):
            return behind  # Owner: Master Joiner Jane Roe
    if first is None:
        return []
    row = [name for piece in pieces if (name := names.read(piece)) is not None]
    return [NameCandidate(name, True, "") for name in (row if len(row) > 1 else [first])]


def _role_before(text: str) -> str:
    """What stands before a name, without the titles of the name itself."""
    words = text.split()
    while words and names.is_title(words[-1]):
        words.pop()
    return " ".join(words).strip(" ,:()-–—―")


def _several(text: str) -> list[Name]:
    """Jane Roe, John Doe: nothing but names, and a known one among them."""
    pieces = text.split(", ")
    found = [name for piece in pieces if (name := names.read(piece)) is not None and len(name.words) > 1]
    is_row = len(found) == len(pieces) > 1 and max(name.score for name in found) >= 0.3
    return found if is_row else []


def _behind_role(segment: str) -> list[NameCandidate]:
    """The Chairwoman Jane Roe, Pastor Jim: a role word or two, then the name."""
    words = segment.split()
    if not 3 <= len(words) <= 7 or not (words[-1][0].isupper() and words[-2][0].isupper()):
        return []
    for count in range(len(words) - 2, 0, -1):
        if names.is_role_word(fold_word(words[count - 1]).strip(".,:")):
            name = names.read(" ".join(words[count:]))
            if name is not None and name.score >= 0.3:
                return [NameCandidate(name, True, " ".join(words[:count]))]
            return []
    return []


def _titled(text: str, first: int) -> Iterator[NameCandidate]:
    """Names behind a title in running text; the first title is known."""
    end = 0
    for count, match in enumerate(regexes.TITLE_IN_TEXT.finditer(text, first)):
        start = match.start()
        if count > 60 or start < end or (start and text[start - 1].isalnum()):
            continue
        behind = regexes.AFTER_TITLE.match(text, start)
        if behind is None:
            continue
        name = _longest(behind[0])
        if name is not None and len(name.words) > 1:
            end = start + len(name.text)
            yield NameCandidate(name, False, "")


def _introduced(text: str, first: int) -> Iterator[NameCandidate]:
    """Names behind a role in running text: our founder Jane Roe. Only known names, for prose is full of capitals."""
    known_until = -1  # where a name ended that somebody gave as their own
    for count, match in enumerate(regexes.CAPITALS_IN_A_ROW.finditer(text, first)):
        if count >= MAX_IN_PROSE:
            return
        words = match[0].split()
        start = match.start()
        own = _gives_own_name(text, start) or (
            0.6 if start - known_until < 6 and regexes.AND_ALONE.match(text, known_until) else 0.0
        )
        name = names.read(match[0]) if own else None
        if name is not None and len(name.words) > 1:
            known_until = match.end()
            yield NameCandidate(name._replace(score=max(name.score, 0.0) + own), False, "")
            continue
        if fold_word(words[0]) not in names.GIVEN and fold_word(words[1]) not in names.GIVEN:
            continue
        before = regexes.LAST_WORD.search(text[max(0, match.start() - 40) : match.start()])
        role = before[0].strip() if before is not None else ""
        while len(words) > 2 and names.is_role_word(fold_word(words[0])):
            role = words.pop(0)  # German writes its nouns with capitals
        if fold_word(words[0]) not in names.GIVEN or not names.is_role_word(fold_word(role)):
            continue
        name = names.read(" ".join(words[:4]))
        if name is not None and len(name.words) > 1 and name.score >= 0.3:
            yield NameCandidate(name, False, role)


def _gives_own_name(text: str, at: int) -> float:
    """How much it says that the words before are: my name is, ich heiße, vi heter; or only: I am."""
    before = text[max(0, at - 24) : at].lower()
    if before[before.rfind(" ", 0, -1) + 1 : -1] not in LAST_BEFORE_OWN_NAME:
        return 0.0
    if regexes.OWN_NAME.search(before) is not None:
        return 0.6
    return 0.3 if regexes.I_AM.search(before) is not None else 0.0


def _longest(text: str) -> Name | None:
    """The longest beginning of the text that is a name: stop where the sentence goes on."""
    words = regexes.GLUED_TITLE.sub(r"\1. ", text).split()[:9]
    stop = 0
    for word in words:
        if not (word[0].isupper() or names.is_title(word) or fold_word(word) in names.PARTICLES):
            break
        stop += 1
        if word.endswith(".") and len(word) > 4 and not names.is_title(word):
            break  # the sentence ends here
    for count in range(min(stop, 8), 1, -1):
        name = names.read(" ".join(words[:count]).rstrip("."))
        if name is not None and name.title:
            return name
    return None
