"""make bench-scale: the cost of one item in databases of 10,000 to 10,000,000 pages, and the size of a page on disk.

CPU is that of the server process of the connection and of this process, in microseconds per item: steadier than time
on a machine that others use. Buffers are the blocks of 8 KB that the server touched. Each operation is measured
several times at every size, the sizes in turn; the table shows the medians.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from statistics import median

import asyncpg
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from benchmarks.engine_server import Server, running_server
from benchmarks.parts import Parts
from benchmarks.record import Figure, record
from benchmarks.scale_churn import churn, churn_figures, show_churn
from benchmarks.scale_fill import CONTACTS, DOMAINS, PAGES, PAGES_OF_SEARCH, fill
from benchmarks.scale_meter import Meter
from benchmarks.scale_operations import OPERATIONS, Operation, Scale
from benchmarks.scale_workers import show_workers, worker_figures, workers
from scrapersky.core.database import Database
from scrapersky.core.schema.migrations import migrate
from scrapersky.core.settings import Environment, load
from scrapersky.pipeline import build_pipeline

SIZES = (10_000, 100_000, 1_000_000)
MAX_RATIO = 1.3
SEARCH_ID = "SELECT id FROM search ORDER BY id DESC LIMIT 1"
BYTES = """
SELECT relname AS name, pg_total_relation_size(oid) AS bytes, pg_indexes_size(oid) AS index_bytes
FROM pg_class WHERE relname IN ('page', 'contact') ORDER BY relname DESC"""


@dataclass
class Cost:
    """What an operation took, per item."""

    cpu_us: list[float] = field(default_factory=list)
    blocks: list[float] = field(default_factory=list)


@dataclass
class Size:
    """One database with its costs by operation, and the bytes of a page and a contact."""

    pages: int
    scale: Scale
    meter: Meter
    costs: dict[str, Cost] = field(default_factory=dict)
    page_bytes: float = 0.0
    page_index_bytes: float = 0.0
    contact_bytes: float = 0.0
    fill_seconds: float = 0.0


async def main() -> None:
    """Measure what was asked for, print the tables, and record the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="*", default=SIZES, help="the sizes; 10000000 takes 10 minutes")
    parser.add_argument("--churn-minutes", type=float, default=3.0, help="0 leaves it out; 30 for a judgement")
    parser.add_argument("--businesses", type=int, default=150, help="of the runs with 1, 2 and 4 workers; 0: none")
    asked = parser.parse_args()
    parts, figures = Parts(), list[Figure]()
    with running_server() as server:
        if asked.pages:
            sizes = await parts.run("sizes", measure(server, sorted(asked.pages)), show)
            figures += size_figures(sizes) if sizes else []
        if asked.churn_minutes:
            churned = await parts.run("churn", churn(server, asked.churn_minutes * 60), show_churn)
            figures += churn_figures(churned) if churned else []
    if asked.businesses:
        worked = await parts.run("workers", workers(asked.businesses), show_workers)
        figures += worker_figures(worked) if worked else []
    record("scale", figures)
    parts.end()


async def measure(server: Server, sizes: Sequence[int]) -> list[Size]:
    """Measure every operation at every size, in turn, so that all sizes meet the same load."""
    async with AsyncExitStack() as stack:
        found = [await stack.enter_async_context(_filled(server, pages)) for pages in sizes]
        await stack.enter_async_context(_without_autovacuum(server))
        for operation in OPERATIONS:
            for number in range(operation.times + (1 if operation.times > 1 else 0)):
                for size in found:
                    await _measure_once(size, operation, is_first=number == 0 and operation.times > 1)
            print(f"{operation.name} done", file=sys.stderr, flush=True)
    return found


@asynccontextmanager
async def _without_autovacuum(server: Server) -> AsyncIterator[None]:
    """Turn autovacuum off for the duration of the context: what it does meanwhile would be counted."""
    await server.execute("ALTER SYSTEM SET autovacuum = off")
    await server.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        await server.execute("ALTER SYSTEM RESET autovacuum")
        await server.execute("SELECT pg_reload_conf()")


