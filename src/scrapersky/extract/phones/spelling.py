"""Phone numbers as files spell them: E.164, or the international form with spaces."""

import re
from functools import lru_cache
from typing import Literal

import phonenumbers

PhoneFormat = Literal["international", "e164"]

PHONE_COLUMNS = frozenset({"phone", "fax", "other_phones"})

_E164 = re.compile(r"\+[0-9]{5,15}")
# One number, or several with "; " between them.
_NUMBERS = re.compile(r"\+[0-9]{5,15}(?:; \+[0-9]{5,15})*+")
_BETWEEN_DIGITS = re.compile(r"[^0-9+]++")


def spell_phones(text: str, phone_format: PhoneFormat, column: str = "") -> str:
    """Return a text that consists of E.164 numbers in this format; any other text stays as it is.

    A national number of unknown country, in a column of numbers, gets a space: without one it would lose its zero.
    """
    if phone_format == "e164":
        return text
    if column in PHONE_COLUMNS and text.isdecimal():
        return f"{text[:3]} {text[3:]}"
    if text[:1] != "+" or not _NUMBERS.fullmatch(text):
        return text
    return _E164.sub(lambda number: _international(number.group()), text)


@lru_cache(10_000)
def _international(number: str) -> str:
    """Spell an E.164 number in groups of digits: +358 9 1234567. No spreadsheet takes that for a number or a formula.

    A hyphen, as in +1 650-253-0000, is a minus sign in a spreadsheet: spaces separate all groups.
    """
    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return f"{number[:4]} {number[4:]}"  # an unassigned country code
    spelled = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    return _BETWEEN_DIGITS.sub(" ", spelled)
