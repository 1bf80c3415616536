"""Files of leads: csv, tsv, json, jsonl, xlsx, parquet; written beside their name and moved there when whole."""

import csv
import json
import os
import secrets
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from tempfile import gettempdir
from types import TracebackType
from typing import Any, Protocol, Self

from scrapersky.core.errors import BadRequest, OutputClosed
from scrapersky.destinations.files.cells import may_have_formula, safe_cell
from scrapersky.destinations.files.workbook import XlsxWriter
from scrapersky.extract.phones.spelling import PHONE_COLUMNS, PhoneFormat, spell_phones

STANDARD_OUTPUT = Path("-")
BYTE_ORDER_MARK = "\ufeff"


class UnwritableFile(BadRequest):
    """The file cannot be written."""


# The columns of numbers, with their types; in a parquet file all others are texts.
NUMBERS: Mapping[str, type] = {
    "rating": float,
    "confidence": float,
    "website_confidence": float,
    "latitude": float,
    "longitude": float,
    "rating_count": int,
}


class Writer(Protocol):
    """Takes rows one by one."""

    def add(self, row: Mapping[str, Any]) -> None: ...
    def finish(self) -> None: ...
    def abandon(self) -> None: ...


class CsvWriter:
    """Comma-separated, UTF-8 with a mark so that spreadsheets read it right."""

    DELIMITER = ","

    def __init__(self, path: Path, columns: Sequence[str], phone_format: PhoneFormat | None = None) -> None:
        self._phone_format = phone_format or "international"
        self._file = path.open("w", encoding="utf-8", newline="")
        self._file.write(BYTE_ORDER_MARK)  # the encoding "utf-8-sig" would run Python code for each line
        self._columns = columns
        self._phones = [position for position, name in enumerate(columns) if name in PHONE_COLUMNS]
        others = [position for position, name in enumerate(columns) if name not in PHONE_COLUMNS]
        self._others: Callable[[list[Any]], Sequence[Any]] = itemgetter(*others) if len(others) > 1 else list
        self._rows = csv.writer(self._file, delimiter=self.DELIMITER)
        self._rows.writerow(map(safe_cell, columns))  # own columns may be named like a formula

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one line."""
        cells = list(map(row.get, self._columns))
        # One search over the row is cheaper than a look at each cell.
        positions = range(len(cells)) if may_have_formula(self._others(cells)) else self._phones
        for position in positions:
            cells[position] = safe_cell(cells[position], self._columns[position], self._phone_format)
        self._rows.writerow(cells)

    def finish(self) -> None:
        """Flush the file to disk."""
        self._file.close()

    def abandon(self) -> None:
        """Close the file."""
        self._file.close()


class TsvWriter(CsvWriter):
    """The same, separated by tabs."""

    DELIMITER = "\t"


class JsonlWriter:
    """One JSON object a line; nothing is quoted for spreadsheets."""

    BEFORE, BETWEEN, AFTER, EMPTY = "", "\n", "\n", ""

    def __init__(self, path: Path, columns: Sequence[str], phone_format: PhoneFormat | None = None) -> None:
        self._file, self._columns = path.open("w", encoding="utf-8"), columns
        self._phone_format = phone_format or "e164"
        self._is_empty = True

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one object."""
        self._file.write(self.BEFORE if self._is_empty else self.BETWEEN)
        self._is_empty = False
        self._file.write(json.dumps(_spelled(row, self._columns, self._phone_format), ensure_ascii=False))

    def finish(self) -> None:
        """Flush the file to disk."""
        self._file.write(self.EMPTY if self._is_empty else self.AFTER)
        self._file.close()

    def abandon(self) -> None:
        """Close the file."""
        self._file.close()


class JsonWriter(JsonlWriter):
    """One array of objects, each on a line of its own."""

    BEFORE, BETWEEN, AFTER, EMPTY = "[\n", ",\n", "\n]\n", "[]\n"


