"""First and last name of a person, where the order of the name is known; otherwise both are empty.

The order is known by the form of the name (a comma, a family name in capitals, a patronymic, a script), by its words in
the lists of names, or by the language of the page. Words that may be either are in neither part.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from scrapersky.extract.people.names import FAMILY, FAMILY_ENDING, GIVEN, INITIAL, PATRONYMIC, parse_name
from scrapersky.extract.people.uncased.scripts import UNCASED_LETTER
from scrapersky.extract.text import fold_word
from scrapersky.extract.word_lists import load_table, load_words, word_set

FILE = "name_parts"
SUFFIXES = load_words(FILE, "suffixes")
PARTICLES = load_words(FILE, "particles")
PARTICLES_OF_GIVEN = load_words(FILE, "particles", "given")
SMALL_PARTICLES = load_words(FILE, "particles", "small")
ALL_PARTICLES = PARTICLES | SMALL_PARTICLES
JOINERS = load_words(FILE, "particles", "joiners")
VIETNAMESE = load_words(FILE, "family_first", "vietnamese")
KOREAN = load_words(FILE, "family_first", "korean")
COMPOUND_FIRST = load_words(FILE, "compound_given", "first")
COMPOUND_SECOND = load_words(FILE, "compound_given", "second")
SHORTENED: dict[str, str] = load_table(FILE)["shortened"]  # given names as Spanish and Portuguese write them

# Page languages and countries whose names have no single order in Latin or Cyrillic letters: the words decide.
MIXED_LANGUAGES = frozenset(("zh", "ja", "ko", "ru", "uk", "be", "kk", "ky", "uz", "tg", "tt", "mn", "km", "lo", "my"))
MIXED_REGIONS = frozenset(
    ("CN", "TW", "HK", "MO", "SG", "JP", "KR", "RU", "UA", "BY", "KZ", "KG", "UZ", "TJ", "MN", "KH")
)
DOUBLE_SURNAMES = frozenset(("es", "ca", "gl", "eu", "pt"))
DOUBLE_SURNAME_REGIONS = word_set("ES MX AR CO CL PE VE EC UY PY BO CR GT HN SV NI PA DO CU PR PT BR AO MZ")
MAX_WORDS = 8

QUOTED = re.compile(r"[\"“”„«»()（）\[\]].{0,40}?[\"“”„«»()（）\[\]]")
VIETNAMESE_LETTER = re.compile(r"[ăĂđĐơƠưƯ\u1ea0-\u1ef9]")
KOREAN_GIVEN = re.compile(r"[A-Z][a-z]{1,5}-[a-z]{2,6}")


class NameParts(NamedTuple):
    """Given and family name, as the name writes them."""

    first_name: str = ""
    last_name: str = ""


@lru_cache(4096)  # the pages of a site name the same people
def split_name(name: str, language: str = "", region: str = "", *, has_title: bool = False) -> NameParts:
    """Split a name without titles; `language` and `region` (a country) are those of the page, empty if unknown."""
    language, region = re.split("[-_]", language.lower())[0], region.upper()
    if UNCASED_LETTER.search(name):
        from scrapersky.extract.people.uncased.name_parts import split_uncased  # tables that few pages need

        return NameParts(*split_uncased(name, language, region))
    name = QUOTED.sub(" ", name)
    family, comma, given = name.partition(",")
    if comma:
        return NameParts(_joined(given.split()), _joined(family.split())) if given.strip() else NameParts()
    words = [word for word in name.split() if fold_word(word).strip(".") not in SUFFIXES or word == name.split()[0]]
    if len(words) > MAX_WORDS or not words:
        return NameParts()
    if len(words) == 1:
        return _single(words[0], has_title)
    return _by_capitals(words) or _by_patronymic(words, language) or _by_order(words, language, region)


def split_written_name(name: str, region: str = "") -> NameParts:
    """Split a name as a person or a file writes it, perhaps with titles: Dr. Jane Roe."""
    if UNCASED_LETTER.search(name):
        from scrapersky.extract.people.uncased.names import parse_uncased_name  # tables that few pages need

        parsed = parse_uncased_name(name)
    else:
        parsed = parse_name(name)
    if parsed is None:
        return split_name(name, region=region)
    return split_name(parsed.text, region=region, has_title=bool(parsed.title or parsed.credentials))


def _single(word: str, has_title: bool) -> NameParts:
    """Return a known given name as first name, and any other word behind a title as last name: Herr Müller."""
    if _is_given(word) and not _is_family(word):
        return NameParts(word, "")
    return NameParts("", word) if has_title and not _is_initial(word) else NameParts()


def _by_capitals(words: list[str]) -> NameParts | None:
    """Split a name whose family name alone is in capitals: DUPONT Jean, Jean DE LA TOUR."""
    capitals = [_is_in_capitals(word) for word in words]
    if all(capitals) or all(_is_particle(word) for word, flag in zip(words, capitals, strict=True) if flag):
        return None
    count = sum(capitals)
    if all(capitals[:count]):
        return NameParts(_joined(words[count:]), _joined(words[:count]))
    if all(capitals[-count:]):
        start = len(words) - count
        while start > 1 and words[start - 1].islower() and _is_particle(words[start - 1]):
            start -= 1  # Jean de LA TOUR
        return NameParts(_joined(words[:start]), _joined(words[start:]))
    return None


def _is_in_capitals(word: str) -> bool:
    letters = [letter for letter in word if letter.isalpha()]
    if len(letters) == 2:  # LI, not JP
        return word.isupper() and "." not in word and (_is_family(word) or _is_particle(word))
    return len(letters) > 2 and all(letter.isupper() for letter in letters) and "." not in word


def _by_patronymic(words: list[str], language: str) -> NameParts | None:
    """Split Петрова Мария Сергеевна and Мария Сергеевна Петрова; the patronymic belongs to the first name."""
    is_eastern = language in MIXED_LANGUAGES or "\u0400" <= words[0][0] <= "\u04ff"
    if len(words) == 2 and is_eastern and _is_patronymic(words[1]) and _is_given(words[0]):
        return NameParts(_joined(words), "")
    if len(words) != 3:
        return None
    if _is_patronymic(words[2]) and not _is_patronymic(words[1]):
        return NameParts(_joined(words[1:]), words[0])
    if _is_patronymic(words[1]):
        return NameParts(_joined(words[:2]), words[2])
    return None


def _by_order(words: list[str], language: str, region: str) -> NameParts:
    """Split by the words in the lists and by the order of the page's language."""
    if (vietnamese := _vietnamese(words, language, region)) is not None:
        return vietnamese
    if len(words) == 2 and fold_word(words[0]) in KOREAN and KOREAN_GIVEN.fullmatch(words[1]):
        return NameParts(words[1], words[0])  # Kim Min-su
    groups = _groups(words)
    if len(groups) == 1:
        return NameParts()
    has_doubles = language in DOUBLE_SURNAMES or (not language and region in DOUBLE_SURNAME_REGIONS)
    if has_doubles and all(_is_given(group) and not _is_family(group) for group in groups):
        return NameParts(_joined(groups), "")  # José Luis, without a family name
    order = _order(groups, language, region)
    if order == "family":
        return _family_first(groups)
    return (_double_surname(groups) if has_doubles else _given_first(groups)) if order == "given" else NameParts()


