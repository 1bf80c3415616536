"""The headers of tables of foreign origin: which column holds which of our fields."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from scrapersky.core.contact_fields import ImportColumn
from scrapersky.extract.text import fold, single_line

MAX_VALUE_LENGTH = 2_048  # characters; an index holds no more
LEFT_OUT = "-"  # the field of a column that the caller leaves out
_WORD_START = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|\.")
MAX_LAYOUTS = 1_000  # kept in memory: a table has one, objects may each have their own


class Cell(NamedTuple):
    """The value of a field, and the column of the file that it comes from."""

    text: str
    column: str


class Layout(NamedTuple):
    """The columns of a row that are read, each with its field; those that are not; the error if two hold one field."""

    fields: tuple[tuple[str, str], ...]
    ignored: tuple[str, ...]
    error: str = ""


class Headers:
    """The fields that columns hold, by their headers or, first of all, as the caller maps them."""

    def __init__(self, columns: Mapping[str, ImportColumn], mapping: Mapping[str, str] | None = None) -> None:
        self._ranks: dict[str, tuple[str, int]] = {}  # field and rank of each known header; the lowest rank wins
        self._joined = frozenset(field for field, column in columns.items() if column.is_joined)
        for field, column in columns.items():
            for rank, name in enumerate(column.fallbacks.split(","), 2):
                self._ranks.setdefault(header_key(name), (field, rank))
        for field, column in columns.items():
            self._ranks.update({header_key(name): (field, 1) for name in column.names.split(",")})
        self._ranks.update({header_key(field): (field, 1) for field in columns})
        self._ranks.update({header_key(header): (field, 0) for header, field in (mapping or {}).items()})
        self._left_out = {"", *(header for header, (field, _) in self._ranks.items() if field == LEFT_OUT)}
        self.layout = lru_cache(MAX_LAYOUTS)(self._lay_out)

    def field_of(self, column: str) -> str | None:
        """Return the field that a column holds, or None."""
        known = self._known(column)
        return known[0] if known is not None else None

    def cells(self, row: Mapping[str, str]) -> dict[str, Cell]:
        """Return the value of each field, from its best column that is not empty."""
        found: dict[str, Cell] = {}
        for column, field in self.layout(tuple(row)).fields:
            known = found.get(field)
            if (known and field not in self._joined) or not (text := single_line(row[column], MAX_VALUE_LENGTH + 1)):
                continue
            found[field] = Cell(f"{known.text}; {text}" if known else text, known.column if known else column)
        return found

    def _known(self, column: str) -> tuple[str, int] | None:
        """Return the field and the rank of a header, also of one like FirstName or Account.Name."""
        key = header_key(column)
        if key in self._left_out:
            return None
        return self._ranks.get(key) or self._ranks.get(header_key(_WORD_START.sub(" ", column[:200])))

    def _lay_out(self, columns: Sequence[str], duplicates: Sequence[str] = ()) -> Layout:
        """Order the columns of each field by rank; a field that the caller maps has no other column."""
        by_field: dict[str, list[tuple[int, str]]] = {}
        for column in columns:
            if (known := self._known(column)) is not None:
                by_field.setdefault(known[0], []).append((known[1], column))
        fields, errors = list[tuple[str, str]](), list[str]()
        for field, ranked in by_field.items():
            best = min(rank for rank, _ in ranked)
            used = [pair for pair in sorted(ranked, key=itemgetter(0)) if best or not pair[0]]
            equal = [column for rank, column in used if rank == best]
            errors.append(_error(field, [*equal, *set(equal).intersection(duplicates)]))
            fields += [(column, field) for _, column in used]
        read = {column for column, _ in fields}
        return Layout(
            tuple(fields), tuple(column for column in columns if column not in read), next(filter(None, errors), "")
        )


def header_key(name: str) -> str:
    """Normalise a header: case, accents, spaces, underscores and hyphens make no difference."""
    return " ".join(fold(name[:200]).replace("_", " ").replace("-", " ").split())


def _error(field: str, columns: Sequence[str]) -> str:
    if len(columns) < 2:
        return ""
    first, second, *_ = (f"{single_line(column, 40)!r}" for column in columns)
    if first == second:
        return f"two columns are called {first}; remove one, or rename it"
    return f"{first} and {second} both hold {field}; remove one, or map the right one: COLUMN={field}"
