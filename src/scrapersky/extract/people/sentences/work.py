"""What a sentence says about a person: that they work for the business, or belong to its family."""

import re
from functools import lru_cache

from scrapersky.extract.text import fold_word
from scrapersky.extract.word_lists import AffixSet, load_table, load_words

WORK = AffixSet(load_table("people")["work"]["words"].split())
RELATIVES = frozenset(map(fold_word, load_words("people", "work", "relatives")))
RELATIVES_AND_NAMES = frozenset(("cousin", "neta", "neto", "neveu", "nieto", "sobrino", "vnuk", "wnuk"))
FOUNDED = AffixSet(load_table("people")["work"]["founded"].split())
AMBIGUOUS = frozenset(map(fold_word, load_words("people", "work", "ambiguous")))
WORDS_BEFORE = 5
WORDS_BEHIND = 3
WORDS_OF_CLAUSE = 7  # of a relative clause: Jane Roe, die den Hofladen führt
SUBJECTS = frozenset(("I", "We", "we", "He", "he", "She", "she", "They", "they", "who"))
REACH = 70  # characters before and behind the name
_IS = load_table("people")["work"]["is"].split()
ROLE_OF_VERB = dict(zip(map(fold_word, _IS[::2]), _IS[1::2], strict=True))  # owns: owner
NOW = frozenset(map(fold_word, load_words("people", "work", "now")))
REACH_OF_NOW = 160
LONG_AGO = re.compile(r"(?<!\d)1(?:[5-8]\d\d|9[0-7]\d)(?!\d)")  # who worked then does not any more
SENTENCE_END = re.compile(r"[.;:!?…。](?=\s|$)")
CLAUSE_END = re.compile(r"[,.;:!?()–—…](?=\s|$)|\s[–—-]\s")
STOPS = ",.;:!?…()"
SENTENCE_STOPS = ".;:!?…"
WORD = re.compile(r"[^\W\d_][\w'’-]*+")


def is_of_long_ago(text: str, start: int, end: int) -> bool:
    """Return whether the clause of a name has a year in which nobody of today has worked."""
    if "1" not in text[max(0, start - REACH) : end + REACH]:
        return False
    before = CLAUSE_END.split(text[max(0, start - REACH) : start])[-1]
    behind = CLAUSE_END.split(text[end : end + REACH], maxsplit=1)[0]
    return LONG_AGO.search(before) is not None or LONG_AGO.search(behind) is not None


def is_founder_of_before(text: str, given: str, end: int) -> bool:
    """Return whether a later sentence or clause says who does it now, and does not name this person again."""
    if given in text[end:] or not _says_founded(text[max(0, end - REACH) : end]):
        return False
    return any(fold_word(word) in NOW for word in WORD.findall(text[end : end + REACH_OF_NOW]))


def _says_founded(text: str) -> bool:
    sentence = SENTENCE_END.split(text)[-1]
    return any(fold_word(word) in FOUNDED for word in WORD.findall(sentence))


def says_work(text: str, start: int, end: int) -> bool:
    """Return whether the words around a name say what the person does: Jane Roe runs …, the shop is run by Jane Roe."""
    before = words_before(text, start, WORDS_BEFORE)
    if len(before) > 1 and before[-2] in SUBJECTS and is_work(before[-1]):
        return False  # I founded Roe Roofing
    if any(map(is_work, before)):
        return True
    behind = text[end : end + REACH].split()
    is_clause = text[end : end + 1] == ","  # Jane Roe, who runs the shop
    for word in behind[is_clause : WORDS_OF_CLAUSE + 1 if is_clause else WORDS_BEHIND]:
        if is_work(word.rstrip(STOPS)):
            return True
        if word[-1] in STOPS:
            return False
    return False


def role_of_work(text: str, start: int, end: int) -> str:
    """Return what somebody is who owns or has founded the business: founded by Jane Roe gives founder; or ""."""
    behind = text[end : end + REACH].split()[:WORDS_BEHIND]
    words = (*reversed(words_before(text, start, WORDS_BEFORE)), *(word.rstrip(STOPS) for word in behind))
    return next((ROLE_OF_VERB[folded] for word in words if (folded := fold_word(word)) in ROLE_OF_VERB), "")


def words_before(text: str, at: int, count: int) -> list[str]:
    """Return the last words before a place, within the sentence."""
    found: list[str] = []
    for word in reversed(text[max(0, at - REACH) : at].split()[-count:]):
        if word[-1] in SENTENCE_STOPS:
            break
        found.append(word.rstrip(STOPS))
    return found[::-1]


def is_relative(word: str) -> bool:
    """Return whether a word before a name names a relative: his wife Jane Roe."""
    folded = fold_word(word)
    return folded in RELATIVES and not (folded in RELATIVES_AND_NAMES and word[:1].isupper())


def is_ambiguous_role(word: str) -> bool:
    """Return whether a role word before capitalised words may belong to a company: partner Northern Timber."""
    return fold_word(word) in AMBIGUOUS


@lru_cache(8192)
def is_work(word: str) -> bool:
    """Return whether a word says what a person does for the business."""
    return fold_word(word) in WORK
