"""Name candidates in a line of text: alone, beside a role, several side by side, behind a title, in running text."""

import re
from collections.abc import Iterator
from functools import lru_cache

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.people.candidate import Name, NameCandidate
from scrapersky.extract.people.labels import is_department, is_name_label
from scrapersky.extract.people.names import (
    CAPITAL,
    GIVEN,
    MAX_NAME,
    NAME_START,
    TITLES,
    VIETNAMESE_TITLE,
    has_patronymic,
    is_credential_line,
    is_family_name,
    is_given_name,
    is_role,
    is_role_word,
    is_title,
    parse_name,
)
from scrapersky.extract.people.roles import OUR_WORDS, SENTENCE_WORDS, is_sentence, is_title_line, role_in_sentence
from scrapersky.extract.people.sentences.lists import find_listed_people
from scrapersky.extract.people.sentences.running_text import (
    AND_NEXT,
    KNOWN,
    TITLE,
    are_introduced,
    behind_title,
    given_name_before_and,
    in_prose,
    with_brackets,
)
from scrapersky.extract.people.uncased.scripts import UNCASED_LETTER
from scrapersky.extract.text import fold_word

MAX_PARTS = 40
MAX_FUNCTION_WORDS = 4
VERBS = SENTENCE_WORDS | {"er", "ar", "es", "e", "je", "on", "leads", "runs"}  # behind a name: a sentence
SHORT_LINE = 70  # a longer line can only have a name at its beginning or behind a label
LONG_LINE = 170
MIN_LINE = 4
MIN_PROSE = 40  # characters of running text
MIN_SENTENCE = 16
LONG_ROW = 700  # of names side by side

