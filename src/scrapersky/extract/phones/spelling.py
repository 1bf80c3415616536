"""Phone numbers as files spell them: E.164, or the international form with spaces."""

import re
from functools import lru_cache
from typing import Literal

import phonenumbers
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

PhoneFormat = Literal["international", "e164"]

PHONE_COLUMNS = frozenset({"phone", "fax", "other_phones"})

MIN_NATIONAL_DIGITS = 6

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
        parsed = _parsed(number[1:]) or phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return f"{number[:4]} {number[4:]}"  # an unassigned country code
    spelled = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    return _BETWEEN_DIGITS.sub(" ", spelled)


@lru_cache(300)
def _adds_digits(code: int) -> bool:
    """Tell whether numbers of a country code may get digits when they are parsed, as those of San Marino."""
    regions = COUNTRY_CODE_TO_REGION_CODE[code]
    found = (phonenumbers.PhoneMetadata.metadata_for_region(region, None) for region in regions)
    return any(each is not None and each.national_prefix_transform_rule for each in found)


def _parsed(digits: str) -> phonenumbers.PhoneNumber | None:
    """Return a number without its plus sign, as phonenumbers would parse it for three times the cost.

    None for numbers that phonenumbers might change: those with a national prefix or leading zeros.
    """
    code = next((digits[:n] for n in (1, 2, 3) if int(digits[:n]) in COUNTRY_CODE_TO_REGION_CODE), "0")
    national = digits[len(code) :]
    if code[0] == "0" or len(national) < MIN_NATIONAL_DIGITS or national[0] in "018" or _adds_digits(int(code)):
        return None
    return phonenumbers.PhoneNumber(country_code=int(code), national_number=int(national))
