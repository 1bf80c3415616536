"""The rows of the first sheet of an Excel workbook, as those of a CSV table."""

from collections.abc import Iterator
from datetime import date
from typing import Any, BinaryIO
from zipfile import BadZipFile

from scrapersky.extract.tabular.lines import UnusableTable
from scrapersky.extract.tabular.rows import MAX_COLUMNS, TableRow, checked_row

MAX_ROWS = 1_048_576  # of a sheet


def read_workbook(stream: BinaryIO) -> Iterator[TableRow]:
    """Yield every row that is not blank below the first one, which names the columns. Raises UnusableTable."""
    from openpyxl import load_workbook

    try:
        book = load_workbook(stream, read_only=True, data_only=True)
    except (BadZipFile, KeyError, ValueError, OSError) as error:
        raise UnusableTable(f"It is not an Excel workbook (.xlsx): {error}.") from None
    try:
        names: list[str] | None = None
        for number, cells in enumerate(book.worksheets[0].iter_rows(max_col=MAX_COLUMNS, values_only=True), 1):
            texts = [_text(cell) for cell in cells]
            if not any(texts):
                continue
            if names is None:
                names = texts
            else:
                pairs = zip(names, texts, strict=False)
                yield checked_row(number, {name: text for name, text in pairs if name})
        if names is None:
            raise UnusableTable("Its first sheet is empty.")
    finally:
        book.close()


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date) else str(cell).strip()