# Two capitalised words or a title: a line without them has no name.
TWO_CAPITALS = re.compile(rf"[{CAPITAL}][\w'’.-]{{0,40}}[\s.]\s?(?:['’]?[a-z]{{1,3}}\s){{0,2}}['’(]?[{CAPITAL}]")
UNKNOWN = -0.1  # the score of a name of no list
MIN_ROLE = 6  # letters of a word before a given and a family name
MIN_LONG_ROLE = 9  # letters of a word that is hardly a given name
ROW_SIGN = re.compile(r"[|•·;]")
DASH = re.compile(r"\s[–—-]\s")
LABELLED_FACT = re.compile(r"[^\W\d_][^:]{2,40}:\s")
# What may stand between two names of a line, or between a name and a role.
ANY_SIGN = re.compile(
    r"[:：(–—―,|•·;/&+-]|\s(?:und|and|et|y|e|i|a|ja|og|och|en|eta|ir|un|sowie|sekä|samt|oraz|или|и|і|та|και|ve|és|și)\s"
)
TOKEN = re.compile(r"\w[\w'’.-]*+")
SEPARATOR_SIGN = re.compile(r"[:：(–—―,-]")
SEGMENT_SIGN = re.compile(r"[|•·;/&+]")
AND_WORD = re.compile(r"\s(?:und|and|et|y|e|i|a|ja|og|och|en|eta)\s")
# Both begin with the one character they can begin with, so that the search skips all others.
SEGMENT = re.compile(
    r"[\s|•·;/](?:(?<=[|•·;/])(?<!\d/)\s?"
    r"|(?<=\s)(?:[|•·;/]\s?|\s?[&+]\s\s?|(?<!-\s)\s?(?:und|and|et|y|e|i|a|ja|og|och|en|eta)\s(?=[^\W\d_a-zà-ÿ])))"
)
SEPARATOR = re.compile(r"[\s:：(–—―,](?:(?<=\s)(?:[:(–—―-]\s?|,\s)|(?<=[:：(])\s?|(?<=[–—―,])\s)")  # name, role
# Dipl.-Ing. (FH), Barr. (Mrs.): the kind of school behind a degree, a form of address behind a title.
SCHOOL_OF_DEGREE = re.compile(
    r"\((?:FH|TU|TH|BA|DH|ETH|HTL|HTWK|Uni|Univ|Mrs?|Ms|Miss|Dr|Smt|Sra?|Adv|Prof|Hon|Rtd|Retd|Frau|Herr)\.?\)\s?"
)
# Rajesh "Raj" Patel, Robert (Bob) Smith.
NICKNAME = re.compile(rf"[\"“”„'‘’(](?<=[\w.]\s.)(?P<name>[{CAPITAL}]\w{{1,14}})[\"“”'‘’)]\s(?=[{CAPITAL}]\w)")
JOINED_FAMILY = re.compile(
    rf"(?:[{CAPITAL}][\w'’-]{{1,20}}|[dl]['’][{CAPITAL}]\w{{1,20}}|d[aeo]s?)(?:\s(?:[{CAPITAL}][\w'’-]{{1,20}}|[dl]['’][{CAPITAL}]\w{{1,20}}|d[aeo]s?)){{1,3}}"
    rf"\s[eyi]\s(?P<last>[{CAPITAL}][\w'’-]{{1,20}})(?=$|,|\s[(–—-])"
)
NEXT_LABEL = re.compile(r"(?<=[^\W\d_]{3})\.\s(?=[^\W\d_][^:.@\d]{2,30}:\s)")
ADDRESS_IN_BRACKETS = re.compile(r"\s?\(\s?[\w.+-]{1,64}@[\w.-]{3,64}\s?\)\s?(?=[–—-]\s)")
TERM = re.compile(r"\s?\(\d{1,4}[^()]{0,12}\)")  # Treasurer (2 years): Jane Roe
NEXT_LABEL_IN_ROW = re.compile(r"[,;]\s(?=[^\W\d_][^:,;.@\d]{2,30}:\s)")
BY = re.compile(r"\sv/\s?")  # Værksted v/ Jens Roe
NUMBERING = re.compile(r"\s?\d{1,2}[.)]\s")  # 1. Jane Roe
# A number or an address behind a name, perhaps with its label.
CONTACT_BEHIND = re.compile(
    r"[\s,;:(–—-]{1,3}(?:(?i:telefon[eo]?|t[eé]l[eé]phone|t[eé]l|phone|mobiel|mobile?|mob|m[oó]vil|handy|gsm|tlm"
    r"|tlf|tfn|puh|kom|p|s|sími|símar|"
    r"t|m|celular|cell?|e-?mail|mail|courriel|correo|тел|моб|τηλ|el\. p)[.:]{0,2}\s?){0,3}"
    r"(?:[\w.+-]{1,64}@|(?:[+(]\s?\d|0\d|\d{2,4}[-.\s])(?:\D{0,3}\d){4}).{0,200}$"
)


def find_name_candidates(text: str, parts: tuple[str, ...]) -> tuple[NameCandidate, ...]:
    """Return the names in the text of a block, given also as the parts into which inline markup splits it."""
    return () if _is_in_small_letters(text) else _find_candidates(text, parts)


def _is_in_small_letters(text: str) -> bool:
    """Return whether a longer line has neither a capital nor a title, so that it has no name."""
    if not text.isascii():
        return False
    if len(text) < MIN_LINE:
        return True
    if len(text) <= SHORT_LINE or not text.islower() or " v/" in text:
        return False
    # Substring searches first: these are the titles in small letters.
    return not ("dr" in text or "mgr" in text or "lek" in text) or TITLE.search(text) is None