class ParquetWriter:
    """A parquet file in groups of rows."""

    GROUP = 5_000

    def __init__(self, path: Path, columns: Sequence[str], phone_format: PhoneFormat | None = None) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise UnwritableFile(
                "Parquet needs pyarrow: `pip install scrapersky[parquet]`, or choose .csv, .xlsx or .jsonl."
            ) from None
        self._arrow = pyarrow
        types = {float: pyarrow.float64(), int: pyarrow.int64()}
        self._schema = pyarrow.schema([(name, types.get(NUMBERS.get(name, str), pyarrow.string())) for name in columns])
        self._file = pyarrow.parquet.ParquetWriter(path, self._schema)
        self._columns, self._phone_format = columns, phone_format or "e164"
        self._rows: list[Mapping[str, Any]] = []

    def add(self, row: Mapping[str, Any]) -> None:
        """Collect rows until their row group is full."""
        self._rows.append(_spelled(row, self._columns, self._phone_format))
        if len(self._rows) >= self.GROUP:
            self._flush()

    def finish(self) -> None:
        """Write the last row group to disk."""
        self._flush()
        self._file.close()

    def abandon(self) -> None:
        """Close the file."""
        self._file.close()

    def _flush(self) -> None:
        if self._rows:
            self._file.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


def _spelled(row: Mapping[str, Any], columns: Sequence[str], phone_format: PhoneFormat) -> dict[str, Any]:
    """Return the columns of a row, with phone numbers in this format."""
    values = ((name, row.get(name)) for name in columns)
    return {
        name: spell_phones(value, phone_format, name) if isinstance(value, str) else value for name, value in values
    }


WRITERS: Mapping[str, type[CsvWriter | JsonlWriter | XlsxWriter | ParquetWriter]] = {
    ".csv": CsvWriter,
    ".tsv": TsvWriter,
    ".json": JsonWriter,
    ".jsonl": JsonlWriter,
    ".xlsx": XlsxWriter,
    ".parquet": ParquetWriter,
}


class LeadFile:
    """A file that appears whole or not at all. Checked when made, so that a wrong path fails before the work."""

    def __init__(
        self,
        path: Path,
        columns: Sequence[str],
        phone_format: PhoneFormat | None = None,
        form: str | None = None,
    ) -> None:
        """Take the name of the file, `-` for standard output, and its format if the name does not say it."""
        self._is_standard_output = path == STANDARD_OUTPUT
        self.suffix = f".{form}" if form else ".csv" if self._is_standard_output else path.suffix
        if self.suffix not in WRITERS:
            raise UnwritableFile(f"{path.name} ends in {path.suffix or 'nothing'}; use {', '.join(WRITERS)}.")
        if path.is_dir() or not path.parent.is_dir():
            raise UnwritableFile(f"{path} is a directory." if path.is_dir() else f"{path.parent} does not exist.")
        # Nobody else can guess the name before the file exists, nor read the file before it is whole.
        folder = Path(gettempdir()) if self._is_standard_output else path.parent
        self._path, self._partial = path, folder / f".{path.stem}.{secrets.token_hex(16)}.partial{self.suffix}"
        self._columns = columns
        try:
            os.close(os.open(self._partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._writer: Writer = WRITERS[self.suffix](self._partial, columns, phone_format)
        except OSError as error:
            raise UnwritableFile(f"{path} cannot be written: {error.strerror}.") from error
        self.count = 0
        self.kept = False  # an older file, which an empty one did not replace
        self.written = False

    async def write(
        self, rows: AsyncIterator[Mapping[str, Any]], *, keep_old: bool = False, may_be_empty: bool = True
    ) -> int:
        """Write every row, then move the file; return the count.

        If there is no row, `keep_old` keeps an old file, and without `may_be_empty` no file is left.
        """
        try:
            async for row in rows:
                self._writer.add(row)
                self.count += 1
            self._writer.finish()
            self.kept = not self._is_standard_output and keep_old and not self.count and self._path.exists()
            self.written = not self.kept and (may_be_empty or self.count > 0)
            if not self._is_standard_output and self.written:
                self._partial.chmod(_mode_of(self._path))
                self._partial.replace(self._path)
        except OSError as error:
            raise UnwritableFile(f"{self._path} cannot be written: {error.strerror}.") from error
        if self._is_standard_output:
            self._print()
        return self.count

    def _print(self) -> None:
        """Copy the file to standard output; a reader that has ended is not a fault of the file."""
        try:
            with self._partial.open("rb") as whole:
                shutil.copyfileobj(whole, sys.stdout.buffer)
            sys.stdout.flush()
        except BrokenPipeError:
            raise OutputClosed from None
        except OSError as error:
            raise UnwritableFile(f"Standard output cannot be written: {error.strerror}.") from error

    def discard(self) -> None:
        """Delete the unfinished file."""
        self._writer.abandon()
        self._partial.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()


def _mode_of(path: Path) -> int:
    """Return the mode of the file that is replaced, or that of a new file."""
    with suppress(FileNotFoundError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0o077)  # the only way to read it
    os.umask(mask)
    return 0o666 & ~mask
