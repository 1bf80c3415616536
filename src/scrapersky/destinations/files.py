"""Files of leads: csv, jsonl, xlsx, parquet; written beside their name and moved there when they are whole."""

import csv
import errno
import json
import os
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from scrapersky.core.errors import BadRequest
from scrapersky.extract.tabular.rows import FORMULA_STARTS


class UnwritableFile(BadRequest):
    """The file of leads cannot be written."""


class Writer(Protocol):
    """Takes rows one by one."""

    def add(self, row: Mapping[str, Any]) -> None: ...
    def finish(self) -> None: ...


def safe_cell(value: Any) -> Any:
    """Escape a cell that a spreadsheet would run as a formula; E.164 numbers stay as they are."""
    if not isinstance(value, str) or not value.startswith(FORMULA_STARTS):
        return value
    return value if value[0] == "+" and value[1:].isdecimal() else f"'{value}"


class CsvWriter:
    """Comma-separated, UTF-8 with a mark so that spreadsheets read it right."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._file = path.open("w", encoding="utf-8-sig", newline="")
        self._rows = csv.DictWriter(self._file, columns, extrasaction="ignore")
        self._rows.writeheader()

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one line."""
        self._rows.writerow({key: safe_cell(value) for key, value in row.items()})

    def finish(self) -> None:
        """Flush the file to disk."""
        self._file.close()


class JsonlWriter:
    """One JSON object a line; nothing is quoted for spreadsheets."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._file, self._columns = path.open("w", encoding="utf-8"), columns

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one line."""
        self._file.write(json.dumps({name: row.get(name) for name in self._columns}, ensure_ascii=False) + "\n")

    def finish(self) -> None:
        """Flush the file to disk."""
        self._file.close()


class XlsxWriter:
    """A workbook written row by row; every cell is text or a number, never a formula."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        from openpyxl import Workbook

        self._path, self._columns = path, columns
        self._book = Workbook(write_only=True)
        self._sheet = self._book.create_sheet("leads")
        self._sheet.append(list(columns))

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one row of cells to a temporary file."""
        with self._as_os_error():
            self._sheet.append([self._cell(row.get(name)) for name in self._columns])

    def _cell(self, value: Any) -> Any:
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

        if not isinstance(value, str):
            return value
        cell = WriteOnlyCell(self._sheet, value=ILLEGAL_CHARACTERS_RE.sub("", value)[:32_767])
        cell.data_type = "s"
        return cell

    def finish(self) -> None:
        """Save the workbook to disk."""
        with self._as_os_error():
            self._book.save(self._path)

    @contextmanager
    def _as_os_error(self) -> Iterator[None]:
        """Convert lxml's error of a full disk, which openpyxl raises, to an OSError."""
        from lxml.etree import LxmlError

        try:
            yield
        except LxmlError as error:
            with suppress(LxmlError):
                self._sheet.close()  # else it says the same again when it is thrown away
            raise OSError(errno.EIO, f"its temporary file says {error}") from error


class ParquetWriter:
    """A parquet file in groups of rows."""

    GROUP = 5_000

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise UnwritableFile(
                "Parquet needs pyarrow: `pip install scrapersky[parquet]`, or choose .csv, .xlsx or .jsonl."
            ) from None
        self._arrow = pyarrow
        numbers = {"rating", "confidence"}
        self._schema = pyarrow.schema(
            [(name, pyarrow.float64() if name in numbers else pyarrow.string()) for name in columns]
        )
        self._file = pyarrow.parquet.ParquetWriter(path, self._schema)
        self._rows: list[Mapping[str, Any]] = []

    def add(self, row: Mapping[str, Any]) -> None:
        """Collect rows until their row group is full."""
        self._rows.append(row)
        if len(self._rows) >= self.GROUP:
            self._flush()

    def finish(self) -> None:
        """Write the last row group to disk."""
        self._flush()
        self._file.close()

    def _flush(self) -> None:
        if self._rows:
            self._file.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


WRITERS: Mapping[str, type[CsvWriter | JsonlWriter | XlsxWriter | ParquetWriter]] = {
    ".csv": CsvWriter,
    ".jsonl": JsonlWriter,
    ".xlsx": XlsxWriter,
    ".parquet": ParquetWriter,
}


class LeadFile:
    """A file that appears whole or not at all. Checked when made, so that nobody works an hour for nothing."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        if path.suffix not in WRITERS:
            raise UnwritableFile(f"{path.name} ends in {path.suffix or 'nothing'}; use {', '.join(WRITERS)}.")
        if path.is_dir() or not path.parent.is_dir():
            raise UnwritableFile(f"{path} is a directory." if path.is_dir() else f"{path.parent} does not exist.")
        # Nobody else can guess the name before the file exists, nor read the file before it is whole.
        self._path, self._partial = path, path.with_name(f".{path.stem}.{secrets.token_hex(16)}.partial{path.suffix}")
        self._columns = columns
        try:
            os.close(os.open(self._partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._writer: Writer = WRITERS[path.suffix](self._partial, columns)
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
            self.kept = keep_old and not self.count and self._path.exists()
            self.written = not self.kept and (may_be_empty or self.count > 0)
            if self.written:
                self._partial.chmod(_mode_of(self._path))
                self._partial.replace(self._path)
        except OSError as error:
            raise UnwritableFile(f"{self._path} cannot be written: {error.strerror}.") from error
        return self.count

    def discard(self) -> None:
        """Leave nothing behind."""
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