@lru_cache(8192)  # the pages of a site share header and footer
def _find_candidates(text: str, parts: tuple[str, ...]) -> tuple[NameCandidate, ...]:
    if len(text) <= LONG_ROW and ("(" in text or '"' in text or "“" in text or "„" in text):
        text, parts = _without_insertions(text), tuple([_without_insertions(part) for part in parts])
        if "@" in text and len(text) <= LONG_LINE and NAME_START.match(text) is not None:
            text = ADDRESS_IN_BRACKETS.sub(" ", text)  # Jane Roe (roe@roe.example) – cook
    if " v/" in text:
        text = BY.sub(": ", text)
    length = len(text)
    # Quick checks first: without two capitalised words or a title, only a name beside a sign is possible.
    capitals = TWO_CAPITALS.search(text)
    if not text.isascii() and UNCASED_LETTER.search(text) is not None:
        from scrapersky.extract.people.uncased.candidates import find_uncased_names  # tables that few pages need

        uncased = find_uncased_names(text, parts)
        if uncased or capitals is None:
            return tuple(uncased)
    title = TITLE.search(text)
    if capitals is None and title is None and (length > MAX_NAME or not _may_have_single_name(text, parts)):
        return ()
    found: list[NameCandidate] = []
    if length <= SHORT_LINE or len(parts) > 1 or _may_begin_with_name(text) or _may_list_roles(text):
        found.extend(_in_line(text, parts))
    if title is not None and length > 8:
        found.extend(behind_title(text, title.start()))
    if capitals is not None and (length > MIN_PROSE or (not found and length > MIN_SENTENCE)):
        found.extend(in_prose(text, capitals.start()))
        if text.count("(") > 1 and not any(one.is_whole for one in found) and (listed := with_brackets(text)):
            names = {one.name.text for one in listed}
            found = [*listed, *(one for one in found if one.name.text not in names)]
    if len(parts) > 1:
        found = [_end_at_element(candidate, parts) for candidate in found]
    return tuple([*found, *_with_shared_family_name(text, found)] if found and AND_NEXT.search(text) else found)


def _with_shared_family_name(text: str, found: list[NameCandidate]) -> Iterator[NameCandidate]:
    """Yield people whose family name stands only behind another given name: Jane and John Roe."""
    for candidate in found:
        words = candidate.name.text.split()
        at = text.find(candidate.name.text)
        given = given_name_before_and(text, at) if len(words) > 1 and at > 4 else None
        if given is None:
            continue
        is_introduced = are_introduced(text, given)
        if not is_introduced and not (is_given_name(given["given"]) and is_given_name(words[0])):
            continue
        name = parse_name(f"{given['given']} {' '.join(words[1:])}")
        before = text[: given.start()].split()
        is_whole_name = (
            bool(before) and before[-1][-1].isalpha() and is_given_name(before[-1])
        )  # Anna Ruth and John Doe
        if name is None or is_whole_name:
            continue
        if is_introduced:
            yield candidate._replace(name=name._replace(score=max(name.score, candidate.name.score)))
        elif name.score >= KNOWN:
            yield candidate._replace(name=name)


def _without_insertions(text: str) -> str:
    """Remove what is written inside names: the school of a degree, a nickname."""
    return NICKNAME.sub(_remove_nickname, SCHOOL_OF_DEGREE.sub("", text))


def _remove_nickname(match: re.Match[str]) -> str:
    # In brackets it may be a role: Jane Roe (Owner) John Doe.
    is_name = match[0][0] != "(" or fold_word(match["name"]) in GIVEN
    return "" if is_name else match[0]


def _end_at_element(candidate: NameCandidate, parts: tuple[str, ...]) -> NameCandidate:
    """End the name where its element ends: <b>Jane Roe</b> Surgery and care is not Jane Roe Surgery."""
    is_of_two = parts[0].isupper() and candidate.name.text == f"{parts[0]} {parts[1]}"  # <b>ROE</b> <i>Jane</i>
    if is_of_two or any(candidate.name.text in part for part in parts):
        return candidate
    for index, part in enumerate(parts[:MAX_PARTS]):
        name = parse_name(part) if len(part) <= MAX_NAME + 40 else None
        if name is None or not candidate.name.text.startswith(name.text):
            continue
        behind = parts[index + 1] if index + 1 < len(parts) else ""
        if len(name.words) == 1 and candidate.name.text == f"{name.text} {behind}" and _is_function(behind):
            return NameCandidate(name, candidate.is_whole, behind)  # <b>Lisa</b> <i>Reception</i>
        if len(name.words) > 1:
            role = candidate.role or _role_behind(parts, index)
            if not role and candidate.is_whole and index == 0 and len(parts) == 2 and is_title_line(behind):
                return NameCandidate(name, True, behind, is_known_role=False)  # <b>Jane Roe</b> <i>Glazes</i>
            return NameCandidate(name, candidate.is_whole, role)
    return candidate


