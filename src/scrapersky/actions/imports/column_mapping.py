"""The mapping from the columns of a file to the fields of a resource, by their headers or as the caller maps them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from scrapersky.actions.imports.targets import target_of
from scrapersky.core.errors import BadRequest
from scrapersky.extract.tabular.rows import TableRow
from scrapersky.extract.text import fold, single_line

MAX_VALUE_LENGTH = 2_048  # characters; an index holds no more
MAX_LAYOUTS = 1_000  # kept in memory: a table has one, objects may each have their own


class WrongMapping(BadRequest):
    """A column cannot be mapped like this."""


class NoUsableColumn(BadRequest):
    """None of the columns can be used."""


class DuplicateColumn(BadRequest):
    """Two columns of the file hold the same field."""


class Layout(NamedTuple):
    """The columns of a row that are read, each with its field, and the error if two hold the same field."""

    fields: tuple[tuple[str, str], ...]
    error: str = ""


class ColumnMapping:
    """The fields that the columns of a file hold; WrongMapping if the caller's mapping names an unknown field."""

    def __init__(self, resource: str, mapping: Mapping[str, str] | None = None) -> None:
        self._target = target_of(resource)
        columns = self._target.columns
        self._mapping = {_key(column): field for column, field in (mapping or {}).items()}
        for field in self._mapping.values():
            if field not in columns:
                raise WrongMapping(f"{field[:60]!r} is not a field of {resource}; there are {', '.join(columns)}.")
        names = {_key(name): field for field, column in columns.items() for name in column.names.split(",")}
        self._names = {**names, **{_key(field): field for field in columns}}
        self._spares = {_key(column.spare) for column in columns.values() if column.spare}
        self._layout = lru_cache(MAX_LAYOUTS)(self._lay_out)

    def check(self, rows: Sequence[TableRow]) -> None:
        """Refuse a file that lacks a mapped column or every needed one, or that has two columns for one field."""
        columns = list(dict.fromkeys(column for row in rows for column in row.values))
        keys, needed = {_key(column) for column in columns}, self._target.needed
        shown = ", ".join(single_line(column, 40) for column in columns[:20])
        for column in self._mapping:
            if column not in keys:
                raise WrongMapping(f"There is no column {column[:60]!r}; there are {shown}.")
        if not any(self._field(column) in needed for column in columns):
            raise NoUsableColumn(
                f"{self._target.resource.name.capitalize()} need a column for {' or '.join(needed)}; "
                f"the first line has {shown}. Map one of them: COLUMN={needed[0]}."
            )
        filled = [row for row in rows if row.values]
        if len({tuple(row.values) for row in filled}) == 1 and (error := self.error_of(filled[0])):
            raise DuplicateColumn(f"{error[0].upper()}{error[1:]}.")  # objects with different keys fail one by one

    def error_of(self, row: TableRow) -> str:
        """Return the error if two columns of the row hold the same field, of which one would be lost."""
        return self._layout(tuple(row.values), row.duplicates).error

    def values_of(self, row: Mapping[str, str]) -> dict[str, str]:
        """Return the values by field, without empty ones; raise ValueError for a value that is too long."""
        found: dict[str, str] = {}
        for column, field in self._layout(tuple(row)).fields:
            if field in found or not (text := single_line(row[column], MAX_VALUE_LENGTH + 1)):
                continue
            if len(text) > MAX_VALUE_LENGTH:
                raise ValueError(f"{field} has more than {MAX_VALUE_LENGTH:,} characters")
            found[field] = text
        return found

    def _lay_out(self, columns: Sequence[str], duplicates: Sequence[str] = ()) -> Layout:
        """Choose the columns of each field: mapped ones, else those with one of its names, else the spare one."""
        best: dict[str, list[str]] = {}
        for column in sorted(columns, key=self._rank):
            field = self._field(column)
            if field is not None and (field not in best or self._rank(column) == self._rank(best[field][0])):
                best.setdefault(field, []).append(column)
        errors = (_error(field, [*named, *set(named).intersection(duplicates)]) for field, named in best.items())
        fields = tuple((column, field) for field, named in best.items() for column in named)
        return Layout(fields, next(filter(None, errors), ""))

    def _rank(self, column: str) -> int:
        key = _key(column)
        return 0 if key in self._mapping else 2 if key in self._spares else 1

    def _field(self, column: str) -> str | None:
        key = _key(column)
        return self._mapping.get(key) or self._names.get(key)


def parse_mapping(pairs: Iterable[str]) -> dict[str, str]:
    """Parse `COLUMN=FIELD` pairs; raise WrongMapping for a text that is none."""
    mapping = {}
    for pair in pairs:
        column, separator, field = pair.rpartition("=")
        if not (separator and column.strip() and field.strip()):
            raise WrongMapping(f"{pair[:60]!r} is not COLUMN=FIELD.")
        mapping[column.strip()] = field.strip().lower()
    return mapping


def _error(field: str, columns: Sequence[str]) -> str:
    if len(columns) < 2:
        return ""
    first, second, *_ = (f"{single_line(column, 40)!r}" for column in columns)
    if first == second:
        return f"two columns are called {first}; remove one, or rename it"
    return f"{first} and {second} both hold {field}; remove one, or map the right one: COLUMN={field}"


def _key(name: str) -> str:
    """Normalise a header: case, accents, spaces, underscores and hyphens make no difference."""
    return " ".join(fold(name[:200]).replace("_", " ").replace("-", " ").split())
