"""Ids of rows as they are typed."""

from collections.abc import Iterable
from uuid import UUID

from scrapersky.core.errors import BadRequest


class BadId(BadRequest):
    """An id is not one."""


def row_ids(words: Iterable[str] | None) -> list[UUID]:
    """The ids, or BadId with the first word that is none."""
    found = []
    for word in words or ():
        try:
            found.append(UUID(word))
        except ValueError:
            raise BadId(f"{word!r} does not look like 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa.") from None
    return found