def _is_function(text: str) -> bool:
    return is_role(text) or is_department(text)


def _may_have_single_name(text: str, parts: tuple[str, ...]) -> bool:
    """Return whether the text is a given name, or has one or a title beside a separator: Maria. Owner: Maria."""
    if " " in text and SEPARATOR_SIGN.search(text) is None:
        return False
    tokens = TOKEN.findall(text if len(parts) == 1 else " ".join([text, *parts]))
    return any(map(_is_name_or_title, tokens)) or (not text.isascii() and VIETNAMESE_TITLE.search(text) is not None)


@lru_cache(1 << 15)
def _is_name_or_title(token: str) -> bool:
    """Return whether a word, or a part of it between dots, is a given name or a title."""
    word = fold_word(token)
    if not word.isalpha():
        word = word.strip(".-'’")
    if word in GIVEN or word in TITLES:
        return True
    return "." in word and any(part in GIVEN or part in TITLES for part in word.split("."))


def _may_begin_with_name(text: str) -> bool:
    """Return whether a longer line can begin with a name, have a label, or be a row of names."""
    if ":" in text or NAME_START.match(text) is not None:
        return True
    return len(text) <= LONG_ROW and ROW_SIGN.search(text) is not None


def _may_list_roles(text: str) -> bool:
    """Return whether a longer line may be a list with roles: 1st chairwoman Jane Roe, treasurer John Doe."""
    if len(text) > LONG_LINE or ", " not in text:
        return False
    first = next((word for word in text.split()[:2] if word[0].isalpha()), "")
    return is_role_word(fold_word(first))


# -- lines ------------------------------------------------------------------------------------------------------------


def _in_line(text: str, parts: tuple[str, ...]) -> list[NameCandidate]:
    """Return the names that a line consists of: alone, beside a role, several side by side, or as a marked part."""
    found: list[NameCandidate] = []
    if len(parts) > 1 and parts[0].isupper() and (split := _in_two_parts(parts)):
        return split
    if len(text) <= SHORT_LINE and len(parts) == 1 and ANY_SIGN.search(text) is None:
        return _in_segment(text)
    labelled = NEXT_LABEL.split(text) if text.count(": ") > 1 and len(text) <= LONG_ROW else ()
    if len(labelled) < 2 and ", " in text and text.count(":") > 1 and len(text) <= LONG_ROW:
        labelled = NEXT_LABEL_IN_ROW.split(text)
    if len(labelled) > 1 and all(is_role(part.partition(":")[0]) for part in labelled):
        return [one for part in labelled for one in _in_line(part, (part,))]  # Chair: Jane Roe. Treasurer: John Doe
    if len(parts) > 1 and len(parts[0]) <= MAX_NAME and AND_WORD.search(parts[0]) and _is_function(parts[0]):
        name = parse_name(CONTACT_BEHIND.sub("", parts[1]).strip(" ,:–—-"))
        if name is not None and len(name.words) > 1:
            return [NameCandidate(name, True, parts[0].strip(" :"))]  # <b>Sales and export</b> Jane Roe
    if len(text) <= LONG_LINE or (len(text) <= LONG_ROW and ROW_SIGN.search(text)):
        if listed := find_listed_people(text):
            return listed
        several = SEGMENT_SIGN.search(text) or AND_WORD.search(text)
        segments = _segments(text) if several else [text]
        row = segments if len(segments) > 1 and ROW_SIGN.search(text) is not None else []
        for index, segment in enumerate(segments):
            found.extend(_with_segment_beside(candidate, row, index) for candidate in _in_segment(segment))
            if not found and len(segments) > 1 and index == 0 and text[-1] in ".!?":
                break  # a sentence that ends with a name
        if len(found) == 1 and len(segments) > 1 and found[0].name.score < 0 and not found[0].role:
            found = []  # Youth & Outreach Worker
    if found or len(parts) == 1:
        return found
    for index, part in enumerate(parts[: MAX_PARTS if len(text) <= LONG_ROW else 3]):
        if len(part) > MAX_NAME + 40:
            continue
        if candidates := _in_segment(part):
            role = _role_behind(parts, index)
            found.extend(_with_role(candidate, role, parts, index) for candidate in candidates)
    if len(found) == 1 and len(parts) == 2 and found[0].name.text in parts[0] and is_title_line(parts[1]):
        if (words := folded_words(parts[1])) and words[0] in VERBS:
            return [found[0]._replace(role=found[0].role or role_in_sentence(f"{parts[0]} {parts[1]}"))]
        return [found[0]._replace(role=found[0].role or parts[1].strip(" ,-–|()"), is_known_role=bool(found[0].role))]
    return found


