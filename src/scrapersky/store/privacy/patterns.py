"""Regular expressions of a person in a text: the email address, the number in any notation, the name."""

import re
from collections.abc import Iterable
from typing import Any

from turbohtml.clean import PhoneNumber

from scrapersky.store.privacy.contact_points import ContactPoint

MARK = "[erased]"
_GAP = "[ ()./-]{0,3}"
_BLANKS = r"\s{1,5}"


def mention_pattern(points: Iterable[ContactPoint]) -> str:
    """Build one case-insensitive pattern of all contact points."""
    makers = {"email": _email, "phone": _phone, "person": _person}
    return "|".join(sorted({makers[point.kind](point.value) for point in points}))


def sql_pattern(points: Iterable[ContactPoint]) -> str:
    """Build a coarser pattern without lookaround, which the database can match against millions of rows."""
    makers = {"email": _bare_email, "phone": lambda number: _GAP.join(_parts(number)[1]), "person": _bare_person}
    return "|".join(sorted({makers[point.kind](point.value) for point in points}))


def mentions(pattern: str, text: str | None) -> bool:
    """Return whether the text matches the pattern."""
    return bool(text) and re.search(pattern, text or "", re.IGNORECASE) is not None


def without(value: Any, pattern: str) -> Any:
    """Remove the matches from a value of any depth; a text that was nothing else is None, a longer text gets a mark."""
    if isinstance(value, str):
        remaining = re.sub(pattern, MARK, value, flags=re.IGNORECASE)
        return None if remaining == MARK else remaining
    if isinstance(value, list):
        cleaned = [without(item, pattern) for item in value]
        return [item for item, was in zip(cleaned, value, strict=True) if item is not None or was is None]
    if isinstance(value, dict):
        return {without(key, pattern) or MARK: without(item, pattern) for key, item in value.items()}
    return value


def _email(address: str) -> str:
    """Match neither the end of a longer local part nor the begin of a longer host."""
    return f"(?:(?<![a-z0-9._%+-])|(?<=%20)){_bare_email(address)}(?![a-z0-9-]|[.][a-z0-9])"


def _bare_email(address: str) -> str:
    """Match @ also as %40, as in URLs."""
    local, _, host = address.rpartition("@")
    return f"{re.escape(local)}(?:@|%40){re.escape(host)}"


def _phone(number: str) -> str:
    """Match every notation: with the country code or a leading zero, with separators between the digits."""
    country, national = _parts(number)
    prefix = f"(?:(?:[+]|00)?{country}{_GAP})?(?:[(]?0[)]?{_GAP})?" if country else "[+]?"
    return f"(?<![0-9]){prefix}{_GAP.join(national)}(?![0-9])"


def _parts(number: str) -> tuple[str, str]:
    """Return the country code and the national number."""
    try:
        parsed = PhoneNumber.parse(number, regions=())
    except ValueError:
        return "", number.lstrip("+")
    return str(parsed.country_code), str(parsed.national_number)


def _person(name_at_domain: str) -> str:
    return f"(?<![a-z0-9]){_bare_person(name_at_domain)}(?![a-z0-9])"


def _bare_person(name_at_domain: str) -> str:
    return _BLANKS.join(map(re.escape, name_at_domain.rpartition(" @ ")[0].split()))
