"""Streamed files: CSV whose cells cannot run as formulas, or JSON lines; and how many are streamed at once."""

import asyncio
import csv
import io
import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path as FilePath
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal
from urllib.parse import quote
from uuid import UUID

from fastapi import Path
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from scrapersky.api.schemas.files import MEDIA_TYPES
from scrapersky.core import clock
from scrapersky.core.database import Database
from scrapersky.core.errors import RateLimited
from scrapersky.destinations.files.cells import safe_cell
from scrapersky.destinations.files.lead_file import WRITERS, Writer
from scrapersky.extract.phones.spelling import PhoneFormat

RETRY_AFTER_SECONDS = 10
CHUNK_ROWS = 200
BLOCK_BYTES = 65_536

FileFormat = Annotated[Literal["csv", "jsonl"], Path(description="the file format")]
Rows = AsyncGenerator[Mapping[str, Any]]


class Downloads:
    """Database sessions of streamed files.

    A slow download keeps its connection: downloads get at most half of the sessions, and one tenant half of that.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.max_running = max(1, database.max_sessions // 2)
        self.max_per_tenant = max(1, (self.max_running + 1) // 2)
        self._running = Counter[UUID]()

    @property
    def running(self) -> int:
        """The number of downloads in progress."""
        return self._running.total()

    @asynccontextmanager
    async def session(self, tenant_id: UUID) -> AsyncIterator[AsyncSession]:
        """Open the session of one download. Raises RateLimited if too many are in progress."""
        if self._running[tenant_id] >= self.max_per_tenant or self.running >= self.max_running:
            raise RateLimited("Too many downloads are in progress; retry when one has finished.", RETRY_AFTER_SECONDS)
        self._running[tenant_id] += 1
        try:
            async with self._database.session(tenant_id) as session:
                yield session
        finally:
            self._running[tenant_id] -= 1
            if not self._running[tenant_id]:
                del self._running[tenant_id]

    async def rows(
        self, tenant_id: UUID, read: Callable[[AsyncSession], AsyncGenerator[dict[str, Any]]]
    ) -> AsyncGenerator[dict[str, Any]]:
        """Yield the rows that `read` streams in the session of one download."""
        async with self.session(tenant_id) as session, aclosing(read(session)) as rows:
            async for row in rows:
                yield row


class FileResponse(StreamingResponse):
    """A stream that closes its generator, and so its database session, however the response ends."""

    def __init__(self, first: str | bytes, rest: AsyncGenerator[str | bytes], **more: Any) -> None:
        super().__init__(_chain(first, rest), **more)
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._rest):
            await super().__call__(scope, receive, send)


async def stream_file(name: str, ending: str, columns: Sequence[str], rows: Rows) -> StreamingResponse:
    """Stream rows as a file. The first chunk is read here: a database error is still a problem document then."""
    return await _respond(name, ending, _chunks(columns, rows, ending))


async def stream_written_file(
    name: str, ending: str, columns: Sequence[str], rows: Rows, phone_format: PhoneFormat | None = None
) -> StreamingResponse:
    """Stream a file of leads while its writer, that of the commands, writes it to a private directory."""
    return await _respond(name, ending, _blocks(f".{ending}", columns, rows, phone_format))


async def _respond(name: str, ending: str, chunks: AsyncGenerator[str | bytes]) -> StreamingResponse:
    first = await anext(chunks)
    file_name = quote(f"{name}-{clock.now():%Y-%m-%d}.{ending}")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{file_name}"}
    return FileResponse(first, chunks, media_type=MEDIA_TYPES[ending], headers=headers)


async def _chain(first: str | bytes, rest: AsyncGenerator[str | bytes]) -> AsyncGenerator[str | bytes]:
    yield first
    async for chunk in rest:
        yield chunk


async def _blocks(
    suffix: str, columns: Sequence[str], rows: Rows, phone_format: PhoneFormat | None
) -> AsyncGenerator[str | bytes]:
    """Yield what the writer has written so far; the writer works in a thread, for a workbook takes its time."""
    with TemporaryDirectory(prefix="scrapersky-") as folder:
        path = FilePath(folder) / f"leads{suffix}"
        path.touch(0o600)
        with path.open("rb") as written:
            writer: Writer = WRITERS[suffix](path, columns, phone_format)
            try:
                async for batch in _batches(rows):
                    await asyncio.to_thread(_add_all, writer, batch)
                    while block := written.read(BLOCK_BYTES):
                        yield block
                await asyncio.to_thread(writer.finish)
            finally:
                writer.abandon()
            while block := written.read(BLOCK_BYTES):
                yield block
    yield b""  # the first chunk of a file without rows


async def _batches(rows: Rows) -> AsyncGenerator[list[Mapping[str, Any]]]:
    batch = list[Mapping[str, Any]]()
    async with aclosing(rows):
        async for row in rows:
            batch.append(row)
            if len(batch) >= CHUNK_ROWS:
                yield batch
                batch = []
    yield batch


def _add_all(writer: Writer, rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        writer.add(row)


async def _chunks(columns: Sequence[str], rows: Rows, ending: str) -> AsyncGenerator[str | bytes]:
    """Yield the file in chunks of rows; the first one begins with the CSV header."""
    lines = list[str]()
    header = "\ufeff" + _csv_line(columns) if ending == "csv" else ""  # spreadsheets need the mark to read UTF-8
    async with aclosing(rows):
        async for row in rows:
            lines.append(
                _csv_line(safe_cell(value, name) for name, value in row.items()) if ending == "csv" else _json_line(row)
            )
            if len(lines) >= CHUNK_ROWS:
                yield header + "".join(lines)
                header = ""
                lines.clear()
    yield header + "".join(lines)


def _csv_line(cells: Any) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _json_line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
