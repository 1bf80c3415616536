"""Files of leads: csv, jsonl, xlsx, parquet; written beside their name and moved there when they are whole."""

import csv
import json
import os
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from scrapersky.core.errors import BadRequest
from scrapersky.destinations.cells import safe_cell
from scrapersky.destinations.workbook import XlsxWriter
from scrapersky.extract.phones.spelling import PhoneFormat, spell_phones


class UnwritableFile(BadRequest):
    """The file of leads cannot be written."""


class Writer(Protocol):
    """Takes rows one by one."""

    def add(self, row: Mapping[str, Any]) -> None: ...
    def finish(self) -> None: ...
    def abandon(self) -> None: ...


class CsvWriter:
    """Comma-separated, UTF-8 with a mark so that spreadsheets read it right."""

    def __init__(self, path: Path, columns: Sequence[str], phone_format: PhoneFormat | None = None) -> None:
        self._phone_format = phone_format or "international"
        self._file = path.open("w", encoding="utf-8-sig", newline="")
        self._rows = csv.DictWriter(self._file, columns, extrasaction="ignore")
        self._rows.writeheader()

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one line."""
        self._rows.writerow({name: safe_cell(value, name, self._phone_format) for name, value in row.items()})

    def finish(self) -> None:
        """Flush the file to disk."""
        self._file.close()

    def abandon(self) -> None:
        """Close the file."""
        self._file.close()


class JsonlWriter:
    """One JSON object a line; nothing is quoted for spreadsheets."""

    def __init__(self, path: Path, columns: Sequence[str], phone_format: PhoneFormat | None = None) -> None:
        self._file, self._columns = path.open("w", encoding="utf-8"), columns
        self._phone_format = phone_format or "e164"

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one line."""
        self._file.write(json.dumps(_spelled(row, self._columns, self._phone_format), ensure_ascii=False) + "\n")

    def finish(self) -> None:
        """Flush the file to disk."""
        self._file.close()

    def abandon(self) -> None:
        """Close the file."""
        self._file.close()


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
        numbers = {"rating", "confidence"}
        self._schema = pyarrow.schema(
            [(name, pyarrow.float64() if name in numbers else pyarrow.string()) for name in columns]
        )
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
    ".jsonl": JsonlWriter,
    ".xlsx": XlsxWriter,
    ".parquet": ParquetWriter,
}


class LeadFile:
    """A file that appears whole or not at all. Checked when made, so that nobody works an hour for nothing."""

    def __init__(self, path: Path, columns: Sequence[str], phone_format: PhoneFormat | None = None) -> None:
        if path.suffix not in WRITERS:
            raise UnwritableFile(f"{path.name} ends in {path.suffix or 'nothing'}; use {', '.join(WRITERS)}.")
        if path.is_dir() or not path.parent.is_dir():
            raise UnwritableFile(f"{path} is a directory." if path.is_dir() else f"{path.parent} does not exist.")
        # Nobody else can guess the name before the file exists, nor read the file before it is whole.
        self._path, self._partial = path, path.with_name(f".{path.stem}.{secrets.token_hex(16)}.partial{path.suffix}")
        self._columns = columns
        try:
            os.close(os.open(self._partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._writer: Writer = WRITERS[path.suffix](self._partial, columns, phone_format)
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
