"""Labels of names and headings of sections: Name: Jane Roe, a table head 氏名, Our team, What customers say."""

import re
from functools import lru_cache

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.people.names import is_role_word
from scrapersky.extract.word_lists import AffixSet, alternatives, load_table, load_words

MAX_LABEL = 40
MAX_HEADING = 160
MIN_SIGN_OFF = 6  # letters of a last word that ends a letter: Sevgi ve saygılarımla
MAX_DEPARTMENT_WORDS = 4
MAX_GUEST = 3  # words of a role: visiting teacher
ELIDED = re.compile(r"^(?:l|d|un|qu|all|dall|dell|nell|sull)['’](?=\w)")
LABELS = load_words("people", "name_label")
GROUPS = load_words("people", "team", "groups")
TEAM_WORDS = GROUPS | load_words("people", "team", "people")
REVIEW_WORDS = load_words("people", "reviews")
CUSTOMER_WORDS = load_words("people", "reviews", "customers")
SERVING_WORDS = load_words("people", "reviews", "serving") | TEAM_WORDS
OTHERS_WORDS = load_words("people", "others") | load_words("people", "others", "players")
PARTNER_WORDS = load_words("people", "others", "partners")
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
WORDS_FOR_CONTACTS = load_words("phones", "phone") | load_words("phones", "fax") | load_words("people", "contact_label")
DEPARTMENTS = AffixSet(load_table("people")["departments"]["words"].split())
DEPARTMENT_LABELS = load_words("people", "departments", "labels")
NO_TITLES = load_words("people", "role_label", "no_titles")
CONTACT_LABELS = load_words("people", "departments", "contacts") | LABELS
DEPARTMENTS_INSIDE = re.compile(alternatives(load_words("people", "departments", "inside")))
# What a business has in its name: GmbH, S.r.l., 株式会社.
LEGAL_FORM = re.compile(
    r"(?<!\w)(?:GmbH|mbH|AG|KG|OHG|UG|e\.\s?K\.|Ltd|Limited|LLC|Inc|S\.?r\.?l|S\.?p\.?A|S\.?n\.?c|S\.L|S\.A|SARL|SAS|EURL|PLLC|LLP|Pty|PLC|Lda|Ltda"
    r"|B\.?V|N\.V|[Ss]p\.\s?z\s?o|s\.\s?r\.\s?o|a\.\s?s\.|Kft|Zrt|S\.?R\.?L|Oyj?|ApS|A/S|ООО|ОАО|ТОВ|ЕООД|ООД|Ε\.?Π\.?Ε|Ι\.?Κ\.?Ε"
    r"|A\.Ş|Şti|OÜ|SIA|UAB|d\.\s?o\.\s?o)(?!\w)|株式会社|有限会社|合同会社|（株）|\(株\)|㈱|주식회사|㈜|\(주\)|有限公司"
)
OFFERS_INSIDE = re.compile(alternatives(load_words("people_uncased", "headings", "offers")))


@lru_cache(2048)
def is_name_label(text: str) -> bool:
    """Return whether a text labels a name: Name, Nimi, 氏名."""
    if len(text) > MAX_LABEL:
        return False
    return _is_label(text, LABELS)


@lru_cache(2048)
def is_team_heading(text: str) -> bool:
    """Return whether a heading or the title of a page announces people of the business."""
    return _has_word(text, TEAM_WORDS, TEAM_INSIDE)


@lru_cache(2048)
def is_review_heading(text: str) -> bool:
    """Return whether a heading announces customers, and not those who serve them: Client Services."""
    if _has_word(text, REVIEW_WORDS, REVIEWS_INSIDE):
        return True
    if len(text) > MAX_HEADING or CUSTOMER_WORDS.isdisjoint(words := folded_words(text)):
        return False
    return not any(word in SERVING_WORDS or word in DEPARTMENTS or is_role_word(word) for word in words)


@lru_cache(2048)
def is_heading_of_others(text: str) -> bool:
    """Return whether a heading announces people who are nobody of the business: donors, winners, speakers."""
    words = folded_words(text) if len(text) <= MAX_HEADING else ()
    return not OTHERS_WORDS.isdisjoint(words) and (
        CUSTOMER_WORDS.isdisjoint(words) or SERVING_WORDS.isdisjoint(words)  # not: Client relations
    )