def _order(groups: list[str], language: str, region: str) -> str:
    """Return which name is first, `given` or `family`; empty if unknown or if the words contradict the language."""
    first, last = groups[0], groups[-1]
    if _is_initial(last):
        return "family" if _is_family(first) and not _is_given(first) else ""
    given = (_is_given(first) and not _is_family(first)) + (_is_family(last) and not _is_given(last))
    family = (_is_family(first) and not _is_given(first)) + (_is_given(last) and not _is_family(last))
    if language == "hu" or (not language and region == "HU"):
        is_open = _is_given(first) and family == 0 and not (_is_given(last) and not _is_family(last))
        return "given" if given == 2 else "" if is_open else "family"
    is_mixed = language in MIXED_LANGUAGES or region in MIXED_REGIONS or region in ("HU", "VN")
    if (not language and not region) or is_mixed or language == "vi":
        return "given" if given > 0 == family else "family" if family > 0 == given else ""
    return "family" if family == 2 else "" if family > given else "given"


def _vietnamese(words: list[str], language: str, region: str) -> NameParts | None:
    """Split a Vietnamese name, whose given name is the last word; None if it is none."""
    is_first, is_last = fold_word(words[0]) in VIETNAMESE, fold_word(words[-1]) in VIETNAMESE
    is_local = language == "vi" or (not language and region == "VN")
    is_written = VIETNAMESE_LETTER.search(" ".join(words)) is not None
    if is_first and (is_local or is_written) and not (is_last and len(words) == 2):
        return NameParts(words[-1], words[0])
    if is_first and not is_last and len(words) > 2 and fold_word(words[1]) in ("van", "thi", "duc", "minh", "thanh"):
        return NameParts(words[-1], words[0])
    return None