@asynccontextmanager
async def _filled(server: Server, pages: int) -> AsyncIterator[Size]:
    """Create a database of this size for the duration of the context."""
    started = asyncio.get_running_loop().time()
    async with server.database(f"pages_{pages}") as url, AsyncExitStack() as stack:
        settings = {"DATABASE_URL": url, "SCRAPERSKY_DATABASE_POOL_SIZE": "3"}
        database = Database(url, load(Environment(settings, None)))
        stack.push_async_callback(database.close)
        await migrate(database)
        owner = await asyncpg.connect(url)
        stack.push_async_callback(owner.close)
        await fill(owner, pages)
        tenant, search = await owner.fetchval("SELECT id FROM tenant LIMIT 1"), await owner.fetchval(SEARCH_ID)
        domains = max(1, pages // PAGES_OF_SEARCH) * DOMAINS
        queue = build_pipeline({}).queues["page_curation"]
        scale = Scale(owner, database, queue, tenant, search, domains, [])
        meter = Meter(owner, database, server.postmaster)
        page, contact = await owner.fetch(BYTES)
        yield Size(
            pages,
            scale,
            meter,
            page_bytes=page["bytes"] / (domains * PAGES),
            page_index_bytes=page["index_bytes"] / (domains * PAGES),
            contact_bytes=contact["bytes"] / (domains * CONTACTS),
            fill_seconds=asyncio.get_running_loop().time() - started,
        )


async def _measure_once(size: Size, operation: Operation, *, is_first: bool) -> None:
    """Run an operation and add its cost; the first run reads the catalog and plans, and is not counted."""
    if operation.prepare is not None:
        await operation.prepare(size.scale)
    before = await size.meter.read()
    items = await operation.run(size.scale)
    used = await size.meter.read() - before
    if not items:
        raise RuntimeError(f"{operation.name} found nothing at {size.pages:,} pages")
    cost = size.costs.setdefault(operation.name, Cost())
    if not is_first:
        cost.cpu_us.append(used.cpu_seconds / items * 1e6)
        cost.blocks.append(used.blocks / items)


def ratio(sizes: Sequence[Size], name: str) -> float:
    """Return the cost of an operation at the largest size, in multiples of the smallest size."""
    return median(sizes[-1].costs[name].cpu_us) / median(sizes[0].costs[name].cpu_us)


def show(sizes: Sequence[Size]) -> None:
    """Print the cost of an item by operation and size, and the bytes of rows."""
    table = Table("CPU µs (blocks) per", *(_short(size.pages) for size in sizes), "ratio", box=SIMPLE)
    for operation in OPERATIONS:
        costs = [size.costs[operation.name] for size in sizes]
        cells = (f"{_number(median(cost.cpu_us))} ({_number(median(cost.blocks))})" for cost in costs)
        grown = ratio(sizes, operation.name)
        table.add_row(operation.label, *cells, f"{grown:.2f}" + ("" if grown <= MAX_RATIO else " !"))
    for name in ("page_bytes", "page_index_bytes", "contact_bytes"):
        first, last = getattr(sizes[0], name), getattr(sizes[-1], name)
        cells = (f"{getattr(size, name):,.0f}" for size in sizes)
        table.add_row(name.replace("_", " ").replace("bytes", "on disk, bytes"), *cells, f"{last / first:.2f}")
    table.add_row("filled in, s", *(f"{size.fill_seconds:,.0f}" for size in sizes), "")
    Console(width=min(80, Console().width)).print(table)
    for operation in OPERATIONS:
        if ratio(sizes, operation.name) > MAX_RATIO and operation.grows:
            print(f"{operation.name}: {operation.grows}")


def size_figures(sizes: Sequence[Size]) -> list[Figure]:
    """Return the figures of the largest size for the record, each with its ratio to the smallest."""
    largest, figures = sizes[-1], list[Figure]()
    for operation in OPERATIONS:
        cpu, grown = median(largest.costs[operation.name].cpu_us), ratio(sizes, operation.name)
        figures.append(Figure(f"{operation.label}, {_short(largest.pages)} pages", round(cpu, 1), "µs"))
        name = f"{operation.name}, {_short(largest.pages)} / {_short(sizes[0].pages)} pages"
        figures.append(Figure(name, round(grown, 2), "x", f"≤ {MAX_RATIO} x", grown <= MAX_RATIO))
    figures.append(Figure("a page on disk, with indexes", round(largest.page_bytes), "bytes"))
    figures.append(Figure("a contact on disk, with indexes", round(largest.contact_bytes), "bytes"))
    return figures


def _short(count: int) -> str:
    """Return a count in thousands or millions: 10 k, 1 M."""
    return f"{count / 1e6:g} M" if count >= 1_000_000 else f"{count / 1e3:g} k"


def _number(value: float) -> str:
    """Return a number with three digits, or all digits before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    asyncio.run(main())