def _in_two_parts(parts: tuple[str, ...]) -> list[NameCandidate]:
    """Return the name whose family name in capitals is an element of its own: <b>ROE</b> <i>Jane</i> <i>Cook</i>."""
    family, given, behind = (*parts[:3], "")[:3]
    if given.isupper() or "@" in given or len(family) + len(given) > MAX_NAME:
        return []
    name = parse_name(f"{family} {given}") if is_given_name(given.partition(" ")[0]) or not is_role(given) else None
    if name is None or len(name.words) < 2 or name.text != f"{family} {given}":
        return []
    role = behind.strip(" ,-–|()") if is_title_line(behind) else ""
    return [NameCandidate(name._replace(score=max(name.score, 0.1)), True, role, is_known_role=is_role(role))]


def _segments(text: str) -> list[str]:
    """Split a line at signs and at "and", but not inside two joined family names: Ana Prat i Soler, advocada."""
    joined = JOINED_FAMILY.match(text)
    if joined is None or not is_given_name(text.partition(" ")[0]) or is_given_name(joined["last"]):
        return SEGMENT.split(text)
    first, *others = SEGMENT.split(text[joined.end() :]) or [""]
    return [joined[0] + first, *others]


def _with_segment_beside(candidate: NameCandidate, row: list[str], index: int) -> NameCandidate:
    """Add the role that stands behind a name in a row, else before it: Jane Roe · Cook · 01234 56789."""
    for beside in (index + 1, index - 1) if row and candidate.is_whole and not candidate.role else ():
        role = row[beside].strip(" ,-–") if 0 <= beside < len(row) else ""
        if is_title_line(role) and not _in_segment(role) and (is_role(role) or beside > index):
            return candidate._replace(role=role, is_known_role=is_role(role))
    return candidate


def _with_role(candidate: NameCandidate, role: str, parts: tuple[str, ...], index: int) -> NameCandidate:
    """Add the role in the next element; a text of no list may be one if a number or an address stands behind it."""
    if candidate.role or role:
        return candidate._replace(role=candidate.role or role)
    behind = parts[index + 1].strip(" ,-–|()") if index + 2 < len(parts) else ""
    if index == 0 and len(candidate.name.words) > 1 and is_title_line(behind) and parse_name(behind) is None:
        return candidate._replace(role=behind, is_known_role=False)
    return candidate


def _role_behind(parts: tuple[str, ...], index: int) -> str:
    behind = parts[index + 1] if index + 1 < len(parts) else ""
    if behind.startswith("(") and ")" in behind:
        behind = behind[1 : behind.index(")")]  # <b>Jane Roe</b> (cook) and …
    if (words := folded_words(behind[:40])) and words[0] in VERBS:
        return role_in_sentence(f"{parts[index]} {behind}")  # <b>Jane Roe</b> is the owner
    return behind.strip(" ,-–|()") if len(behind) < 160 and is_role(behind) else ""


