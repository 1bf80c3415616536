"""Cursors: where a list was left off, as text that nobody needs to read."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from scrapersky.api.schemas.fields import EARLIEST, LATEST
from scrapersky.core.errors import BadRequest

INT64 = 2**63
CURE = "Use the next_cursor of the page before, unchanged and with the same filters, or leave it out."


class BadCursor(BadRequest):
    """The cursor is not one of this list."""


def list_name(name: str, asked: Mapping[str, Any]) -> str:
    """The name of a list as it was asked for: a cursor goes on with the same filters, or not at all."""
    told = {field: value for field, value in asked.items() if value is not None}
    plain = json.dumps(told, sort_keys=True, default=str)
    return f"{name}?{hashlib.sha256(plain.encode()).hexdigest()[:16]}" if told else name


def encode(name: str, place: Sequence[str | int | None]) -> str:
    """The cursor of the list `name`, left off at `place`."""
    return base64.urlsafe_b64encode(json.dumps([name, *place]).encode()).decode().rstrip("=")


def decode(cursor: str, name: str, *kinds: Any) -> list[Any]:
    """The place in a cursor of the list `name`, each part made by its kind (`UUID`, `moment`, …)."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        given, *place = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        parts = [kind(part) for kind, part in zip(kinds, place, strict=True)]
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise BadCursor(CURE) from None
    if given != name:
        raise BadCursor(CURE)
    return parts


def integer(part: Any) -> int:
    """A kind: an integer that PostgreSQL can hold."""
    if type(part) is not int or not -INT64 <= part < INT64:
        raise ValueError("not a number of ours")
    return part


def timestamp(part: Any) -> datetime:
    """A kind: an aware time within the years that requests may name."""
    found = datetime.fromisoformat(part)
    if found.tzinfo is None or not EARLIEST <= found <= LATEST:
        raise ValueError("not a time of ours")
    return found


def text(part: Any) -> str:
    """A kind: plain text."""
    if type(part) is not str:
        raise ValueError("not a text")
    return part
