"""Files that are streamed row by row: CSV in which no cell can run as a formula, or JSON lines."""

import csv
import io
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Path
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from scrapersky.core import clock
from scrapersky.destinations.files import safe_cell

ROWS_AT_ONCE = 200
TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
FILE_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", "content": {"text/csv": {}, "application/x-ndjson": {}}}
}

FileFormat = Annotated[Literal["csv", "jsonl"], Path(description="the kind of file")]
Rows = AsyncGenerator[Mapping[str, Any]]


class FileResponse(StreamingResponse):
    """A stream that ends with its reader: whatever becomes of the one, the other gives back what it holds at once."""

    def __init__(self, first: str, rest: AsyncGenerator[str], **more: Any) -> None:
        super().__init__(_after(first, rest), **more)
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._rest):
            await super().__call__(scope, receive, send)


async def stream_file(name: str, ending: str, columns: Sequence[str], rows: Rows) -> StreamingResponse:
    """The answer, once its first rows are there: a database that is away is a problem document, not half a file."""
    chunks = _chunks(columns, rows, ending)
    first = await anext(chunks)
    attached = quote(f"{name}-{clock.now():%Y-%m-%d}.{ending}")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{attached}"}
    return FileResponse(first, chunks, media_type=TYPES[ending], headers=headers)


async def _after(first: str, rest: AsyncGenerator[str]) -> AsyncGenerator[str]:
    yield first
    async for chunk in rest:
        yield chunk


async def _chunks(columns: Sequence[str], rows: Rows, ending: str) -> AsyncGenerator[str]:
    """The file in pieces: its head with the first rows, then some rows at once."""
    lines = list[str]()
    head = "\ufeff" + _csv(columns) if ending == "csv" else ""  # the mark makes spreadsheets read UTF-8
    async with aclosing(rows):
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
