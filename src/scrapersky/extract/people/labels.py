"""Labels of names and headings of sections: Name: Jane Roe, a table head 氏名, Our team, What customers say."""

import re
from functools import lru_cache

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.people.names import is_role_word
from scrapersky.extract.word_lists import AffixSet, alternatives, load_table, load_words

MAX_LABEL = 40
MAX_HEADING = 160
LABELS = load_words("people", "name_label")
GROUPS = load_words("people", "team", "groups")
TEAM_WORDS = GROUPS | load_words("people", "team", "people")
REVIEW_WORDS = load_words("people", "reviews")
OTHERS_WORDS = load_words("people", "others") | load_words("people", "others", "players")
GUESTS = AffixSet(load_table("people")["others"]["guests"].split())
SIGN_OFFS = frozenset(phrase.replace("_", " ") for phrase in load_words("people", "sign_offs"))
OFFER_WORDS = load_words("people", "offers")
TEAM_INSIDE = re.compile(alternatives(load_words("people_uncased", "headings", "team")))
REVIEWS_INSIDE = re.compile(alternatives(load_words("people_uncased", "headings", "reviews")))
IMPRINT = re.compile(
    r"impressum|imprint|legal notice|mentions l[eé]gales|aviso legal|note legali|colofon|informa[çt][õi]es legais"
    r"|anbieterkennzeichnung|特定商取引|impresszum|tiráž|nota prawna",
    re.I,
)
OFFERS_INSIDE = re.compile(alternatives(load_words("people_uncased", "headings", "offers")))


@lru_cache(2048)
def is_name_label(text: str) -> bool:
    """Return whether a text labels a name: Name, Nimi, 氏名."""
    if len(text) > MAX_LABEL:
        return False
    words = folded_words(text)
    return (bool(words) and LABELS.issuperset(words)) or text.strip(" :：") in LABELS


@lru_cache(2048)
def is_team_heading(text: str) -> bool:
    """Return whether a heading or the title of a page announces people of the business."""
    return _has_word(text, TEAM_WORDS, TEAM_INSIDE)


@lru_cache(2048)
def is_review_heading(text: str) -> bool:
    """Return whether a heading announces customers."""
    return _has_word(text, REVIEW_WORDS, REVIEWS_INSIDE)


@lru_cache(2048)
def is_heading_of_others(text: str) -> bool:
    """Return whether a heading announces people who are nobody of the business: donors, winners, speakers."""
    return len(text) <= MAX_HEADING and not OTHERS_WORDS.isdisjoint(folded_words(text))


@lru_cache(2048)
def is_guest(role: str) -> bool:
    """Return whether a role is that of a guest: Guest speaker, Gastdozentin."""
    return any(word in GUESTS for word in folded_words(role)[:2])


@lru_cache(2048)
def is_imprint_title(text: str) -> bool:
    """Return whether the title of a page is that of an imprint, which names the owner."""
    return IMPRINT.search(text[:MAX_HEADING]) is not None


@lru_cache(2048)
def is_sign_off(text: str) -> bool:
    """Return whether a line ends a letter, so that a signature follows: Yours sincerely, Ihre."""
    return len(text) <= MAX_LABEL and text.strip(" ,.!–-").lower() in SIGN_OFFS


@lru_cache(2048)
def is_offer_heading(text: str) -> bool:
    """Return whether a heading announces what the business offers or stands for, not who works there."""
    return _has_word(text, OFFER_WORDS, OFFERS_INSIDE)


@lru_cache(2048)
def is_group_heading(text: str) -> bool:
    """Return whether a heading names a group, which is nobody's role: Team, Vorstand; but not Board of Trustees."""
    words = folded_words(text)
    return not GROUPS.isdisjoint(words) and not any(is_role_word(word) for word in words if word not in GROUPS)


def _has_word(text: str, words: frozenset[str], inside: re.Pattern[str]) -> bool:
    if len(text) > MAX_HEADING:
        return False
    return not words.isdisjoint(folded_words(text)) or (not text.isascii() and inside.search(text) is not None)
