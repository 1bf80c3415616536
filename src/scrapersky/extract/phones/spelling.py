"""Phone numbers as files spell them: E.164, or the international form with spaces."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

import phonenumbers
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

PhoneFormat = Literal["international", "e164"]

PHONE_COLUMNS = frozenset({"phone", "fax", "other_phones"})

MIN_NATIONAL_DIGITS = 6

_CODES = frozenset(map(str, COUNTRY_CODE_TO_REGION_CODE))

_E164 = re.compile(r"\+[0-9]{5,15}")
# One number, or several with "; " between them.
_NUMBERS = re.compile(r"\+[0-9]{5,15}(?:; \+[0-9]{5,15})*+")
_THOUSANDS = re.compile(r"\+?[0-9]{1,3}(?: [0-9]{3})++")
_BETWEEN_DIGITS = re.compile(r"[^0-9+]++")


def spell_phones(text: str, phone_format: PhoneFormat, column: str = "") -> str:
    """Return a text that consists of E.164 numbers in this format; any other text stays as it is.

    A national number of unknown country, in a column of numbers, gets a space: without one it would lose its zero.
    """
    if phone_format == "e164":
        return text
    if column in PHONE_COLUMNS and text.isdecimal():
        return _not_thousands(f"{text[:3]} {text[3:]}")
    if text[:1] != "+" or not _NUMBERS.fullmatch(text):
        return text
    return _E164.sub(lambda number: _international(number.group()), text)


def _international(number: str) -> str:
    """Spell an E.164 number in groups of digits: +358 9 1234567. No spreadsheet takes that for a number or a formula.

    A hyphen, as in +1 650-253-0000, is a minus sign in a spreadsheet: spaces separate all groups.
    """
    digits = number[1:]
    code = next((digits[:n] for n in (1, 2, 3) if digits[:n] in _CODES), "")
    national = digits[len(code) :]
    groups = _groups(code, national) if code and _is_parsed_as_it_is(code, national) else None
    if groups is not None:
        return _not_thousands(f"+{code} {' '.join(groups)}")
    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return _not_thousands(f"{number[:4]} {number[4:]}")  # an unassigned country code
    spelled = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    return _not_thousands(_BETWEEN_DIGITS.sub(" ", spelled))


def _not_thousands(spelled: str) -> str:
    """Join the last two groups, or divide the only one, where all later groups have three digits: +376 312345.

    In Polish, French, Finnish and many other languages +376 312 345 is the number 376,312,345.
    """
    if not _THOUSANDS.fullmatch(spelled):
        return spelled
    before, _, last = spelled.rpartition(" ")
    return f"{before}{last}" if " " in before else f"{before} {last[:2]} {last[2:]}"


def _is_parsed_as_it_is(code: str, national: str) -> bool:
    """Return whether phonenumbers takes these digits as they are: not with a national prefix or leading zeros."""
    return len(national) >= MIN_NATIONAL_DIGITS and national[0] not in "018" and not _grouping(code).adds_digits


def _groups(code: str, national: str) -> tuple[str, ...] | None:
    """Return the groups of a number by the first format of its country that fits; None if none does."""
    for leading, pattern in _grouping(code).formats:
        if leading is None or leading.match(national):
            found = pattern.fullmatch(national)
            if found is not None:
                return found.groups()
    return None


@dataclass(frozen=True)
class _Grouping:
    """How the numbers of a country code are divided: by the first format whose leading digits and pattern fit.

    The formats of phonenumbers, which needs four times as long to choose one of them.
    """

    formats: tuple[tuple[re.Pattern[str] | None, re.Pattern[str]], ...]
    adds_digits: bool  # numbers may get digits when they are parsed, as those of San Marino


@cache
def _grouping(code: str) -> _Grouping:
    regions = COUNTRY_CODE_TO_REGION_CODE[int(code)]
    found = [PhoneMetadata.metadata_for_region_or_calling_code(int(code), region) for region in regions]
    main = found[0]
    formats = () if main is None else tuple(main.intl_number_format or main.number_format)
    patterns = [(one.leading_digits_pattern[-1:], one.pattern or "") for one in formats]
    return _Grouping(
        tuple((re.compile(leading[0]) if leading else None, re.compile(pattern)) for leading, pattern in patterns),
        any(each is not None and each.national_prefix_transform_rule for each in found),
    )
