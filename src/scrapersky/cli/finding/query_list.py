"""The queries of `scrapersky find --queries`: one per line, or a table; see COLUMNS."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from scrapersky.actions.searches.campaign_queries import WrittenQuery
from scrapersky.core.contact_fields import ImportColumn
from scrapersky.core.errors import BadRequest
from scrapersky.extract.tabular.headers import Headers
from scrapersky.extract.tabular.lines import UnusableTable, read_entries, read_lines
from scrapersky.extract.tabular.rows import DELIMITERS, TableRow, read_json, read_table
from scrapersky.extract.tabular.workbook import read_workbook

MAX_BYTES = 5_000_000
EXAMPLE = "Write one query per line, such as dentists in Helsinki, or a table with a column `what`."
COLUMNS = {
    "what": ImportColumn("what to look for", fallbacks="query,search,keyword,search term,text,term"),
    "where": ImportColumn("where", fallbacks="area,location,city,place,town,in"),
    "region": ImportColumn("the region of that place", fallbacks="state,province,county"),
    "country": ImportColumn("the country of that place", fallbacks="country code"),
    "provider": ImportColumn("the provider"),
    "limit": ImportColumn("the maximum number of places", fallbacks="max,maximum,max results"),
}
HEADERS = Headers(COLUMNS)


class BadQueryFile(BadRequest):
    """The file of queries cannot be used."""


def read_query_file(file: Path) -> list[WrittenQuery]:
    """Return the queries of a file, in its order. Raises BadQueryFile if it is unreadable, empty or too large."""
    try:
        with file.open("rb") as opened:  # which may be a pipe, and is read once
            content = opened.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise BadQueryFile(f"{file} is larger than {MAX_BYTES // 1_000_000} MB: split it into several files.")
        found = list(_queries(BytesIO(content), file.suffix.lower()))
    except OSError as error:
        raise BadQueryFile(f"{file} cannot be read: {error.strerror}.") from None
    except UnusableTable as error:
        raise BadQueryFile(f"{file} cannot be used: {error} {EXAMPLE}") from None
    if not found:
        raise BadQueryFile(f"{file} has no query. {EXAMPLE}")
    return found


def _queries(stream: BinaryIO, suffix: str) -> Iterator[WrittenQuery]:
    if suffix == ".xlsx":
        yield from map(_of_row, _with_what(read_workbook(stream)))
    elif suffix == ".json":
        yield from map(_of_row, _with_what(read_json(stream)))
    elif suffix in (".jsonl", ".ndjson"):
        yield from map(_of_row, _with_what(read_table(stream, "jsonl")))
    elif _is_table(stream, suffix):
        yield from map(_of_row, read_table(stream, "csv"))
    else:
        for line in read_entries(stream):
            yield WrittenQuery(line.number, line.text, problem=_problem(line.error))


def _with_what(rows: Iterator[TableRow]) -> Iterator[TableRow]:
    """Yield the rows; raise UnusableTable if the first one has no column for what to look for."""
    first = list(islice(rows, 1))
    for row in first:
        if not row.error and not any(HEADERS.field_of(column) == "what" for column in row.values):
            raise _without_what(row.values)
    yield from first
    yield from rows


def _is_table(stream: BinaryIO, suffix: str) -> bool:
    """Return whether the first line names a column for what to look for, and rewind.

    Raises UnusableTable for a file named as a table whose first line has several cells, and none is such a name.
    """
    first = next((line.text for line in read_lines(stream) if line.text.strip()), "")
    stream.seek(0)
    delimiter = max(DELIMITERS, key=first.count)
    cells = [cell.strip().strip('"') for cell in first.split(delimiter)]
    if any(HEADERS.field_of(cell) == "what" for cell in cells):
        return True
    if suffix in (".csv", ".tsv") and len(cells) > 1:
        raise _without_what(cells)
    return False


def _without_what(columns: Iterable[str]) -> UnusableTable:
    """Return the error of a table without a column for what to look for, with those that it may have."""
    return UnusableTable(
        f"It has no column `what`; there are {', '.join(columns)[:200] or 'none'}. "
        f"Known columns are {', '.join(COLUMNS)}. A file of lines is named .txt."
    )


def _of_row(row: TableRow) -> WrittenQuery:
    cells = {field: cell.text for field, cell in HEADERS.cells(row.values).items()}
    where = ", ".join(filter(None, (cells.pop("where", ""), cells.pop("region", ""))))
    return WrittenQuery(row.line, cells.pop("what", row.text), where, **cells, problem=_problem(row.error))


def _problem(error: str) -> str:
    return f"It {error}." if error else ""
