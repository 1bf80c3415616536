"""What stands before a number: the word for a phone, for a fax, or for something that is no phone at all."""

from functools import lru_cache
from typing import Literal

from scrapersky.extract import regexes, word_lists
from scrapersky.extract.document.context import before_on_line
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.text import fold

Label = Literal["phone", "fax", "other", ""]

PHONE_WORDS = word_lists.words("phones", "phone")
FAX_WORDS = word_lists.words("phones", "fax")
OTHER_WORDS = word_lists.words("phones", "other")
REACH = 45


def label(document: Document, block: Block, at: int) -> Label:
    """The nearest label before the number: in its own line, else in the line or icon beside it."""
    own = nearest(block.text[max(0, at - REACH) : max(0, at)])
    if own:
        return own
    if "fax" in block.icons:
        return "fax"
    if regexes.DIGITS.search(block.text[:at]):
        return ""  # an earlier number has used up whatever stands before the line
    before = before_on_line(document, block)
    if before is not None and len(before.text) <= 60 and not regexes.DIGITS.search(before.text):
        return nearest(before.text)
    return ""


@lru_cache(2048)
def nearest(text: str) -> Label:
    """The last word of the text that labels a number. An abbreviation counts with and without its dots."""
    for word in reversed(regexes.LABEL_WORD.findall(fold(text))):
        for form in (word, word.strip(".:")):
            if form in FAX_WORDS:
                # "Tel./Fax" is a phone as well.
                return "phone" if regexes.PHONE_AND_FAX.search(fold(text)) else "fax"
            if form in OTHER_WORDS:
                return "other"
            if form in PHONE_WORDS:
                return "phone"
    return ""


def is_likely(text: str, at: int, piece: str, label: Label) -> bool:
    """Whether digits without a link are written as a phone number is, and not as a date, price or count."""
    if label:
        return True
    after = text[at + len(piece) : at + len(piece) + 4]
    if regexes.MONEY.search(text, max(0, at - 4), at) or regexes.MONEY.match(after.lstrip()) or after[:1] in ("%", "°"):
        return False
    if piece.startswith(("+", "00", "(")):
        return True
    digits = regexes.NOT_DIGIT.sub("", piece)
    alone = len(text) <= len(piece) + 12
    if piece.startswith("0"):
        return len(digits) >= 8 and (alone or regexes.SEPARATED.search(piece) is not None or len(digits) >= 9)
    return len(digits) >= 8 and (alone or regexes.GROUPED.fullmatch(piece) is not None)
