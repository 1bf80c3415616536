"""The label before a number: the word for a phone, for a fax, or for another kind of number."""

import re
from functools import lru_cache
from typing import Literal

from scrapersky.extract.document.context import folded_words, previous_on_line
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.phones.parse import NOT_DIGIT
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import AffixSet, load_table, load_words

NumberLabel = Literal["phone", "fax", "other", ""]

PHONE_WORDS = load_words("phones", "phone")
FAX_WORDS = load_words("phones", "fax")
NUMBER_WORDS = load_words("phones", "number")
OTHER_WORDS = load_words("phones", "other")
OF_OTHERS = AffixSet(load_table("phones")["of_others"]["words"].split())
MIN_OF_OTHERS, MAX_OF_OTHERS = 6, 110  # characters before a number
# A sentence that ends, or another number: what stands before it is about something else.
SENTENCE_OR_NUMBER = re.compile(r"[.!?](?=\s[^\W\d_a-z])(?<!\b\w\w\.)(?<!\b\w{3}\.)|[;|·•]|\d[\d\s/.()–-]{6,20}\d")
MAX_DISTANCE = 45  # characters between a label and its number
MARKS = r"\u0591-\u05c7\u064b-\u0655\u0900-\u0dff\u0e31-\u0e4e"  # vowels and accents, which are no letters for \w
LABEL_WORD = re.compile(rf"[^\W\d_][\w.{MARKS}-]{{0,40}}[.:]?|[$€£§©№#]")
PHONE_AND_FAX = re.compile(
    r"\b(?:tel|telefon|phone|fon|puh|tlf|тел|τηλ)[a-zа-я]{0,6}\.?(?:\s?[/+&,]\s?|\s(?:und|and|et|y|e|i|a|ja|og|och)\s)(?:(?:tele)?fa(?:x|ks)|факс|φαξ)"
)
THREE_DIGITS = re.compile(r"\d{3}")
SEPARATED = re.compile(r"\d[\s./()–-]{1,3}\d")
GROUPED = re.compile(r"\d{2,5}(?:[\s.\-–]\d{2,5}){1,4}")
BRACKETED = re.compile(r"\d{1,2}\s?\(\d{2,5}\)\s?\d")  # 8 (843) 233-44-18
MIN_BRACKETED = 10
TRUNK_8 = re.compile(r"8[\s-]\(?\d{2,5}\)?(?:[\s-]\d{2,5}){2,4}")
SEVEN_DIGITS = re.compile(r"\d{3}[\s-]\d{4}")  # the whole number in a small country
MONEY = re.compile(r"[$€£¥₽₺]|\b(?:usd|eur|chf|kr|zł|kč|ft|lei|руб|pln|czk|huf|inr|rs|mio|m²|km|kg|mm|cm)\b", re.I)


def label_before(document: Document, block: Block, at: int) -> NumberLabel:
    """Return the nearest label before the number: in the same block, else in the block or icon beside it."""
    own = nearest_label(block.text[max(0, at - MAX_DISTANCE) : max(0, at)])
    if own:
        return own
    if "fax" in block.icons:
        return "fax"
    if THREE_DIGITS.search(block.text[:at]):
        return ""  # a label before the block belongs to the earlier number
    before = previous_on_line(document, block)
    if before is not None and len(before.text) <= 60 and not THREE_DIGITS.search(before.text):
        return nearest_label(before.text)
    return ""


@lru_cache(2048)
def nearest_label(text: str) -> NumberLabel:
    """Return the label that the last labelling word of the text is; abbreviations match with and without dots."""
    found: NumberLabel = ""
    for word in reversed(LABEL_WORD.findall(fold(text))):
        for form in (word, word.strip(".:")):
            if form in FAX_WORDS:
                # "Tel./Fax" is a phone as well.
                return "phone" if PHONE_AND_FAX.search(fold(text)) else "fax"
            if form in OTHER_WORDS:
                return "other"
            if form in PHONE_WORDS:
                return "phone"
            if form in NUMBER_WORDS:
                found = "phone"  # unless a word before it says of what: RCS sous le numéro
    return found


def is_of_others(text: str, at: int) -> bool:
    """Return whether the words before a number, behind the last number or sentence, name somebody else's office."""
    if at < MIN_OF_OTHERS:
        return False
    before = text[max(0, at - MAX_OF_OTHERS) : at]
    return _names_others(SENTENCE_OR_NUMBER.split(before)[-1])


@lru_cache(2048)
def _names_others(text: str) -> bool:
    return any(word.strip(".") in OF_OTHERS for word in folded_words(text))


def is_likely_phone(text: str, at: int, piece: str, label: NumberLabel) -> bool:
    """Return whether digits without a link are written like a phone number, not like a date, a price or a count."""
    if label:
        return True
    after = text[at + len(piece) : at + len(piece) + 4]
    if MONEY.search(text, max(0, at - 4), at) or MONEY.match(after.lstrip()) or after[:1] in ("%", "°"):
        return False
    if piece.startswith(("+", "00", "(")):
        return True
    digits = NOT_DIGIT.sub("", piece)
    alone = len(text) <= len(piece) + 12
    if TRUNK_8.fullmatch(piece):
        return True  # 8 612 44 871
    if piece.startswith("0"):
        return len(digits) >= 8 and (alone or SEPARATED.search(piece) is not None or len(digits) >= 9)
    if alone and SEVEN_DIGITS.fullmatch(piece):
        return True
    if BRACKETED.match(piece):
        return len(digits) >= MIN_BRACKETED
    return len(digits) >= 8 and (alone or GROUPED.fullmatch(piece) is not None)
