"""Is this a person's name: read by its shape, its title and its words, without looking at the page around it."""

from functools import lru_cache
from typing import NamedTuple

from scrapersky.extract import regexes, word_lists
from scrapersky.extract.text import fold_word

GIVEN = word_lists.names("given_names")
FAMILY = word_lists.names("surnames")
TITLES = frozenset(fold_word(word).rstrip(".") for word in word_lists.words("people", "titles"))
CREDENTIALS = frozenset(word.replace(".", "") for word in word_lists.words("people", "credentials"))
PARTICLES = word_lists.words("people", "particles")
ORDINARY = word_lists.words("people", "ordinary")
ORGANISATIONS = word_lists.words("people", "organisations")
ROLES = word_lists.Stems(word for words in word_lists.table("people")["roles"].values() for word in words.split())
# In front of any name, so they say less than a doctor's title.
COURTESY = frozenset(
    ("mr", "mrs", "ms", "miss", "mx", "herr", "frau", "hr", "fr", "m", "mme", "mlle", "sr", "sra", "srta", "sig")
)
SHORT_TITLES = frozenset(("dr", "mr", "ms", "hr", "fr", "pd", "ir", "ra", "mw", "ks"))  # without a dot as well
MAX_NAME = 60


# As people write them, with accents and without; n. med. is Polish for a doctor of medicine.
WRITTEN_TITLES = {*TITLES, *(word.rstrip(".") for word in word_lists.words("people", "titles"))}
GATE = regexes.name_gate(
    word_lists.grouped_alternatives([*PARTICLES, *(word for word in WRITTEN_TITLES if len(word) > 1 or word == "n")])
)


class Name(NamedTuple):
    """A name and what speaks for it."""

    text: str  # without titles and credentials
    words: tuple[str, ...]  # folded
    title: str  # Dr. med. …
    credentials: str
    score: float


@lru_cache(8192)
def read(text: str) -> Name | None:
    """The name that the whole text is, or None."""
    if not 2 < len(text) <= MAX_NAME + 40 or GATE.match(text) is None:
        return None
    text, _, behind = text.partition(",")
    words = text.split()
    if not _may_be(words):
        return None
    credentials = behind.strip()
    if credentials and not all(map(_is_credential, credentials.replace(",", " ").split())):
        return None
    if "." in text:
        words = regexes.GLUED_TITLE.sub(r"\1. ", text).split()
    if len(words) > 9:
        return None
    titles, words = _titles(words)
    while len(words) > 1 and _is_credential(words[-1]):
        credentials = f"{words.pop()} {credentials}".strip()
    folded = tuple([fold_word(word).strip(".") for word in words])
    if not _has_shape(words, folded):
        return None
    if len(folded) == 1 and not titles and folded[0] not in GIVEN:
        return None  # one word is a name only when it is a known one
    score = _score(words, folded, titles, credentials)
    return Name(" ".join(words), folded, " ".join(titles), credentials, score) if score > -0.5 else None


def _may_be(words: list[str]) -> bool:
    """Most capitalised lines are headings: an ordinary first or last word without a title before it ends the matter."""
    if not words:
        return False
    first = fold_word(words[0]).strip(".")
    if len(words) == 1 and (
        (first not in GIVEN and "." not in words[0])  # no name, and no title glued to one
        or (len(words[0]) < 5 and words[0].isupper())
    ):
        return False
    if first in TITLES:
        return True
    last = fold_word(words[-1]).strip(".")
    if first in ORGANISATIONS or last in ORGANISATIONS:
        return False
    if first in ORDINARY and not (first in GIVEN and last in FAMILY):
        return False
    return last not in ORDINARY or last in FAMILY


@lru_cache(8192)
def is_role(text: str) -> bool:
    """Whether a short text names what somebody does."""
    return len(text) <= 160 and any(map(is_role_word, map(fold_word, regexes.WORD.findall(text))))


@lru_cache(8192)
def is_role_word(word: str) -> bool:
    """Whether a folded word, or a part of it behind a slash or hyphen, names a role."""
    if word in ROLES:
        return True
    if word.isalpha():
        return False
    return any(part in ROLES for part in regexes.WORD_BREAK.split(word) if len(part) > 2)