def _groups(words: list[str]) -> list[str]:
    """Join particles with the word behind them: Jan, van der Berg."""
    groups: list[str] = []
    pending: list[str] = []
    for index, word in enumerate(words):
        folded = fold_word(word).strip(".'’-")
        is_last = index == len(words) - 1
        if not is_last and groups and not pending and word.islower() and folded in JOINERS:
            pending = [groups.pop(), word]  # Puig i Cadafalch
        elif not is_last and _is_joined_to_next(word, folded, bool(groups)):
            pending.append(word)
        else:
            groups.append(" ".join((*pending, word)))
            pending = []
    return groups


def _is_joined_to_next(word: str, folded: str, has_groups: bool) -> bool:
    if folded in PARTICLES_OF_GIVEN:
        return True
    return has_groups and (folded in PARTICLES or (word.islower() and folded in SMALL_PARTICLES))


def _given_first(groups: list[str]) -> NameParts:
    """Take the last name from the first particle on, and the first name as long as words are given names."""
    start = next((index for index in range(1, len(groups)) if _is_particle(groups[index].split()[0])), len(groups) - 1)
    if " " in groups[start] and fold_word(groups[start].split()[0]) in PARTICLES_OF_GIVEN:
        start = len(groups) - 1
    return NameParts(_given_names(groups[:start]), _joined(groups[start:]))


def _double_surname(groups: list[str]) -> NameParts:
    """Take two family names unless the second word is only a given name: Ana García López, Ana María García."""
    start = 1
    while start < len(groups) - 1 and (
        (_is_given(groups[start]) and not _is_family(groups[start])) or _is_compound(groups[start - 1], groups[start])
    ):
        start += 1
    if start == 1 and len(groups) > 3:
        start = len(groups) - 2
    return NameParts(_joined(groups[:start]), _joined(groups[start:]))


def _family_first(groups: list[str]) -> NameParts:
    """Take the first word as last name, with a second one that is only a family name: Kovács Nagy Eszter."""
    count = 2 if len(groups) > 2 and _is_initial(groups[0]) else 1  # B. Nagy Péter
    while count < len(groups) - 1 and _is_family(groups[count]) and not _is_given(groups[count]):
        count += 1
    given = groups[count:]
    known = [index for index, one in enumerate(given) if _is_given(one) or _is_initial(one)]
    return NameParts(_joined(given[known[0] if known else -1 :]), _joined(groups[:count]))


def _given_names(groups: list[str]) -> str:
    """Return the first word, and those behind it that are given names; middle initials are left out."""
    first = 1
    while first < len(groups) and _is_initial(groups[first - 1]):
        first += 1  # J. Peter
    count = first
    while count < len(groups) and _is_given(groups[count]) and not _is_initial(groups[count]):
        count += 1
    return _joined(groups[:count])


def _is_particle(word: str) -> bool:
    return fold_word(word).strip(".'’-") in ALL_PARTICLES


def _is_initial(word: str) -> bool:
    return INITIAL.fullmatch(word) is not None and (len(word.strip(".")) < 2 or "." in word)


def _is_patronymic(word: str) -> bool:
    return PATRONYMIC.search(fold_word(word)) is not None


def _is_given(group: str) -> bool:
    return _is_listed(group, GIVEN)


def _is_family(group: str) -> bool:
    """Return whether the last word is a known family name, or has the ending of one (a short one ends given names)."""
    last = fold_word(group.split()[-1])
    if _is_listed(group, FAMILY):
        return True
    ending = FAMILY_ENDING.search(last)
    return ending is not None and (last not in GIVEN or len(ending[0]) > 3)


def _is_compound(first: str, second: str) -> bool:
    """Return whether two words are one given name though the second is also a family name: María Jesús, José Luis."""
    return _plain(first) in COMPOUND_FIRST and _plain(second) in COMPOUND_SECOND


def _plain(word: str) -> str:
    return SHORTENED.get(word.casefold().strip("."), fold_word(word))


def _is_listed(group: str, names: frozenset[str]) -> bool:
    word = _plain(group.split()[-1])
    return word in names or ("-" in word and all(part in names for part in word.split("-")))


def _joined(words: list[str]) -> str:
    return " ".join(words)
