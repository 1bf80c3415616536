"""Cursors: the position of a page in its list, as opaque and signed text."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from scrapersky.api.schemas.fields import EARLIEST, LATEST, Item, ResultPage
from scrapersky.core.errors import BadRequest

Row = TypeVar("Row")

INT64 = 2**63
SIGNATURE_BYTES = 16
CURE = "Use the next_cursor of the previous page, unchanged and with the same filters, or leave it out."


class BadCursor(BadRequest):
    """The cursor is not one of this list."""


def list_name(name: str, filters: Mapping[str, Any]) -> str:
    """Return the name of a list with a hash of its filters: a cursor is valid for the same filters only."""
    given = {field: value for field, value in filters.items() if value is not None}
    plain = json.dumps(given, sort_keys=True, default=str)
    return f"{name}?{hashlib.sha256(plain.encode()).hexdigest()[:16]}" if given else name


class Cursors:
    """Encodes and decodes cursors with a key that all processes of an installation share."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def encode(self, name: str, position: Sequence[str | int | None]) -> str:
        """Encode a position in the list `name` as a cursor."""
        return self._signed(json.dumps([name, *position]).encode())

    def decode(self, cursor: str, name: str, *parsers: Any) -> list[Any]:
        """Return the position in a cursor of the list `name`, each part read by its parser (`UUID`, `timestamp`, …)."""
        try:
            padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
            content = base64.b64decode(padded, altchars=b"-_", validate=True)[SIGNATURE_BYTES:]
            if not hmac.compare_digest(self._signed(content), cursor):
                raise BadCursor(CURE)
            found, *position = json.loads(content)
            parts = [parse(part) for parse, part in zip(parsers, position, strict=True)]
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise BadCursor(CURE) from None
        if found != name:
            raise BadCursor(CURE)
        return parts

    def page_of(
        self,
        found: Sequence[Row],
        limit: int,
        name: str,
        position: Callable[[Row], Sequence[str | int | None]],
        show: Callable[[Row], Item],
    ) -> ResultPage[Item]:
        """Return the first `limit` rows as a page; `found` has one row more if there is a next page."""
        cursor = self.encode(name, position(found[limit - 1])) if len(found) > limit else None
        return ResultPage(items=[show(row) for row in found[:limit]], next_cursor=cursor)

    def _signed(self, content: bytes) -> str:
        signature = hmac.digest(self._key, content, "sha256")[:SIGNATURE_BYTES]
        return base64.urlsafe_b64encode(signature + content).decode().rstrip("=")


def integer(part: Any) -> int:
    """Read an integer that fits a bigint column."""
    if type(part) is not int or not -INT64 <= part < INT64:
        raise ValueError("not an integer of 64 bits")
    return part


def timestamp(part: Any) -> datetime:
    """Read an aware timestamp within the range of request fields."""
    found = datetime.fromisoformat(part)
    if found.tzinfo is None or not EARLIEST <= found <= LATEST:
        raise ValueError("not a timestamp in range")
    return found


def text(part: Any) -> str:
    """Read text."""
    if type(part) is not str:
        raise ValueError("not text")
    return part


def storable_text(part: Any) -> str:
    """Read text that PostgreSQL can store."""
    found = text(part)
    if "\0" in found:
        raise ValueError("contains a null character")
    found.encode()  # raises a ValueError for lone surrogates
    return found
