"""Name candidates in a line of text: alone, beside a role, several side by side, behind a title, in running text."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from scrapersky.extract.people.candidate import Name, NameCandidate
from scrapersky.extract.people.labels import is_name_label
from scrapersky.extract.people.names import (
    ARTICLES,
    CAPITAL,
    GIVEN,
    MAX_NAME,
    NAME_START,
    PARTICLES,
    is_credential_line,
    is_given_name,
    is_role,
    is_role_word,
    is_title,
    parse_name,
    split_glued_titles,
)
from scrapersky.extract.people.names_without_capitals import UNCASED_LETTER, find_uncased_names
from scrapersky.extract.people.roles import NEXT_CLAUSE, is_title_line
from scrapersky.extract.text import fold_word
from scrapersky.extract.word_lists import load_words

MAX_IN_PROSE = 40
MAX_TITLES = 61
MAX_PARTS = 40
MAX_FUNCTION_WORDS = 4
SHORT_LINE = 70  # a longer line can only have a name at its beginning or behind a label
LONG_LINE = 170
LONG_ROW = 700  # of names side by side

# Two capitalised words or a title: a line without them has no name.
TWO_CAPITALS = re.compile(rf"[{CAPITAL}][\w'’.-]{{0,40}}[\s.]\s?(?:[a-z]{{1,3}}\s){{0,2}}['’(]?[{CAPITAL}]")
# By first letters, so that a word is tried against a few alternatives only.
TITLE = re.compile(
    r"(?:D(?:ra?|ipl|ott)|P(?:rof|hDr|astora?|farrer(?:in)?)|M(?:gr|UDr|DDr|VDr|ag|aître|me|rs?|s)|A(?:vv|dv)|F(?:ather|rau)"
    r"|JUDr|Ing|Rev|Sensei|Herr|mgr|lek|inż|Д-р|д-р)\b\.?(?=[\s.]?[\s.]?[^\W\d_])"
)
AFTER_TITLE = re.compile(r"[^,;:()\[\]|•·\n\d\"“”„«»!?&/]{3,60}")
CAPITALISED_WORDS = re.compile(
    rf"[{CAPITAL}][\w'’-]{{1,30}}"
    rf"(?:\s(?:(?:v[ao]n\s(?:de[rn]?\s)?|de\s(?:la\s|los\s)?|zu|ter|da|di|del|dos|du|la|le)\s?)?[{CAPITAL}][\w'’-]{{1,30}}){{1,4}}"
)
# Jane Roe, our owner, … and: Our owner, Jane Roe, …
CLAUSE_BEHIND = re.compile(r",\s(?P<role>(?:[^,.;:!?()]|\.(?=\s?[a-zà-ÿ])){3,60})(?=[,.;)]|$)")
CLAUSE_BEFORE = re.compile(r"(?:^|[.,;:!?]\s)(?P<role>[^,.;:!?()]{3,50}),\s$")
COPULAS = frozenset(("is", "ist", "est", "es", "è", "é", "är", "er", "jest", "je", "on", "was"))
MAX_APPOSITION = 6  # words
LAST_WORD = re.compile(r"[^\W\d_][\w-]{1,30}\s$")
ROW_SIGN = re.compile(r"[|•·;]")
SEPARATOR_SIGN = re.compile(r"[:(–—―,-]")
SEGMENT_SIGN = re.compile(r"[|•·;/&+]")
AND_WORD = re.compile(r"\s(?:und|and|et|y|e|i|a|ja|og|och|en)\s")
# Both begin with the one character they can begin with, so that the search skips all others.
SEGMENT = re.compile(
    r"[\s|•·;/](?:(?<=[|•·;/])\s?"
    r"|(?<=\s)(?:[|•·;/]\s?|\s?[&+]\s\s?|(?<!-\s)\s?(?:und|and|et|y|e|i|a|ja|og|och|en)\s(?=[^\W\d_a-zà-ÿ])))"
)
SEPARATOR = re.compile(r"[\s:(–—―,](?:(?<=\s)(?:[:(–—―-]\s?|,\s)|(?<=[:(])\s?|(?<=[–—―,])\s)")  # name, role
# The words with which people introduce themselves, in lower case.
OWN_NAME = re.compile(
    r"(?<!\w)(?:name is|names are|hei(?:ß|ss)en?|namens|m['’]appelle|(?:me|nos) llam(?:o|amos)"
    r"|(?:mi|ci) chiam(?:o|iamo)|me chamo|meu nome é|heter|hedder|heiti|nazywam się|jmenuji se|volám sa"
    r"|(?:zovem|kazvam) se|казвам се|(?:меня|нас) зовут|мене звати|mă numesc|(?:nimeni|nimemme) on"
    r"|(?:mu|minu) nimi on|ad[ıi]m|με λένε|heet)\s$"
)
I_AM = re.compile(
    r"(?<!\w)(?:i am|i['’]m|ich bin|je suis|soy|io sono|eu sou|jestem|jag är|jeg er|ik ben|olen|jsem|vagyok)\s$"
)
LAST_BEFORE_OWN_NAME = load_words("people", "own_name", "last")
DETERMINERS = load_words("people", "sentence", "our") | ARTICLES
AND_NEXT = re.compile(r"\s(?:und|and|et|y|e|i|a|ja|og|och|en|и|і|ve|și|és|&)\s(?=[^\W\d_])")
# Dipl.-Ing. (FH), Barr. (Mrs.): the kind of school behind a degree, a form of address behind a title.
SCHOOL_OF_DEGREE = re.compile(
    r"\((?:FH|TU|TH|BA|DH|ETH|HTL|HTWK|Uni|Univ|Mrs?|Ms|Miss|Dr|Smt|Sra?|Adv|Prof|Hon|Rtd|Retd|Frau|Herr)\.?\)\s?"
)
# Rajesh "Raj" Patel, Robert (Bob) Smith.
NICKNAME = re.compile(rf"[\"“”„'‘’(](?<=\w\s.)(?P<name>[{CAPITAL}]\w{{1,14}})[\"“”'‘’)]\s(?=[{CAPITAL}]\w)")
DASH = re.compile(r"\s?[-–—―]\s")
NUMBERING = re.compile(r"^\s?\d{1,2}[.)]\s")  # 1. Jane Roe
# A number or an address behind a name, perhaps with its label.
CONTACT_BEHIND = re.compile(
    r"[\s,;:(–—-]{1,3}(?:(?i:telefon|tel|phone|mobile?|mob|gsm|tlf|tfn|puh|kom|e-?mail|cell)[.:]{0,2}\s?){0,3}"
    r"(?:[\w.+-]{1,64}@|(?:[+(]\s?\d|0\d|\d{3}[-.\s])(?:\D{0,3}\d){4}).{0,200}$"
)


@lru_cache(8192)  # the pages of a site share header and footer
def find_name_candidates(text: str, parts: tuple[str, ...]) -> tuple[NameCandidate, ...]:
    """Return the names in the text of a block, given also as the parts into which inline markup splits it."""
    if len(text) < 4 and text.isascii():
        return ()
    if len(text) <= LONG_ROW and ("(" in text or '"' in text or "“" in text or "„" in text):
        text, parts = _without_insertions(text), tuple([_without_insertions(part) for part in parts])
    length = len(text)
    # Quick checks first: without two capitalised words or a title, only a name beside a sign is possible.
    capitals = TWO_CAPITALS.search(text)
    if not text.isascii() and UNCASED_LETTER.search(text) is not None:
        uncased = find_uncased_names(text)
        if uncased or capitals is None:
            return tuple(uncased)
    title = TITLE.search(text)
    if capitals is None and title is None and (length > MAX_NAME or not _may_have_label(text)):
        return ()
    found: list[NameCandidate] = []
    if length <= SHORT_LINE or len(parts) > 1 or _may_begin_with_name(text):
        found.extend(_in_line(text, parts))
    if title is not None and length > 8:
        found.extend(_behind_title(text, title.start()))
    if capitals is not None and length > 40:
        found.extend(_in_prose(text, capitals.start()))
    return tuple([_end_at_element(candidate, parts) for candidate in found] if len(parts) > 1 else found)


def _without_insertions(text: str) -> str:
    """Remove what is written inside names: the school of a degree, a nickname."""
    return NICKNAME.sub(_remove_nickname, SCHOOL_OF_DEGREE.sub("", text))


def _remove_nickname(match: re.Match[str]) -> str:
    # In brackets it may be a role: Jane Roe (Owner) John Doe.
    is_name = match[0][0] != "(" or fold_word(match["name"]) in GIVEN
    return "" if is_name else match[0]


def _end_at_element(candidate: NameCandidate, parts: tuple[str, ...]) -> NameCandidate:
    """End the name where its element ends: <b>Jane Roe</b> Surgery and care is not Jane Roe Surgery."""
    if any(candidate.name.text in part for part in parts):
        return candidate
    for index, part in enumerate(parts[:MAX_PARTS]):
        name = parse_name(part) if len(part) <= MAX_NAME + 40 else None
        if name is not None and len(name.words) > 1 and candidate.name.text.startswith(name.text):
            return NameCandidate(name, candidate.is_whole, candidate.role or _role_behind(parts, index))
    return candidate


def _may_have_label(text: str) -> bool:
    """Return whether the text is one word or has a separator: Maria. Owner: Maria."""
    return " " not in text or SEPARATOR_SIGN.search(text) is not None


def _may_begin_with_name(text: str) -> bool:
    """Return whether a longer line can begin with a name, have a label, or be a row of names."""
    if ":" in text or NAME_START.match(text) is not None:
        return True
    return len(text) <= LONG_ROW and ROW_SIGN.search(text) is not None


# -- lines ------------------------------------------------------------------------------------------------------------


def _in_line(text: str, parts: tuple[str, ...]) -> list[NameCandidate]:
    """Return the names that a line consists of: alone, beside a role, several side by side, or as a marked part."""
    found: list[NameCandidate] = []
    if len(text) <= LONG_LINE or (len(text) <= LONG_ROW and ROW_SIGN.search(text)):
        several = SEGMENT_SIGN.search(text) or AND_WORD.search(text)
        for segment in SEGMENT.split(text) if several else (text,):
            found.extend(_in_segment(segment))
    if found or len(parts) == 1:
        return found
    for index, part in enumerate(parts[: MAX_PARTS if len(text) <= LONG_ROW else 3]):
        if len(part) > MAX_NAME + 40:
            continue
        if candidates := _in_segment(part):
            role = _role_behind(parts, index)
            found.extend(candidate._replace(role=candidate.role or role) for candidate in candidates)
    if len(found) == 1 and len(parts) == 2 and found[0].name.text in parts[0] and is_title_line(parts[1]):
        return [found[0]._replace(role=found[0].role or parts[1].strip(" ,-–|()"), is_known_role=bool(found[0].role))]
    return found


def _role_behind(parts: tuple[str, ...], index: int) -> str:
    behind = parts[index + 1] if index + 1 < len(parts) else ""
    return behind.strip(" ,-–|()") if len(behind) < 160 and is_role(behind) else ""


def _in_segment(segment: str) -> list[NameCandidate]:
    segment = NUMBERING.sub("", segment).strip(" \t-–—•*|,;\"“”„'()")
    if not 4 <= len(segment) <= LONG_LINE:
        return []
    if "@" in segment or segment[-1].isdigit():
        segment = CONTACT_BEHIND.sub("", segment).rstrip(" ,;:|(–—-")
    whole = parse_name(segment)
    if whole is not None:
        return [NameCandidate(whole, True, "")]
    if " " not in segment or (len(segment) > SHORT_LINE and not _may_begin_with_name(segment)):
        return []
    if SEPARATOR_SIGN.search(segment) is None:
        return _behind_role(segment)
    pieces = [piece for piece in SEPARATOR.split(segment, maxsplit=3) if piece]
    return _behind_role(segment) if len(pieces) < 2 else _beside_role(segment, pieces)


def _beside_role(segment: str, pieces: list[str]) -> list[NameCandidate]:
    """Return the names in: Jane Roe, owner. Owner: Jane Roe. Jane Roe (owner). Jane Roe, John Doe. Name: Jane Roe."""
    role = next((piece for piece in pieces[1:] if not is_credential_line(piece)), pieces[1])
    rest = segment[segment.find(role, len(pieces[0])) :].strip(" ,:()-–—―")
    if is_name_label(pieces[0]) and (named := parse_name(rest)) is not None:
        return [NameCandidate(named._replace(score=named.score + 0.45), True, "")]
    first = parse_name(pieces[0])
    if first is not None and (other := _behind_role(rest)):
        return [NameCandidate(first, True, ""), *other]  # Jane Roe, master joiner John Doe
    if first is not None and (is_role(rest) or first.title):
        return [NameCandidate(first, True, rest if len(rest) < 120 else "")]
    if is_role(pieces[0]):
        if several := _several_names(rest):
            return [NameCandidate(name, True, pieces[0].strip()) for name in several]
        last = parse_name(rest) or parse_name(pieces[1]) or parse_name(pieces[-1])
        if last is not None:
            return [NameCandidate(last, True, _role_before(segment[: segment.find(last.text)]))]
        if behind := _behind_role(rest):
            return behind  # Owner: Master Joiner Jane Roe
    if first is None:
        return _behind_function(segment, pieces)
    if "(" in segment:
        return [NameCandidate(first, True, "")]  # Implantology (Dr. John Doe): a teacher
    row = [name for piece in pieces if (name := parse_name(piece)) is not None]
    if len(row) == 1 and len(first.words) > 1 and is_title_line(rest) and DASH.match(segment, len(pieces[0])):
        return [NameCandidate(first, True, rest, is_known_role=False)]
    return [NameCandidate(name, True, "") for name in (row if len(row) > 1 else [first])]


def _behind_function(segment: str, pieces: list[str]) -> list[NameCandidate]:
    """Return the names behind a function that is in no list: Warehouse – Jane Roe. Committee: Jane Roe, John Doe."""
    several = (
        _several_names(segment.partition(":")[2].strip()) if len(pieces) > 2 and f"{pieces[0]}:" in segment else []
    )
    if several:
        return [NameCandidate(name, True, pieces[0].strip(), is_known_role=False) for name in several]
    if len(pieces) != 2 or "(" in segment or "," in segment or len(pieces[0].split()) > MAX_FUNCTION_WORDS:
        return []
    name = parse_name(pieces[1])
    if name is None or len(name.words) < 2 or not pieces[0][0].isupper():
        return []
    return [NameCandidate(name, True, pieces[0].strip(), is_known_role=False)]


def _role_before(text: str) -> str:
    """Return the text before a name, without the titles of the name."""
    words = text.split()
    while words and is_title(words[-1]):
        words.pop()
    return " ".join(words).strip(" ,:()-–—―")


def _several_names(text: str) -> list[Name]:
    """Return the names if the text is a list of them, one of which is known: Jane Roe, John Doe."""
    pieces = text.split(", ")
    found = [name for piece in pieces if (name := parse_name(piece)) is not None and len(name.words) > 1]
    is_list = len(found) == len(pieces) > 1 and max(name.score for name in found) >= 0.2
    return found if is_list else []


def _behind_role(segment: str) -> list[NameCandidate]:
    """Return the name behind one or two role words: The Chairwoman Jane Roe, Pastor Jim."""
    words = segment.split()
    if not 3 <= len(words) <= 7 or not (words[-1][0].isupper() and words[-2][0].isupper()):
        return []
    for count in range(len(words) - 2, 0, -1):
        if is_role_word(fold_word(words[count - 1]).strip(".,:")):
            name = parse_name(" ".join(words[count:]))
            if name is not None and name.score >= 0.3:
                return [NameCandidate(name, True, " ".join(words[:count]))]
            return []
    return []


# -- running text -----------------------------------------------------------------------------------------------------


def _behind_title(text: str, first: int) -> Iterator[NameCandidate]:
    """Yield the names behind a title in running text; the first title begins at `first`."""
    end = 0
    for match in islice(TITLE.finditer(text, first), MAX_TITLES):
        start = match.start()
        if start < end or (start and text[start - 1].isalnum()):
            continue
        behind = AFTER_TITLE.match(text, start)
        if behind is None:
            continue
        name = _longest_titled_name(behind[0])
        if name is not None and len(name.words) > 1:
            end = start + len(name.text)
            yield NameCandidate(name, False, "")


def _longest_titled_name(text: str) -> Name | None:
    """Return the longest beginning of the text that is a name with a title."""
    words = split_glued_titles(text)[:9]
    stop = 0
    for word in words:
        if not (word[0].isupper() or is_title(word) or fold_word(word) in PARTICLES):
            break
        stop += 1
        if word.endswith(".") and len(word) > 4 and not is_title(word):
            break  # the sentence ends here
    for count in range(min(stop, 8), 1, -1):
        name = parse_name(" ".join(words[:count]).rstrip("."))
        if name is not None and name.title:
            return name
    return None


def _in_prose(text: str, first: int) -> Iterator[NameCandidate]:
    """Yield names behind a role or an introduction in running text: our founder Jane Roe. My name is Jane Roe."""
    own_name_end = -1  # where the last introduced name ended
    for match in islice(CAPITALISED_WORDS.finditer(text, first), MAX_IN_PROSE):
        words = match[0].split()
        start = match.start()
        bonus = _introduction_score(text, start) or (
            0.6 if start - own_name_end < 6 and AND_NEXT.match(text, own_name_end) else 0.0
        )
        name = parse_name(match[0]) if bonus else None
        if name is not None and len(name.words) > 1:
            own_name_end = match.end()
            yield NameCandidate(name._replace(score=max(name.score, 0.0) + bonus), False, "")
            continue
        # Otherwise only known given names, since prose has many capitalised words.
        if not is_given_name(words[0]) and not is_given_name(words[1]):
            continue
        apposition = _apposition(text, start, match.end())
        name = parse_name(match[0]) if apposition else None
        if name is not None and len(name.words) > 1 and name.score >= 0.3:
            yield NameCandidate(name, False, apposition)
            continue
        role = _word_before(text, start)
        if role in COPULAS:
            role = _word_before(text, start - len(role) - 1)  # Our chair is Jane Roe
        while len(words) > 2 and is_role_word(fold_word(words[0])):
            role = words.pop(0)  # German capitalises its nouns
        if not is_given_name(words[0]) or not is_role_word(fold_word(role)):
            continue
        name = parse_name(" ".join(words[:4]))
        if name is not None and len(name.words) > 1 and name.score >= 0.3:
            yield NameCandidate(name, False, role)


def _word_before(text: str, at: int) -> str:
    before = LAST_WORD.search(text[max(0, at - 40) : at])
    return before[0].strip() if before is not None else ""


def _apposition(text: str, start: int, end: int) -> str:
    """Return the role that stands behind or before a name in running text, between commas, or ""."""
    behind = CLAUSE_BEHIND.match(text, end)
    before = CLAUSE_BEFORE.search(text[max(0, start - 60) : start]) if text[start - 2 : start] == ", " else None
    for clause in (behind, before):
        words = NEXT_CLAUSE.sub("", f"{clause['role']} ").split() if clause is not None else []
        if words and fold_word(words[0]) in DETERMINERS:
            words = words[1:]
        if words and len(words) <= MAX_APPOSITION and any(is_role_word(fold_word(word)) for word in words[:3]):
            return " ".join(words)
    return ""


def _introduction_score(text: str, at: int) -> float:
    """Score the words before a name: 0.6 for "my name is" in many languages, 0.3 for "I am"."""
    before = text[max(0, at - 24) : at].lower()
    if before[before.rfind(" ", 0, -1) + 1 : -1] not in LAST_BEFORE_OWN_NAME:
        return 0.0
    if OWN_NAME.search(before) is not None:
        return 0.6
    return 0.3 if I_AM.search(before) is not None else 0.0