def _in_segment(segment: str) -> list[NameCandidate]:
    segment = _without_number(segment).strip(" \t-–—•*|,;\"“”„'()")
    if not 4 <= len(segment) <= LONG_LINE:
        return []
    if "@" in segment or segment[-1].isdigit():
        segment = CONTACT_BEHIND.sub("", segment).rstrip(" ,;:|(–—-")
    whole = parse_name(segment)
    if whole is not None:
        return [_without_long_word(whole)]
    if segment[-1] == ":" and (whole := parse_name(segment[:-1].rstrip())) is not None:
        return [NameCandidate(whole, True, "")] if whole.score >= KNOWN and len(whole.words) > 1 else []  # Jane Roe:
    if ", " in segment and (several := _in_list_with_roles(segment.split(", "))):
        return several
    if " " not in segment or (len(segment) > SHORT_LINE and not _may_begin_with_name(segment)):
        return []
    if SEPARATOR_SIGN.search(segment) is None:
        return _behind_role(segment)
    pieces = [piece for piece in SEPARATOR.split(segment, maxsplit=3) if piece]
    found = _behind_role(segment) if len(pieces) < 2 else _beside_role(segment, pieces)
    if not found and len(facts := DASH.split(segment)) > 1 and LABELLED_FACT.match(facts[-1]) is not None:
        return _in_segment(facts[-1])  # Roe Interiors Ltd – Director: Jane Roe
    return found


def _in_list_with_roles(parts: list[str]) -> list[NameCandidate]:
    """Return the people of: Chairwoman Jane Roe, treasurer John Doe. Members Jane Roe, John Doe."""
    behind = [_behind_role(part) for part in parts]
    if (found := [one for several in behind for one in several])[1:]:
        return [one for part in parts for one in _behind_role(part, UNKNOWN)]
    names = [name for part in parts[1:] if (name := parse_name(part)) is not None and name.score > 0]
    if not behind[0] or any(len(name.words) < 2 for name in names) or len(names) < len(parts) - 1:
        return []
    return [*found, *(NameCandidate(name, True, found[0].role) for name in names)]


def _without_number(segment: str) -> str:
    number = NUMBERING.match(segment)
    rest = segment[number.end() :] if number is not None else segment
    is_of_role = number is not None and rest != "" and is_role_word(fold_word(rest.split()[0]).strip(".,:"))
    return segment if is_of_role else rest  # 2. Vorsitzende: a deputy


def _without_long_word(name: Name) -> NameCandidate:
    """Return the name; a long word of no list before a known name is a role: Materialforvalter Jostein Roe."""
    first, _, rest = name.text.partition(" ")
    last = name.words[-1]
    least = MIN_ROLE if is_family_name(last) and not is_given_name(last) else MIN_LONG_ROLE
    if len(first) >= least and first.isalpha() and len(name.words) > 2 and not (name.title or first.endswith("né")):
        known = parse_name(rest) if not is_given_name(first) and not is_family_name(first) else None
        if known is not None and known.score >= KNOWN and not has_patronymic(known):
            return NameCandidate(known, True, first, is_known_role=False)
    return NameCandidate(name, True, "")


