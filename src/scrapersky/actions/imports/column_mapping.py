"""The mapping from the columns of a file to the fields of a resource, by their headers or as the caller maps them."""

from collections.abc import Iterable, Mapping, Sequence

from scrapersky.actions.imports.targets import target_of
from scrapersky.core.errors import BadRequest
from scrapersky.extract.tabular.headers import LEFT_OUT, Cell, Headers, header_key
from scrapersky.extract.tabular.rows import TableRow
from scrapersky.extract.text import single_line

MAX_IGNORED = 1_000  # columns that a report names


class WrongMapping(BadRequest):
    """A column cannot be mapped like this."""


class NoUsableColumn(BadRequest):
    """None of the columns can be used."""


class DuplicateColumn(BadRequest):
    """Two columns of the file hold the same field."""


class ColumnMapping:
    """The fields that the columns of a file hold; WrongMapping if the caller's mapping names an unknown field."""

    def __init__(self, resource: str, mapping: Mapping[str, str] | None = None) -> None:
        self._target = target_of(resource)
        columns = self._target.columns
        self._mapped = {header_key(column) for column in mapping or {}}
        for field in (mapping or {}).values():
            if field not in columns and field != LEFT_OUT:
                raise WrongMapping(f"{field[:60]!r} is not a field of {resource}; there are {', '.join(columns)}.")
        self._headers = Headers(columns, mapping)
        self._ignored: dict[str, None] = {}

    @property
    def ignored(self) -> list[str]:
        """The columns that no row was read from so far, in the order of the file."""
        return list(self._ignored)

    def check(self, rows: Sequence[TableRow]) -> None:
        """Refuse a file that lacks a mapped column or every needed one, or that has two columns for one field."""
        columns = list(dict.fromkeys(column for row in rows for column in row.values))
        keys, needed = {header_key(column) for column in columns}, self._target.needed
        shown = ", ".join(single_line(column, 40) for column in columns[:20])
        for column in self._mapped:
            if column not in keys:
                raise WrongMapping(f"There is no column {column[:60]!r}; there are {shown}.")
        if not any(self._headers.field_of(column) in needed for column in columns):
            raise NoUsableColumn(
                f"{self._target.resource.name.capitalize()} need a column for {' or '.join(needed)}; "
                f"the first line has {shown}. Map one of them: COLUMN={needed[0]}."
            )
        filled = [row for row in rows if row.values]
        if len({tuple(row.values) for row in filled}) == 1 and (error := self.error_of(filled[0])):
            raise DuplicateColumn(f"{error[0].upper()}{error[1:]}.")  # objects with different keys fail one by one

    def error_of(self, row: TableRow) -> str:
        """Return the error if two columns of the row hold the same field, of which one would be lost."""
        return self._headers.layout(tuple(row.values), row.duplicates).error

    def cells_of(self, row: Mapping[str, str]) -> dict[str, Cell]:
        """Return the cells by field, without empty ones; note the columns that hold no field."""
        for column in self._headers.layout(tuple(row)).ignored:
            if len(self._ignored) < MAX_IGNORED:
                self._ignored.setdefault(single_line(column, 100))
        return self._headers.cells(row)

    def fields_of(self, columns: Sequence[str]) -> dict[str, str]:
        """Return the field of each column that is read."""
        return dict(self._headers.layout(tuple(columns)).fields)

    def values_of(self, row: Mapping[str, str]) -> dict[str, str]:
        """Return the values by field, without empty ones."""
        return {field: cell.text for field, cell in self._headers.cells(row).items()}


def parse_mapping(pairs: Iterable[str]) -> dict[str, str]:
    """Parse `COLUMN=FIELD` pairs, `-` for a column that is left out; raise WrongMapping for a text that is none."""
    mapping = {}
    for pair in pairs:
        column, separator, field = pair.rpartition("=")
        if not (separator and column.strip() and field.strip()):
            raise WrongMapping(f"{pair[:60]!r} is not COLUMN=FIELD.")
        mapping[column.strip()] = field.strip().lower()
    return mapping
