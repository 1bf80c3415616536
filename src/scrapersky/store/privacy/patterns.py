"""Regular expressions of a person in a text: the email address, the number in any notation, the name."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import ARRAY, Text, and_, any_, collate, false, literal
from sqlalchemy.sql.elements import ColumnElement
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


def like_patterns(points: Iterable[ContactPoint]) -> list[str]:
    """Build patterns for ILIKE: whatever `sql_pattern` matches, one of these matches as well, in a third of the time.

    They compare bytes and know upper and lower case of ASCII only: other characters are left out.
    """
    makers: dict[str, Callable[[str], Iterable[str]]] = {
        "email": lambda address: address.rpartition("@")[::2],
        "phone": lambda number: _parts(number)[1],
        "person": lambda name: name.rpartition(" @ ")[0].split(),
    }
    return sorted({f"%{'%'.join(map(_escaped, makers[point.kind](point.value)))}%" for point in points})


def can_mention(text: ColumnElement[str], points: Iterable[ContactPoint]) -> ColumnElement[bool]:
    """Build the condition that a text of a row can mention one of the contact points; false without any.

    The cheap patterns come first: most rows of a large table need no regular expression.
    """
    found = list(points)
    if not found:
        return false()
    likely = collate(text, "C").ilike(any_(literal(like_patterns(found), ARRAY(Text()))))
    return and_(likely, text.op("~*")(sql_pattern(found)))


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


def _escaped(part: str) -> str:
    """Escape a part of a pattern for ILIKE; a character that is not ASCII matches any."""
    return re.sub(r"[^\x00-\x7f]", "%", re.sub(r"([%_\\])", r"\\\1", part))


def _person(name_at_domain: str) -> str:
    return f"(?<![a-z0-9]){_bare_person(name_at_domain)}(?![a-z0-9])"


def _bare_person(name_at_domain: str) -> str:
    return _BLANKS.join(map(re.escape, name_at_domain.rpartition(" @ ")[0].split()))