def _beside_role(segment: str, pieces: list[str]) -> list[NameCandidate]:
    """Return the names in: Jane Roe, owner. Owner: Jane Roe. Jane Roe (owner). Jane Roe, John Doe. Name: Jane Roe."""
    role = next((piece for piece in pieces[1:] if not is_credential_line(piece)), pieces[1])
    rest = segment[segment.find(role, len(pieces[0])) :].strip(" ,:()-–—―")
    if is_name_label(pieces[0]) and (named := parse_name(rest)) is not None:
        return [NameCandidate(named._replace(score=named.score + 0.45), True, "")]
    first = parse_name(pieces[0])
    if first is not None and (other := _behind_role(rest)):
        return [NameCandidate(first, True, ""), *other]  # Jane Roe, master joiner John Doe
    if first is not None and len(first.words) == 1 and ":" in segment and (len(rest) > MAX_NAME or is_sentence(rest)):
        return []  # Tor: Jonas Roe. Coach John Doe was content
    if first is not None and first.score < KNOWN and ":" in segment and (several := _several_names(rest)):
        return [NameCandidate(name, True, pieces[0].strip(), is_known_role=False) for name in several]
    if first is not None and first.score < KNOWN and segment.startswith(f"{pieces[0]}:") and not is_role(rest):
        return _behind_role(DASH.split(segment)[-1])  # Electoral Roll: vacant
    if first is not None and (is_role(rest) or first.title):
        return [NameCandidate(first, True, rest if is_role(rest) or is_title_line(rest) else "")]
    if is_role(pieces[0]):
        if several := _several_names(rest, UNKNOWN):
            return [NameCandidate(name, True, pieces[0].strip()) for name in several]
        last = parse_name(rest) or parse_name(pieces[1]) or parse_name(pieces[-1]) or _before_sentence_end(rest)
        if last is not None:
            before = segment.partition(last.text)[0] if last.text in segment else pieces[0]  # Chair: Roe, Jane
            return [NameCandidate(last, True, _role_before(before))]
        if behind := _behind_role(rest):
            return behind  # Owner: Master Joiner Jane Roe
    if first is None:
        return _behind_function(segment, pieces)
    row = [name for piece in pieces if (name := parse_name(piece)) is not None and (len(name.words) > 1 or name.title)]
    if len(row) == 1 and len(first.words) > 1 and is_title_line(rest) and len(rest.split()) <= MAX_FUNCTION_WORDS:
        return [NameCandidate(first, True, rest, is_known_role=False)]
    if "(" in segment:
        return [NameCandidate(first, True, "")]  # Implantology (Dr. John Doe): a teacher
    return [NameCandidate(name, True, "") for name in (row if len(row) > 1 else [first])]


def _before_sentence_end(text: str) -> Name | None:
    """Return the name that is the first sentence of a text: Editor: Jane Roe. Photos: John Doe."""
    first, end, _ = text.partition(". ")
    return parse_name(first) if end else None


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
    if name is None or len(name.words) < 2 or not (pieces[0][0].isupper() or pieces[0][0].isdigit()):
        return []
    return [NameCandidate(name, True, pieces[0].strip(), is_known_role=False)]


def _role_before(text: str) -> str:
    """Return the text before a name, without the titles of the name."""
    before, _, last = text.rstrip(" :").rpartition(". ")
    if before.strip().isdecimal():
        last = text.rstrip(" :")  # 2. Vorsitzende
    words = (last if is_role(last) else text).split()  # Roe Pharmacy Ltd. Pharmacist: Jane Roe
    while words and is_title(words[-1]):
        words.pop()
    if len(words) > 1 and fold_word(words[0]) in OUR_WORDS:
        words = words[1:]  # Our cook, Jane Roe
    return TERM.sub("", " ".join(words)).strip(" ,:()-–—―")


def _last_role(text: str) -> str:
    """Return the role behind the name of a business: Garage Roe, Inh."""
    before, comma, last = text.rpartition(", ")
    return last if comma and is_role(last) and not is_role(before) else text


def _several_names(text: str, least: float = 0.2) -> list[Name]:
    """Return the names if the text is a list of them, one of which is known (none needs to be behind a role)."""
    pieces = text.split(", ")
    found = [name for piece in pieces if (name := parse_name(piece)) is not None and len(name.words) > 1]
    is_list = len(found) == len(pieces) > 1 and max(name.score for name in found) >= least
    return found if is_list else []


def _behind_role(segment: str, least: float = 0.2) -> list[NameCandidate]:
    """Return the name behind one or two role words: The Chairwoman Jane Roe, Pastor Jim."""
    words = _without_number(segment).split()
    if not 3 <= len(words) <= 7 or not (words[-1][0].isupper() and words[-2][0].isupper()):
        return []
    for count in range(len(words) - 2, 0, -1):
        if is_role_word(fold_word(words[count - 1]).strip(".,:")):
            name = parse_name(" ".join(words[count:]))
            if name is not None and name.score >= least:
                return [NameCandidate(name, True, _last_role(" ".join(words[:count]).rstrip(" :")))]
            return []
    return []
