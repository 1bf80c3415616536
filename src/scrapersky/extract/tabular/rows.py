"""The rows of CSV and JSONL tables, each with its line, in constant memory."""

import csv
import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from scrapersky.core import strict_json
from scrapersky.extract.tabular.lines import TableLine, UnusableTable, read_lines

MAX_FIELD_LENGTH = 100_000  # characters
MAX_COLUMNS = 1_000
MAX_JSON_BYTES = 20_000_000  # of an array, which is parsed as a whole
DELIMITERS = ",;\t|"
# The first characters of formulas, also in the wide and small forms that some spreadsheets accept. Our own files have
# an apostrophe before them.
FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b")

Form = Literal["csv", "jsonl"]


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row by the names of its columns; `error` says why it cannot be used, `duplicates` are names used twice.

    `text` is the row as it was written, where `error` is set and it could be read.
    """

    line: int
    values: Mapping[str, str]
    error: str = ""
    duplicates: tuple[str, ...] = ()
    text: str = ""


def read_table(stream: BinaryIO, form: Form) -> Iterator[TableRow]:
    """Yield every row that is not blank; raise UnusableTable if the table as a whole cannot be read."""
    lines = read_lines(stream)
    yield from _jsonl(lines) if form == "jsonl" else _CsvRecords(lines).rows()


def read_list(stream: BinaryIO, name: str) -> Iterator[TableRow]:
    """Yield every line that is not blank as a row with one value; raise UnusableTable if the stream is not text."""
    for line in read_lines(stream):
        if line.error:
            yield TableRow(line.number, {}, line.error)
        elif value := line.text.strip():
            yield TableRow(line.number, {name: value})


def read_json(stream: BinaryIO) -> Iterator[TableRow]:
    """Yield the objects of a JSON array as rows, numbered from one; raise UnusableTable for anything else."""
    try:
        objects = strict_json.parse(stream.read(MAX_JSON_BYTES + 1))
    except (ValueError, RecursionError):
        objects = None
    if not isinstance(objects, list):
        raise UnusableTable(
            f"It is not an array of objects in JSON of at most {MAX_JSON_BYTES // 1_000_000} MB. "
            "A file of .jsonl, with one object per line, may be of any size."
        )
    yield from read_objects(objects)


def read_objects(objects: Iterable[Any]) -> Iterator[TableRow]:
    """Yield parsed JSON objects as rows, numbered from one."""
    for number, found in enumerate(objects, 1):
        yield _object(number, found)


def _jsonl(lines: Iterator[TableLine]) -> Iterator[TableRow]:
    for line in lines:
        if line.error:
            yield TableRow(line.number, {}, line.error)
        elif line.text.strip():
            try:
                found = strict_json.parse(line.text)
            except (ValueError, RecursionError):
                yield TableRow(line.number, {}, "is not JSON", text=line.text)
                continue
            yield _object(line.number, found)


def _object(number: int, found: Any) -> TableRow:
    if not isinstance(found, dict):
        return TableRow(number, {}, "is not an object", text=_text(found))
    if (key := strict_json.duplicate_key(found)) is not None:
        return TableRow(number, {}, f"has the key {key[:40]!a} twice in one object; keep one")
    return checked_row(number, {str(name): _text(value) for name, value in found.items()})


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(_text, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def checked_row(number: int, values: Mapping[str, str], duplicates: tuple[str, ...] = ()) -> TableRow:
    """Return a row, or its error if a value cannot be stored."""
    for name, value in values.items():
        if len(value) > MAX_FIELD_LENGTH:
            return TableRow(number, {}, f"has more than {MAX_FIELD_LENGTH:,} characters in {name[:40]!r}")
        if "\0" in value:
            return TableRow(number, {}, f"contains a NUL character in {name[:40]!r}")
    return TableRow(number, values, duplicates=duplicates)


class _Unclosed(Exception):
    """The CSV reader needs a further line, and the quote has been open for MAX_FIELD_LENGTH characters."""


class _CsvRecords:
    """Joins lines to records; a quote that is never closed makes only its own line unusable."""

    def __init__(self, lines: Iterator[TableLine]) -> None:
        self._lines = lines
        self._returned: deque[TableLine] = deque()  # lines that an unclosed quote had taken
        self._delimiter = ","

    def rows(self) -> Iterator[TableRow]:
        """Yield the rows below the first line, which names the columns."""
        names = self._names()
        duplicates = tuple(name for name, count in Counter(names).items() if name and count > 1)
        while (line := self._next()) is not None:
            if line.error:
                yield TableRow(line.number, {}, line.error)
            elif line.text.strip():
                cells = self._record(line)
                if isinstance(cells, str):
                    yield TableRow(line.number, {}, cells)
                elif any(cell.strip() for cell in cells):
                    yield _row(line.number, names, cells, duplicates)

    def _names(self) -> list[str]:
        line = self._next()
        while line is not None and not line.error and not line.text.strip():
            line = self._next()
        if line is None or line.error:
            raise UnusableTable(f"Line {line.number} {line.error}." if line else "It is empty.")
        self._delimiter = max(DELIMITERS, key=line.text[:10_000].count)
        cells = self._record(line)
        if isinstance(cells, str):
            raise UnusableTable(f"Line {line.number} {cells}.")
        if len(cells) > MAX_COLUMNS:
            raise UnusableTable(f"It has {len(cells):,} columns; the maximum is {MAX_COLUMNS:,}.")
        return [cell.strip() for cell in cells]

    def _next(self) -> TableLine | None:
        return self._returned.popleft() if self._returned else next(self._lines, None)

    def _record(self, first: TableLine) -> list[str] | str:
        """Return the cells of the record that begins with this line, or the error."""
        taken: list[TableLine] = [first]
        try:
            return next(csv.reader(self._feed(taken), delimiter=self._delimiter))
        except (_Unclosed, csv.Error) as error:
            self._returned.extendleft(reversed(taken[1:]))
            if isinstance(error, _Unclosed) or len(taken) > 1:
                return f"opens a quote that is not closed within {MAX_FIELD_LENGTH:,} characters"
            return f"has a field of more than {MAX_FIELD_LENGTH:,} characters"

    def _feed(self, taken: list[TableLine]) -> Iterator[str]:
        """Yield the first line, and further ones for as long as the CSV reader is inside a quote."""
        yield taken[0].text + "\n"
        size = len(taken[0].text)
        while size <= MAX_FIELD_LENGTH and (line := self._next()) is not None:
            taken.append(line)
            if line.error:
                break
            size += len(line.text)
            yield line.text + "\n"
        raise _Unclosed


def _row(number: int, names: list[str], cells: list[str], duplicates: tuple[str, ...]) -> TableRow:
    while len(cells) > len(names) and not cells[-1].strip():
        cells.pop()
    if len(cells) != len(names):
        written = ", ".join(cells)
        return TableRow(number, {}, f"has {len(cells):,} cells for {len(names):,} columns", text=written)
    values = {name: _unquoted(cell) for name, cell in zip(names, cells, strict=True) if name}
    return checked_row(number, values, duplicates)


def _unquoted(cell: str) -> str:
    """Remove the apostrophe that our own files write before a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in FORMULA_STARTS else cell
