"""How somebody who is to be forgotten may stand in a text: the address, the number in any way of writing, the name."""

import re
from collections.abc import Iterable
from typing import Any

from turbohtml.clean import PhoneNumber

from scrapersky.store.suppression_values import Way

MARK = "[erased]"
_GAP = "[ ()./-]{0,3}"
_BLANKS = r"\s{1,5}"


def pattern_of(ways: Iterable[Way]) -> str:
    """One pattern for all of them, the same to Python and to PostgreSQL; to be used without regard to capitals."""
    makers = {"email": _email, "phone": _phone, "person": _person}
    return "|".join(sorted({makers[way.kind](way.value) for way in ways}))


def mentions(pattern: str, text: str | None) -> bool:
    """Whether the text speaks of them."""
    return bool(text) and re.search(pattern, text or "", re.IGNORECASE) is not None


def without(value: Any, pattern: str) -> Any:
    """A value of any depth without them: what was nothing else is gone, in a longer text a mark is left."""
    if isinstance(value, str):
        rest = re.sub(pattern, MARK, value, flags=re.IGNORECASE)
        return None if rest == MARK else rest
    if isinstance(value, list):
        cleaned = [without(item, pattern) for item in value]
        return [item for item, was in zip(cleaned, value, strict=True) if item is not None or was is None]
    if isinstance(value, dict):
        return {without(key, pattern) or MARK: without(item, pattern) for key, item in value.items()}
    return value


def _email(address: str) -> str:
    """Not as the end of a longer name, nor of a longer host; in an address of the web, %40 is the sign."""
    local, _, host = address.rpartition("@")
    begins = "(?:(?<![a-z0-9._%+-])|(?<=%20))"
    return f"{begins}{re.escape(local)}(?:@|%40){re.escape(host)}(?![a-z0-9-]|[.][a-z0-9])"


def _phone(number: str) -> str:
    """Every way of writing: with the country or the nought before it, with anything between the digits."""
    try:
        parsed = PhoneNumber.parse(number, regions=())
        country, national = str(parsed.country_code), str(parsed.national_number)
    except ValueError:
        country, national = "", number.lstrip("+")
    prefix = f"(?:(?:[+]|00)?{country}{_GAP})?(?:[(]?0[)]?{_GAP})?" if country else "[+]?"
    return f"(?<![0-9]){prefix}{_GAP.join(national)}(?![0-9])"


def _person(name_at_domain: str) -> str:
    words = name_at_domain.rpartition(" @ ")[0].split()
    return f"(?<![a-z0-9]){_BLANKS.join(map(re.escape, words))}(?![a-z0-9])"
