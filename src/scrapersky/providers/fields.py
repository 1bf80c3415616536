"""Reads values of unknown type from the responses of providers."""

from collections.abc import Iterable, Mapping
from typing import Any

from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.text import single_line


def finite(value: object) -> float | None:
    """Return a finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e15 < value < 1e15:
        return None
    return float(value)


def whole(value: object) -> int | None:
    """Return a whole number, or None."""
    number = finite(value)
    return None if number is None else int(number)


def part(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object of this name; empty if it is not an object."""
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def text(value: Any, limit: int = 1000) -> str | None:
    """Return a string as one line, or None."""
    return (single_line(value, limit) or None) if isinstance(value, str) else None


def texts(values: Any, limit: int = 1000) -> list[str]:
    """Return the strings of a list."""
    return [line for value in values if (line := text(value, limit))] if isinstance(values, list | tuple) else []


def phone_numbers(written: Iterable[str], country: str | None) -> list[str]:
    """Return each number once, in E.164 where it can be parsed."""
    parsed = ((number, parse_phone(number, country or "")) for number in written)
    return list(dict.fromkeys(phone.number if phone else number for number, phone in parsed))


def postal_address(street: str | None, postcode: str | None, city: str | None, country: str | None) -> str | None:
    """Return the parts of an address as one line, or None."""
    town = " ".join(part for part in (postcode, city) if part)
    return ", ".join(part for part in (street, town, country) if part) or None


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not empty."""
    return {key: value for key, value in values.items() if value}
