"""Workbooks (.xlsx) written row by row: a styled header that stays in view, a filter, links and dates."""

import errno
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from scrapersky.destinations.files.cells import DAYS
from scrapersky.extract.phones.spelling import PhoneFormat, spell_phones

MEASURED_ROWS = 200  # the rows that decide how wide the columns are
MIN_WIDTH, MAX_WIDTH = 8, 50  # characters
MAX_LINKS = 65_000  # Excel repairs a sheet that has more than 65,530
MAX_LINK_LENGTH = 2_000  # Excel takes no more
MAX_TEXT_LENGTH = 32_767
# Columns whose texts are web addresses or email addresses, by the last word of their names.
LINKED = ("website", "url", "source", "profile", "email")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]{1,6})?+(?:Z|[+-][0-9]{2}:[0-9]{2})"
)
_LINK = re.compile(r"https?://[!#-;=?-\[\]_a-z~]++")
_ADDRESS = re.compile(r"[a-z0-9._+-]{1,64}+@[a-z0-9.-]{1,255}+", re.IGNORECASE)


class XlsxWriter:
    """A workbook with one sheet; every cell is a text, a number or a date, never a formula."""

    def __init__(self, path: Path, columns: Sequence[str], phone_format: PhoneFormat | None = None) -> None:
        from openpyxl import Workbook

        self._path, self._columns = path, columns
        self._phone_format = phone_format or "international"
        self._book = Workbook(write_only=True)
        self._sheet = self._book.create_sheet("leads")
        self._first_rows: list[list[Any]] | None = []  # None once the widths of the columns are known
        self._count = 1
        self._links = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one row of cells to a temporary file; the first rows wait until the columns have their widths."""
        values = [self._value(name, row.get(name)) for name in self._columns]
        if self._first_rows is None:
            self._append(values)
            return
        self._first_rows.append(values)
        if len(self._first_rows) == MEASURED_ROWS:
            self._begin()

    def finish(self) -> None:
        """Save the workbook to disk."""
        from openpyxl.utils import get_column_letter

        self._begin()
        self._sheet.auto_filter.ref = f"A1:{get_column_letter(len(self._columns))}{self._count}"
        with self._as_os_error():
            self._book.save(self._path)

    def abandon(self) -> None:
        """Close what is open, without a workbook."""
        from lxml.etree import LxmlError

        if self._first_rows is None and not self._sheet.closed:
            with suppress(LxmlError, StopIteration):  # the sheet has ended already if writing it failed
                self._sheet.close()

    def _begin(self) -> None:
        """Write the header and the rows that have waited for it."""
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.styles import Alignment, Font, PatternFill
        from openpyxl.utils import get_column_letter

        if self._first_rows is None:
            return
        waiting, self._first_rows = self._first_rows, None
        self._sheet.freeze_panes = "A2"
        for number, name in enumerate(self._columns):
            width = max([len(name) + 4, *(_width(values[number]) for values in waiting)])  # 4: the button of the filter
            dimension = self._sheet.column_dimensions[get_column_letter(number + 1)]
            dimension.width = min(max(width, MIN_WIDTH), MAX_WIDTH)
        header = [WriteOnlyCell(self._sheet, value=self._value("", name)) for name in self._columns]
        for cell in header:
            cell.data_type = "s"  # own columns may be named like a formula
            cell.font, cell.fill = Font(bold=True, color="FFFFFF"), PatternFill("solid", start_color="1F4E78")
            cell.alignment = Alignment(vertical="center")
        with self._as_os_error():
            self._sheet.append(header)
        for values in waiting:
            self._append(values)

    def _append(self, values: Sequence[Any]) -> None:
        with self._as_os_error():
            self._sheet.append([self._cell(name, value) for name, value in zip(self._columns, values, strict=True)])
        self._count += 1

    def _value(self, column: str, value: Any) -> Any:
        """Return the value that a cell of this column holds."""
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

        if not isinstance(value, str):
            return value
        if (column in DAYS or _TIME.fullmatch(value)) and (moment := _moment(value)) is not None:
            return moment
        return ILLEGAL_CHARACTERS_RE.sub("", spell_phones(value, self._phone_format, column))[:MAX_TEXT_LENGTH]

    def _cell(self, column: str, value: Any) -> Any:
        from openpyxl.cell import WriteOnlyCell

        if isinstance(value, date):
            cell = WriteOnlyCell(self._sheet)
            cell.value = value
            cell.number_format = "yyyy-mm-dd hh:mm:ss" if isinstance(value, datetime) else "yyyy-mm-dd"
            return cell
        if not isinstance(value, str):
            return value
        cell = WriteOnlyCell(self._sheet, value=value)
        cell.data_type = "s"  # also of a text that begins with =
        if self._links < MAX_LINKS and (target := link_of(column, value)):
            cell.hyperlink, cell.style = target, "Hyperlink"
            self._links += 1
        return cell

    @contextmanager
    def _as_os_error(self) -> Iterator[None]:
        """Convert lxml's error of a full disk, which openpyxl raises, to an OSError."""
        from lxml.etree import LxmlError

        try:
            yield
        except LxmlError as error:
            with suppress(LxmlError, StopIteration):  # the sheet has ended already if writing it failed
                self._sheet.close()  # else it says the same again when it is thrown away
            raise OSError(errno.EIO, f"its temporary file says {error}") from error


def link_of(column: str, text: str) -> str | None:
    """Return the target of a link in this column; None if the text is not a plain web address or email address."""
    if column.rpartition("_")[2] not in LINKED or len(text) > MAX_LINK_LENGTH:
        return None
    if _ADDRESS.fullmatch(text):
        return f"mailto:{text}"
    return text if _LINK.fullmatch(text) else None


def _moment(text: str) -> date | None:
    """Return an ISO date as a date, and an ISO time as a time in UTC: a workbook has no time zones."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) == len("2026-11-16"):
        return moment.date()
    return moment.astimezone(UTC).replace(tzinfo=None)


def _width(value: Any) -> int:
    return len("2026-11-16 12:00:00" if isinstance(value, datetime) else str(value)) + 2 if value is not None else 0
