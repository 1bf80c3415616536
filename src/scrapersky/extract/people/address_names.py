"""Whose address it is, by its part before the @: anna.roe, a.roe and roe may be Anna Roe's."""

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import groupby

from scrapersky.extract.short_names import full_forms
from scrapersky.extract.text import fold

MAX_NAME = 100
MAX_ADDRESS = 320
MIN_PART = 3  # letters of a word that stands alone
MAX_INITIALS = 4
MIN_GLUED = 3  # letters of a family name that is glued to an initial
BREAK = re.compile(r"[\W\d_]++")
TITLES = frozenset(("dr", "prof", "mr", "mrs", "ms", "frau", "herr", "ra", "mag", "ing", "rev", "pastor"))
# Cyrillic and Greek letters as they are written in addresses, in the reduced form of _SPELLINGS.
_LATIN = str.maketrans(
    {
        **dict(zip("абвгґдезиіклмнопрстуфхцчшыэј", "abvggdeziiklmnoprstufhccsiei", strict=True)),
        "ж": "z",
        "й": "i",
        "щ": "sc",
        "ю": "iu",
        "я": "ia",
        "є": "ie",
        "ї": "i",
        "ё": "e",
        "ь": "",
        "ъ": "a",
        **dict(zip("αβγδεζηθικλμνοπρσςτφχω", "abgdezitiklmnoprsstfho", strict=True)),
        "υ": "i",
        "ξ": "ks",
        "ψ": "ps",
        "β": "v",
    }
)
# One spelling for what addresses spell in several ways: Müller mueller, Щукин shchukin schukin, Yulia Julia.
_SPELLINGS = (
    *(("sch", "s"), ("sh", "s"), ("ch", "c"), ("zh", "z"), ("kh", "h"), ("ts", "c"), ("tz", "c"), ("ph", "f")),
    *(("th", "t"), ("ae", "a"), ("oe", "o"), ("ue", "u"), ("ou", "u"), ("aa", "a"), ("x", "ks"), ("w", "v")),
    *(("y", "i"), ("j", "i")),
)


class AddressMatch(IntEnum):
    """How much of a name an address has."""

    NONE = 0
    WORD = 1  # the given or the family name, or a short form: bob for Robert
    INITIAL = 2  # one of them and the initial of the other
    FULL = 3


@lru_cache(8192)  # the pages of a site name the same people and addresses
def match_name(name: str, address: str) -> AddressMatch:
    """Return how much of the name is in the address before the @."""
    words, parts = _words(name), _parts(address)
    if not _full_forms(parts).isdisjoint(words):
        parts = tuple([next((full for full in full_forms(part) if full in words), part) for part in parts])
    plain, glued = "".join(parts), _reduce("".join(parts))
    # Most pairs have nothing in common, which one search for each word shows.
    if not any(len(word) >= MIN_PART and (word in plain or _reduce(word) in glued) for word in words):
        return AddressMatch.NONE
    return _match_parts(words, parts) if len(parts) > 1 else _match_glued(words, parts[0])


def find_owners(names: Sequence[str], addresses: Iterable[str]) -> dict[int, tuple[AddressMatch, str]]:
    """Return, by index of the name, the address that has most of it; none that has as much of another name.

    Of two addresses with as much of one name the first is returned.
    """
    best: dict[int, tuple[AddressMatch, str]] = {}
    for address in addresses if names else ():
        matches = [match_name(name, address) for name in names]
        strongest = max(matches)
        owner = matches.index(strongest)
        if strongest > best.get(owner, (AddressMatch.NONE, ""))[0] and matches.count(strongest) == 1:
            best[owner] = (strongest, address)
    return best


def find_owners_by_initials(names: Sequence[str], addresses: Iterable[str]) -> dict[int, str]:
    """Return, by index of the name, the address that is its initials, if they are those of one name only."""
    owners: dict[int, str] = {}
    for address in addresses if names else ():
        local = address.partition("@")[0]
        if (
            1 < len(local) <= MAX_INITIALS
            and len(found := [i for i, name in enumerate(names) if local in _initials(name)]) == 1
        ):
            owners.setdefault(found[0], address)
    return owners


