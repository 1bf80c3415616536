"""Files that are streamed row by row: CSV in which no cell can run as a formula, or JSON lines."""

import csv
import io
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Path
from starlette.responses import StreamingResponse

from scrapersky.core import clock
from scrapersky.destinations.lead_file import safe_cell

ROWS_AT_ONCE = 200
TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
FILE_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", "content": {"text/csv": {}, "application/x-ndjson": {}}}
}

Ending = Annotated[Literal["csv", "jsonl"], Path(description="the kind of file")]
Rows = AsyncIterator[Mapping[str, Any]]


async def file_of(name: str, ending: str, columns: Sequence[str], rows: Rows) -> StreamingResponse:
    """The answer, once its first rows are there: a database that is away is a problem document, not half a file."""
    chunks = _chunks(columns, rows, ending)
    first = await anext(chunks)
    attached = quote(f"{name}-{clock.now():%Y-%m-%d}.{ending}")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{attached}"}
    return StreamingResponse(_after(first, chunks), media_type=TYPES[ending], headers=headers)


async def _after(first: str, chunks: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for chunk in chunks:
        yield chunk


async def _chunks(columns: Sequence[str], rows: Rows, ending: str) -> AsyncIterator[str]:
    """The file in pieces: its head with the first rows, then some rows at once."""
    lines = list[str]()
    head = "\ufeff" + _csv(columns) if ending == "csv" else ""  # the mark makes spreadsheets read UTF-8
    async for row in rows:
        lines.append(_csv(map(safe_cell, row.values())) if ending == "csv" else _json(row))
        if len(lines) >= ROWS_AT_ONCE:
            yield head + "".join(lines)
            head = ""
            lines.clear()
    yield head + "".join(lines)


def _csv(cells: Any) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _json(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
