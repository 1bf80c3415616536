"""A look at a table before it is imported: its columns, what each is taken for, and its first rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from scrapersky.actions.imports.column_mapping import ColumnMapping, DuplicateColumn, NoUsableColumn, WrongMapping
from scrapersky.actions.imports.row_parsers import RowValues
from scrapersky.actions.imports.run import BATCH_SIZE
from scrapersky.actions.imports.targets import target_of
from scrapersky.extract.tabular.lines import UnusableTable
from scrapersky.extract.tabular.rows import DELIMITERS, TableRow
from scrapersky.extract.text import single_line

MAX_SAMPLES = 5
MAX_CELL_LENGTH = 200


@dataclass(frozen=True)
class SeenColumn:
    """A column as the table names it, and the field that it is taken for."""

    name: str
    field: str | None


@dataclass(frozen=True)
class SampleRow:
    """One of the first rows: its line and its cells in the order of the columns; or why it cannot be read."""

    line: int
    cells: Sequence[str]
    error: str


@dataclass(frozen=True)
class TableLook:
    """What is seen of a table; `problem` says why it cannot be imported like this."""

    columns: Sequence[SeenColumn]
    rows: Sequence[SampleRow]
    problem: str


def is_list(noun: str, first_line: str) -> bool:
    """Return whether a table begins with a value instead of the names of its columns: one that could be stored."""
    target = target_of(noun)
    if noun == "places" or any(separator in first_line for separator in DELIMITERS):  # any text is a name of a place
        return False
    if ColumnMapping(noun).fields_of([first_line]):
        return False
    try:
        target.parse(RowValues({target.listed: first_line.strip()}))
    except ValueError:
        return False
    return True


def look_at(noun: str, rows: Iterable[TableRow], mapping: Mapping[str, str]) -> TableLook:
    """Return the columns and the first rows of a table, as an import with this mapping would read them.

    Raises UnusableTable if it has no rows.
    """
    first = list(islice(rows, BATCH_SIZE))
    if not first:
        raise UnusableTable("It has no row below the names of its columns.")
    reader = ColumnMapping(noun, mapping)
    names = list(dict.fromkeys(name for row in first for name in row.values))
    fields, problem = reader.fields_of(names), ""
    try:
        reader.check(first)
    except (WrongMapping, NoUsableColumn, DuplicateColumn) as error:
        problem = str(error)
    columns = [SeenColumn(name, fields.get(name)) for name in names]
    return TableLook(columns, [_sample(row, names) for row in first[:MAX_SAMPLES]], problem)


def _sample(row: TableRow, names: Sequence[str]) -> SampleRow:
    cells = [single_line(row.values.get(name, ""), MAX_CELL_LENGTH) for name in names]
    return SampleRow(row.line, cells, row.error)