@lru_cache(2048)
def is_heading_of_partners(text: str) -> bool:
    """Return whether a heading announces partners: other firms, or the owners of a law firm."""
    return len(text) <= MAX_HEADING and not PARTNER_WORDS.isdisjoint(folded_words(text))


@lru_cache(2048)
def is_guest(role: str) -> bool:
    """Return whether a role is that of a guest: Guest speaker, Gastdozentin."""
    return any(word in GUESTS for word in folded_words(role)[:MAX_GUEST])


@lru_cache(2048)
def is_imprint_title(text: str) -> bool:
    """Return whether the title of a page is that of an imprint, which names the owner."""
    return IMPRINT.search(text[:MAX_HEADING]) is not None


@lru_cache(2048)
def is_no_title(text: str) -> bool:
    """Return whether a label beside a name is nobody's title: Contact, Author, Vacancies, General."""
    words = folded_words(text) if 0 < len(text) <= MAX_LABEL else ()
    return bool(words) and NO_TITLES.issuperset(words)


@lru_cache(2048)
def is_sign_off(text: str) -> bool:
    """Return whether a line ends a letter, so that a signature follows: Yours sincerely, Ihre."""
    phrase = text.strip(" ,.!–-").lower() if len(text) <= MAX_LABEL else ""
    last = phrase.rpartition(" ")[2]
    return phrase in SIGN_OFFS or (len(last) > MIN_SIGN_OFF and last in SIGN_OFFS)


@lru_cache(2048)
def is_offer_heading(text: str) -> bool:
    """Return whether a heading announces what the business offers or stands for, not who works there."""
    return _has_word(text, OFFER_WORDS, OFFERS_INSIDE)


@lru_cache(2048)
def is_group_heading(text: str) -> bool:
    """Return whether a heading names a group, which is nobody's role: Team, Vorstand; but not Board of Trustees."""
    words = _words_of_heading(text)
    if GROUPS.isdisjoint(words):
        return False
    others = [word for word in words if word not in GROUPS]
    return not any(is_role_word(word) or word in DEPARTMENTS for word in others)


@lru_cache(2048)
def is_department(text: str) -> bool:
    """Return whether a short heading names a department: Accounts, Ersatzteillager, 総務部."""
    words = folded_words(text)
    if not 1 <= len(words) <= MAX_DEPARTMENT_WORDS:
        return False
    return any(word in DEPARTMENTS for word in words) or (
        not text.isascii() and DEPARTMENTS_INSIDE.search(text) is not None
    )


@lru_cache(2048)
def is_department_label(text: str) -> bool:
    """Return whether the head of a table column announces departments."""
    return len(text) <= MAX_LABEL and _is_label(text, DEPARTMENT_LABELS)


@lru_cache(2048)
def is_contact_label(text: str) -> bool:
    """Return whether the head of a table column announces names or whom to ask, which is nobody's title."""
    return len(text) <= MAX_LABEL and _is_label(text, CONTACT_LABELS)


@lru_cache(2048)
def is_label_of_contact(text: str) -> bool:
    """Return whether a text labels an address or a number, and not whose it is: Tel., E-mail, Durchwahl."""
    words = folded_words(text)
    return any(word in WORDS_FOR_CONTACTS or word.strip(".") in WORDS_FOR_CONTACTS for word in words) or any(
        part in WORDS_FOR_CONTACTS for part in text.strip(" :：").split("/")
    )


def _is_label(text: str, labels: frozenset[str]) -> bool:
    """Return whether every word is a label, or the whole text is, where vowels are signs beside letters."""
    words = folded_words(text)
    return (bool(words) and labels.issuperset(words)) or text.strip(" :：") in labels


def _has_word(text: str, words: frozenset[str], inside: re.Pattern[str]) -> bool:
    if len(text) > MAX_HEADING:
        return False
    return not words.isdisjoint(_words_of_heading(text)) or (not text.isascii() and inside.search(text) is not None)


def _words_of_heading(text: str) -> tuple[str, ...]:
    """Return the folded words, those behind an apostrophe without the article: L'équipe, dell'azienda."""
    words = folded_words(text)
    if "'" not in text and "’" not in text:
        return words
    return tuple([ELIDED.sub("", word) for word in words])
