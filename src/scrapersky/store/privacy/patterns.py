"""How somebody who is to be forgotten may stand in a text: the address, the number in any way of writing, the name."""

import re
from collections.abc import Iterable
from typing import Any

from turbohtml.clean import PhoneNumber

from scrapersky.store.privacy.suppression_values import Way

MARK = "[erased]"
_GAP = "[ ()./-]{0,3}"
_BLANKS = r"\s{1,5}"


def pattern_of(ways: Iterable[Way]) -> str:
    """One pattern for all of them, to be used without regard to capitals."""
    makers = {"email": _email, "phone": _phone, "person": _person}
    return "|".join(sorted({makers[way.kind](way.value) for way in ways}))


def sieve_of(ways: Iterable[Way]) -> str:
    """A coarser pattern that the database can run through millions of rows with: it looks neither back nor ahead."""
    makers = {"email": _bare_email, "phone": lambda number: _GAP.join(_parts(number)[1]), "person": _bare_person}
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
    """Not as the end of a longer name, nor of a longer host."""
    return f"(?:(?<![a-z0-9._%+-])|(?<=%20)){_bare_email(address)}(?![a-z0-9-]|[.][a-z0-9])"


def _bare_email(address: str) -> str:
    """In an address of the web, %40 is the sign."""
    local, _, host = address.rpartition("@")
    return f"{re.escape(local)}(?:@|%40){re.escape(host)}"


def _phone(number: str) -> str:
    """Every way of writing: with the country or the nought before it, with anything between the digits."""
    country, national = _parts(number)
    prefix = f"(?:(?:[+]|00)?{country}{_GAP})?(?:[(]?0[)]?{_GAP})?" if country else "[+]?"
    return f"(?<![0-9]){prefix}{_GAP.join(national)}(?![0-9])"


def _parts(number: str) -> tuple[str, str]:
    """The country's digits, and those that follow."""
    try:
        parsed = PhoneNumber.parse(number, regions=())
    except ValueError:
        return "", number.lstrip("+")
    return str(parsed.country_code), str(parsed.national_number)


def _person(name_at_domain: str) -> str:
    return f"(?<![a-z0-9]){_bare_person(name_at_domain)}(?![a-z0-9])"


def _bare_person(name_at_domain: str) -> str:
    return _BLANKS.join(map(re.escape, name_at_domain.rpartition(" @ ")[0].split()))