def _titles(words: list[str]) -> tuple[list[str], list[str]]:
    """Split what stands in front of the name from the name."""
    count = 0
    while count < len(words) - 1 and is_title(words[count]):
        count += 1
    return words[:count], words[count:]


@lru_cache(4096)
def is_title(word: str) -> bool:
    """Dr., mgr, Frau, Pastor … A capital M or H alone is a title only with its dot."""
    folded = fold_word(word).rstrip(".")
    if folded not in TITLES:
        return False
    is_short = len(folded) <= 2 and folded not in SHORT_TITLES
    return not is_short or word.endswith(".") or word == "HL"  # a Finnish dentist


@lru_cache(4096)
def _is_credential(word: str) -> bool:
    plain = word.strip(".,()").replace(".", "").lower()
    return plain in CREDENTIALS and (word[:1].isupper() or "." in word)


def _has_shape(words: list[str], folded: tuple[str, ...]) -> bool:
    """One to five capitalised words, perhaps with small particles between them."""
    if not 1 <= len(words) <= 6 or len(" ".join(words)) > MAX_NAME:
        return False
    if folded[0] in PARTICLES and words[0][0].islower():
        return False
    if not words[-1][0].isupper():
        return False
    capitals = longest = 0
    for word, plain in zip(words, folded, strict=True):
        longest = max(longest, len(plain))
        if plain in PARTICLES and word[0].islower():
            continue
        if not _is_name_word(word):
            return False
        capitals += 1
    return 1 <= capitals <= 5 and longest > 1


@lru_cache(8192)
def _is_name_word(word: str) -> bool:
    return regexes.NAME_WORD.fullmatch(word) is not None


@lru_cache(8192)
def _is_initial(word: str) -> bool:
    return regexes.INITIAL.fullmatch(word) is not None


def _score(words: list[str], folded: tuple[str, ...], titles: list[str], credentials: str) -> float:
    """How much the words themselves speak for a person: given names and titles for, ordinary words against."""
    first, last = folded[0], folded[-1]
    given = _known(first, GIVEN)
    family = _known(last, FAMILY) or regexes.FAMILY_ENDING.search(last) is not None
    if not given and len(folded) > 1 and _known(last, GIVEN) and _known(first, FAMILY):
        given = family = True  # family name first
    if not titles and _any_of(folded, ORGANISATIONS):
        return -1
    ordinary = _any_of(folded, ORDINARY)
    if ordinary and not titles and not (given and last in FAMILY):
        return -1
    roles = [word for word in folded[1:] if is_role_word(word)]
    if (is_role_word(first) and not given) or (roles and not (given and last in FAMILY)):
        return -1
    score = 0.3 * given + 0.1 * family - 0.1 * (not given and not family)
    if (roles or ordinary) and not titles:
        score -= 0.2  # James Baker may be a person; the page has to say so
    initials = [word for word in words if _is_initial(word)]
    if len(words) > 1 and _is_initial(words[-1]):
        score -= 0.15  # Maria S. writes reviews
    elif initials and len(words) > len(initials):
        score += 0.1
    if len(folded) == 1 and not regexes.GLUED_INITIAL.match(words[0]):
        score -= 0.25
    if any(fold_word(title).rstrip(".") not in COURTESY for title in titles):
        score += 0.66 if len(folded) > 1 else 0.45  # Dr. and two words are a person, whatever the words
    elif titles:
        score += 0.3
    return score + (0.25 if credentials else 0)


def _any_of(words: tuple[str, ...], listed: frozenset[str]) -> bool:
    """Whether a word is listed; the small words of names are not counted."""
    return not listed.isdisjoint(words) and any(word in listed and word not in PARTICLES for word in words)


def _known(word: str, names: frozenset[str]) -> bool:
    if word in names:
        return True
    return not word.isalpha() and any(part in names for part in regexes.WORD_BREAK.split(word) if len(part) > 2)
