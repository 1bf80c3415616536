"""The rows of a table in a stream of bytes: CSV or JSONL, each with its line, in the same memory however long it is."""

import codecs
import csv
import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from scrapersky.core.errors import BadRequest
from scrapersky.extract.tabular import strict_json

MAX_LINE_LENGTH = 1_000_000  # bytes
MAX_FIELD_LENGTH = 100_000  # characters
MAX_COLUMNS = 1_000
CHUNK = 65_536
DELIMITERS = ",;\t|"
# What a formula begins with, in wide and small signs, too, which some spreadsheets read as plain ones; a file of ours
# has an apostrophe before it.
GUARDED = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b")
MARKS = {codecs.BOM_UTF8: "", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
PACKED = (b"PK\x03\x04", b"\x1f\x8b", b"%PDF", b"\x89PNG", b"\xd0\xcf\x11\xe0", b"SQLite", b"PAR1")
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))

Form = Literal["csv", "jsonl"]


class UnusableTable(BadRequest):
    """This cannot be read as a table."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row by the names of its columns; `trouble` says why it cannot be used, `twice` which names several have."""

    line: int
    values: Mapping[str, str]
    trouble: str = ""
    twice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableLine:
    """One line of the file without its end; `trouble` says why it cannot be read."""

    number: int
    text: str
    trouble: str = ""


def read_table(stream: BinaryIO, form: Form) -> Iterator[TableRow]:
    """Every row that is not blank; UnusableTable when the whole cannot be read."""
    lines = read_lines(stream)
    yield from _jsonl(lines) if form == "jsonl" else _CsvRecords(lines).rows()


def read_objects(objects: Iterable[Any]) -> Iterator[TableRow]:
    """Rows that are objects already, numbered from one."""
    for number, found in enumerate(objects, 1):
        yield _object(number, found)


