"""How alike the names of two businesses are: legal forms, abbreviations, accents and other alphabets are ignored."""

import re
from difflib import SequenceMatcher
from functools import lru_cache

from scrapersky.extract.text import fold

MAX_LENGTH = 200
LEGAL_FORMS = frozenset(
    [
        "oy",
        "oyj",
        "ab",
        "ky",
        "tmi",
        "ry",
        "gmbh",
        "ag",
        "kg",
        "ohg",
        "ug",
        "mbh",
        "ev",
        "ltd",
        "llc",
        "inc",
        "co",
        "corp",
        "plc",
        "llp",
        "sa",
        "sas",
        "sarl",
        "srl",
        "spa",
        "sl",
        "bv",
        "nv",
        "as",
        "aps",
        "kft",
        "sro",
        "ooo",
        "ip",
        "lda",
        "eirl",
        "pc",
        "pllc",
        "pa",
        "limited",
        "company",
    ]
)
SMALL_WORDS = frozenset(
    [
        "the",
        "and",
        "und",
        "ja",
        "et",
        "y",
        "e",
        "of",
        "de",
        "la",
        "le",
        "les",
        "der",
        "die",
        "das",
        "och",
        "i",
        "von",
        "zum",
        "zur",
        "am",
        "city",
        "center",
        "downtown",
        "zentrum",
        "keskusta",
    ]
)
TITLES = frozenset(
    [
        "dr",
        "med",
        "dent",
        "prof",
        "dds",
        "dmd",
        "md",
        "phd",
        "mag",
        "dipl",
        "ing",
        "lääkäri",
        "hammaslääkäri",
        "doctor",
        "doktor",
        "rechtsanwalt",
        "rechtsanwältin",
        "avocat",
        "maître",
        "attorney",
        "esq",
        "notar",
        "notaire",
        "anwalt",
        "praxis",
        "vastaanotto",
        "cabinet",
    ]
)
SHORT_FORMS = {
    "rest": "restaurant", "ravintola": "restaurant", "rist": "ristorante", "pharm": "pharmacy", "str": "strasse",
    "ctr": "center", "centre": "center", "svc": "service", "svcs": "service", "services": "service", "bros": "brothers",
    "intl": "international", "assoc": "associates", "hosp": "hospital", "st": "saint", "mt": "mount", "autom": "auto",
}  # fmt: skip
_CYRILLIC = dict(
    zip(
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ",
        [
            "a",
            "b",
            "v",
            "g",
            "d",
            "e",
            "e",
            "zh",
            "z",
            "i",
            "i",
            "k",
            "l",
            "m",
            "n",
            "o",
            "p",
            "r",
            "s",
            "t",
            "u",
            "f",
            "kh",
            "ts",
            "ch",
            "sh",
            "shch",
            "_",
            "y",
            "_",
            "e",
            "yu",
            "ya",
            "i",
            "i",
            "ye",
            "g",
        ],
        strict=True,
    )
)
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψω",
        [
            "a",
            "v",
            "g",
            "d",
            "e",
            "z",
            "i",
            "th",
            "i",
            "k",
            "l",
            "m",
            "n",
            "x",
            "o",
            "p",
            "r",
            "s",
            "s",
            "t",
            "y",
            "f",
            "ch",
            "ps",
            "o",
        ],
        strict=True,
    )
)
_LATIN = str.maketrans({letter: "" if text == "_" else text for letter, text in {**_CYRILLIC, **_GREEK}.items()})
_WORD = re.compile(r"[^\W_]{1,60}")


@lru_cache(1 << 14)
def name_words(name: str) -> tuple[str, ...]:
    """Return the words that tell a name: in Latin letters, without legal forms and small words, written out."""
    plain = fold(name[:MAX_LENGTH]).translate(_LATIN).replace("'", "").replace("’", "").replace(".", ". ")
    words = [SHORT_FORMS.get(word, word) for word in _WORD.findall(plain)]
    kept = tuple(word for word in words if word not in LEGAL_FORMS and word not in SMALL_WORDS)
    return kept or tuple(words)


def has_title(name: str) -> bool:
    """Return whether a name is that of a person with a title, such as a doctor."""
    return not TITLES.isdisjoint(_WORD.findall(name[:MAX_LENGTH].casefold()))


def name_likeness(one: str, other: str) -> float:
    """Return between 0 and 1 how alike two names are."""
    first, second = (tuple(word for word in name_words(name) if word not in TITLES) for name in (one, other))
    if not first or not second:
        return 0.0
    if sorted(first) == sorted(second):
        return 1.0
    fewer, more = sorted((first, second), key=len)
    matched = sum(max(_word_likeness(word, candidate) for candidate in more) for word in fewer)
    by_words = matched / (len(fewer) * 0.6 + len(more) * 0.4)
    joined = SequenceMatcher(None, "".join(first), "".join(second), autojunk=False).ratio()
    return max(min(by_words, 1.0), joined)


def _word_likeness(one: str, other: str) -> float:
    if one == other:
        return 1.0
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= 3 and longer.startswith(shorter):  # an abbreviation
        return 0.85
    alike = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return alike if alike >= 0.75 else 0.0