def latin_spelling(word: str) -> str:
    """Return one Latin spelling for a folded word that is written in several ways: Müller mueller, Щукин shchukin."""
    return _reduce(word.replace("ου", "u").translate(_LATIN))


@lru_cache(4096)
def _parts(address: str) -> tuple[str, ...]:
    """Return the words of an address before the @, without titles."""
    parts = [part for part in BREAK.split(fold(address[:MAX_ADDRESS]).partition("@")[0]) if part]
    return tuple([part for part in parts if part not in TITLES] or parts)


def _match_parts(words: Sequence[str], parts: Sequence[str]) -> AddressMatch:
    """Compare the name with several words: anna.roe, a.roe, roe.anna, anna.van.der.roe."""
    reduced, known = [_reduce(part) for part in parts], {_reduce(word) for word in words}
    tails = {_reduce("".join(words[start:])) for start in range(1, len(words) - 1)}  # anna.vanderroe
    if len(set(reduced)) > 1 and all(part in known or part in tails for part in reduced):
        return AddressMatch.FULL
    if len(parts) > 2 and _has_two_names([_reduce(word) for word in words], reduced):
        return AddressMatch.FULL
    short = [part for part in parts if len(part) <= 2]
    long = [part for part in parts if len(part) > 2]
    if len(long) != 1 or len(short) != 1 or _reduce(long[0]) not in known | tails:
        return AddressMatch.NONE
    others = [word for word in words if _reduce(word) != _reduce(long[0])]
    initials = "".join(word[0] for word in others)
    is_initial = short[0] in initials if len(short[0]) == 1 else short[0] == initials
    return AddressMatch.INITIAL if is_initial else AddressMatch.NONE


def _has_two_names(words: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether given and family name are among other words: anna.roe.dentist."""
    families = {words[-1], *[word for word in words[1:2] if len(word) > MIN_PART]}
    return words[0] in parts and words[0] not in families and not families.isdisjoint(parts)


def _match_glued(words: Sequence[str], local: str) -> AddressMatch:
    """Compare the name with one word: annaroe, roeanna, aroe, roea, annar, roe, anna."""
    wanted = _reduce(local)
    pairs = [(one, other) for one in words for other in words if one != other]
    if any(wanted == _reduce(one + other) for one, other in pairs) or (
        len(words) > 2 and wanted == _reduce("".join(words))
    ):
        return AddressMatch.FULL
    if any(len(word) >= MIN_PART and wanted == _reduce(word) for word in words):
        return AddressMatch.WORD
    for one, other in pairs:
        if len(one) >= MIN_GLUED and wanted in (_reduce(other[0] + one), _reduce(one + other[0])):
            return AddressMatch.INITIAL
    return AddressMatch.NONE


@lru_cache(4096)
def _full_forms(parts: tuple[str, ...]) -> frozenset[str]:
    """Return the given names of which an address has a short form."""
    return frozenset[str]().union(*[full_forms(part) for part in parts])


@lru_cache(4096)
def _words(name: str) -> tuple[str, ...]:
    """Return the words of a name in Latin letters, without initials."""
    plain = fold(name[:MAX_NAME]).replace("ου", "u")
    words = [word.translate(_LATIN) for word in BREAK.split(plain) if len(word) > 1]
    return tuple(words) if all(word.isascii() for word in words) else ()


@lru_cache(4096)
def _initials(name: str) -> frozenset[str]:
    """Return the initials of a name: jar and jr of Jane Ann Roe."""
    letters = [word.translate(_LATIN)[:1] for word in BREAK.split(fold(name[:MAX_NAME])) if word]
    return frozenset(("".join(letters), letters[0] + letters[-1])) if len(letters) > 1 else frozenset()


@lru_cache(8192)
def _reduce(word: str) -> str:
    for spelling, reduced in _SPELLINGS:
        word = word.replace(spelling, reduced)
    return "".join([letter for letter, _ in groupby(word)])
