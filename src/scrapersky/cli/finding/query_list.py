"""The queries of `scrapersky find --queries`: one per line, or a table with what, where, provider and limit."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from scrapersky.actions.campaign_queries import WrittenQuery
from scrapersky.core.contact_fields import ImportColumn
from scrapersky.core.errors import BadRequest
from scrapersky.extract.tabular.headers import Headers
from scrapersky.extract.tabular.lines import UnusableTable, read_lines
from scrapersky.extract.tabular.rows import DELIMITERS, TableRow, read_table
from scrapersky.extract.tabular.workbook import read_workbook

MAX_BYTES = 5_000_000
HEADERS = Headers(
    {
        "what": ImportColumn("what to look for", fallbacks="query,search,keyword,search term,text,term"),
        "where": ImportColumn("where", fallbacks="area,location,city,place,town,in"),
        "provider": ImportColumn("the provider"),
        "limit": ImportColumn("the maximum number of places", fallbacks="max,maximum,max results"),
    }
)


class BadQueryFile(BadRequest):
    """The file of queries cannot be used."""


def read_query_file(file: Path) -> list[WrittenQuery]:
    """Return the queries of a file, in its order. Raises BadQueryFile if it is unreadable, empty or too large."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise BadQueryFile(f"{file} is larger than {MAX_BYTES // 1_000_000} MB: split it into several files.")
        with file.open("rb") as stream:
            found = list(_queries(stream, file.suffix.lower()))
    except OSError as error:
        raise BadQueryFile(f"{file} cannot be read: {error.strerror}.") from None
    except UnusableTable as error:
        raise BadQueryFile(f"{file} cannot be read: {error}") from None
    if not found:
        raise BadQueryFile(f"{file} has no query; write one per line, such as dentists in Helsinki.")
    return found


def _queries(stream: BinaryIO, suffix: str) -> Iterator[WrittenQuery]:
    if suffix == ".xlsx":
        yield from map(_of_row, _with_what(read_workbook(stream)))
    elif suffix in (".jsonl", ".ndjson"):
        yield from map(_of_row, _with_what(read_table(stream, "jsonl")))
    elif _is_table(stream):
        yield from map(_of_row, read_table(stream, "csv"))
    else:
        for line in read_lines(stream):
            text = line.text.strip()
            if (text and not text.startswith("#")) or line.error:
                yield WrittenQuery(line.number, text, problem=line.error)


def _with_what(rows: Iterator[TableRow]) -> Iterator[TableRow]:
    """Yield the rows; raise UnusableTable if the first one has no column for what to look for."""
    first = list(islice(rows, 1))
    for row in first:
        if not row.error and not any(HEADERS.field_of(column) == "what" for column in row.values):
            raise UnusableTable(f"It has no column `what`; there are {', '.join(row.values) or 'none'}.")
    yield from first
    yield from rows


def _is_table(stream: BinaryIO) -> bool:
    """Return whether the first line names a column for what to look for, and rewind."""
    first = next((line.text for line in read_lines(stream) if line.text.strip()), "")
    stream.seek(0)
    delimiter = max(DELIMITERS, key=first.count)
    return any(HEADERS.field_of(cell.strip().strip('"')) == "what" for cell in first.split(delimiter))


def _of_row(row: TableRow) -> WrittenQuery:
    cells = {field: cell.text for field, cell in HEADERS.cells(row.values).items()}
    problem = f"It {row.error}." if row.error else ""
    return WrittenQuery(row.line, cells.pop("what", ""), **cells, problem=problem)