def read_lines(stream: BinaryIO) -> Iterator[TableLine]:
    """Every line as text, in whichever charset; UnusableTable for what is no text."""
    head = stream.read(CHUNK)
    if not head.strip():
        raise UnusableTable("It is empty.")
    mark = next((mark for mark in MARKS if head.startswith(mark)), b"")
    charset = MARKS.get(mark, "")
    if not charset and (head.startswith(PACKED) or len(head) - len(head.translate(None, CONTROLS)) > len(head) // 10):
        raise UnusableTable("It is not text. Save the table as CSV (UTF-8) or JSONL first.")
    chunks = _as_utf8(_chunks(head[len(mark) :], stream), charset)
    # Only the old Macintosh ended its lines with a carriage return alone.
    end = b"\r" if not charset and b"\r" in head and b"\n" not in head else b"\n"
    for number, found in enumerate(_split(chunks, end), 1):
        yield _line(number, found)


def _chunks(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    yield head
    while chunk := stream.read(CHUNK):
        yield chunk


def _as_utf8(chunks: Iterator[bytes], charset: str) -> Iterator[bytes]:
    if not charset:
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(charset)("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


def _split(chunks: Iterator[bytes], end: bytes) -> Iterator[bytes | None]:
    """The lines; None for one that is too long, of which no more than a chunk is ever kept."""
    kept, is_too_long = bytearray(), False
    for chunk in chunks:
        *whole, rest = chunk.split(end)
        for piece in whole:
            kept += piece
            yield None if is_too_long or len(kept) > MAX_LINE_LENGTH else bytes(kept)
            kept, is_too_long = bytearray(), False
        kept += rest
        if len(kept) > MAX_LINE_LENGTH:
            kept, is_too_long = bytearray(), True
    if kept or is_too_long:
        yield None if is_too_long else bytes(kept)


def _line(number: int, found: bytes | None) -> TableLine:
    if found is None:
        return TableLine(number, "", f"is longer than {MAX_LINE_LENGTH:,} bytes")
    found = found.removesuffix(b"\r")
    if b"\0" in found:
        return TableLine(number, "", "holds a NUL, which no text has")
    try:
        return TableLine(number, found.decode())
    except UnicodeDecodeError:
        try:
            return TableLine(number, found.decode("cp1252"))  # the last resort: what old spreadsheets write
        except UnicodeDecodeError:
            return TableLine(number, "", "is neither UTF-8 nor Windows-1252; save the file as UTF-8")


def _jsonl(lines: Iterator[TableLine]) -> Iterator[TableRow]:
    for line in lines:
        if line.trouble:
            yield TableRow(line.number, {}, line.trouble)
        elif line.text.strip():
            try:
                found = strict_json.read(line.text)
            except (ValueError, RecursionError):
                yield TableRow(line.number, {}, "is no JSON")
                continue
            yield _object(line.number, found)


def _object(number: int, found: Any) -> TableRow:
    if not isinstance(found, dict):
        return TableRow(number, {}, "is no object")
    if (twin := strict_json.twin_in(found)) is not None:
        return TableRow(number, {}, f"says {twin[:40]!a} twice in one object; say it once")
    return _checked(number, {str(name): _text(value) for name, value in found.items()})


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(_text, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _checked(number: int, values: Mapping[str, str], twice: tuple[str, ...] = ()) -> TableRow:
    for name, value in values.items():
        if len(value) > MAX_FIELD_LENGTH:
            return TableRow(number, {}, f"has more than {MAX_FIELD_LENGTH:,} characters in {name[:40]!r}")
        if "\0" in value:
            return TableRow(number, {}, f"holds a NUL in {name[:40]!r}")
    return TableRow(number, values, twice=twice)


class _Unclosed(Exception):
    """The reader asks for one more line, and the quote has been open for long enough."""


class _CsvRecords:
    """Puts lines together to records; a quote that is never closed costs its own line and no other."""

    def __init__(self, lines: Iterator[TableLine]) -> None:
        self._lines = lines
        self._again: deque[TableLine] = deque()  # lines that an open quote had taken
        self._delimiter = ","

    def rows(self) -> Iterator[TableRow]:
        """The rows below the first line, which names the columns."""
        names = self._names()
        twice = tuple(name for name, count in Counter(names).items() if name and count > 1)
        while (line := self._next()) is not None:
            if line.trouble:
                yield TableRow(line.number, {}, line.trouble)
            elif line.text.strip():
                cells = self._record(line)
                if isinstance(cells, str):
                    yield TableRow(line.number, {}, cells)
                elif any(cell.strip() for cell in cells):
                    yield _row(line.number, names, cells, twice)

    def _names(self) -> list[str]:
        line = self._next()
        while line is not None and not line.trouble and not line.text.strip():
            line = self._next()
        if line is None or line.trouble:
            raise UnusableTable(f"Line {line.number} {line.trouble}." if line else "It is empty.")
        self._delimiter = max(DELIMITERS, key=line.text[:10_000].count)
        cells = self._record(line)
        if isinstance(cells, str):
            raise UnusableTable(f"Line {line.number} {cells}.")
        if len(cells) > MAX_COLUMNS:
            raise UnusableTable(f"It has {len(cells):,} columns; {MAX_COLUMNS:,} are the most.")
        return [cell.strip() for cell in cells]

    def _next(self) -> TableLine | None:
        return self._again.popleft() if self._again else next(self._lines, None)

    def _record(self, first: TableLine) -> list[str] | str:
        """The cells of the record that begins with this line, or what is wrong with it."""
        taken: list[TableLine] = [first]
        try:
            return next(csv.reader(self._feed(taken), delimiter=self._delimiter))
        except (_Unclosed, csv.Error) as error:
            self._again.extendleft(reversed(taken[1:]))
            if isinstance(error, _Unclosed) or len(taken) > 1:
                return f"opens a quote that is not closed within {MAX_FIELD_LENGTH:,} characters"
            return f"has a field of more than {MAX_FIELD_LENGTH:,} characters"

    def _feed(self, taken: list[TableLine]) -> Iterator[str]:
        yield taken[0].text + "\n"
        size = len(taken[0].text)
        while size <= MAX_FIELD_LENGTH and (line := self._next()) is not None:  # asked for more: inside of a quote
            taken.append(line)
            if line.trouble:
                break
            size += len(line.text)
            yield line.text + "\n"
        raise _Unclosed


def _row(number: int, names: list[str], cells: list[str], twice: tuple[str, ...]) -> TableRow:
    while len(cells) > len(names) and not cells[-1].strip():
        cells.pop()
    if len(cells) != len(names):
        return TableRow(number, {}, f"has {len(cells):,} cells for {len(names):,} columns")
    return _checked(number, {name: _unquoted(cell) for name, cell in zip(names, cells, strict=True) if name}, twice)


def _unquoted(cell: str) -> str:
    """What our own files write before a cell that a spreadsheet would run is none of its text."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in GUARDED else cell
