"""Phone numbers: valid, each used once, and from ranges kept for fiction where there are any."""

from collections.abc import Sequence
from functools import lru_cache

import phonenumbers

STRIDE = 7919  # a prime: its multiples visit every number of a range before one comes twice


def pick(patterns: Sequence[str], seed: int, position: int, country: str) -> str:
    """Return the number at a position of these ranges, in E.164; the ranges are used in order."""
    position %= sum(_size(pattern) for pattern in patterns)
    for pattern in patterns:
        if position < _size(pattern):
            break
        position -= _size(pattern)
    digits = (position * STRIDE + seed * 31) % _size(pattern)
    return f"{_beginning(pattern, country)}{digits:0{pattern.count('#')}d}"


def fill(pattern: str, digits: int) -> str:
    """Replace the placeholders of a pattern by these digits."""
    wanted = iter(f"{digits:0{pattern.count('#')}d}")
    return "".join(next(wanted) if sign == "#" else sign for sign in pattern)


@lru_cache(8192)
def national(number: str) -> str:
    """Format the number as in its own country."""
    parsed = phonenumbers.parse(number)
    return str(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.NATIONAL))


@lru_cache(8192)
def international(number: str) -> str:
    """Format the number with its country code and spaces."""
    parsed = phonenumbers.parse(number)
    return str(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL))


def with_trunk_zero(number: str) -> str:
    """Format the number as +358 (0)9 …, or internationally where there is no trunk zero."""
    local, foreign = national(number), international(number)
    if not local.startswith("0") or number.startswith("+39"):
        return foreign
    code, _, rest = foreign.partition(" ")
    return f"{code} (0){rest}"


@lru_cache(512)
def _beginning(pattern: str, country: str) -> str:
    """Return the E.164 prefix of a pattern, whose placeholders are at its end."""
    parsed = phonenumbers.parse(pattern.replace("#", "0"), country)
    whole = str(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164))
    return whole[: -pattern.count("#")]


def _size(pattern: str) -> int:
    return int(10 ** pattern.count("#"))
