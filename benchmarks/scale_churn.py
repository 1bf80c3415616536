"""Constant churn of a queue table: how large it becomes, and whether a row costs more, by its storage parameters.

Each variant has a database of its own. In every tick each of them queues, claims and settles the same number of pages,
as the engine does; autovacuum runs as the server is configured.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any
from uuid import UUID

import asyncpg
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from benchmarks.engine_server import Server
from benchmarks.record import Figure
from benchmarks.scale_fill import fill
from benchmarks.scale_meter import Meter
from scrapersky.core.database import Database
from scrapersky.core.schema.migrations import migrate
from scrapersky.core.settings import Environment, load
from scrapersky.engine.outcomes import COMPLETED
from scrapersky.engine.queue import Queue, Settlement
from scrapersky.pipeline import build_pipeline

PAGES = 50_000
BATCH = 50
TICK_SECONDS = 0.25
ROWS_PER_TICK = 250  # 1,000 rows a second and variant: ten times what two workers read
LEASE_SECONDS = 600
MAX_GROWTH = 1.5  # of the table with its indexes
MAX_DEARER = 1.3  # of the CPU of a row
OURS = "ours"
_VACUUM = "autovacuum_vacuum_scale_factor = {}, autovacuum_vacuum_cost_delay = {}, autovacuum_vacuum_threshold = {}"
VARIANTS = {
    OURS: "",  # as the migrations leave it: fill factor 85, vacuum at 1 %
    "defaults": f"fillfactor = 100, {_VACUUM.format(0.2, 2, 50)}",  # those of PostgreSQL
    "fill 70": "fillfactor = 70",
    "vacuum 5 %": _VACUUM.format(0.05, 0, 50),
}
_QUEUE = "UPDATE page SET page_processing_status = 'Queued' WHERE id = ANY ($1::uuid[])"
_STATE = """
SELECT pg_table_size('page') AS heap, pg_indexes_size('page') AS indexes, s.n_dead_tup AS dead,
    s.autovacuum_count AS vacuums, s.n_tup_hot_upd::float8 / greatest(1, s.n_tup_upd) AS hot
FROM pg_stat_user_tables s WHERE s.relname = 'page'"""


@dataclass
class Churned:
    """One variant: its state at the begin and at the end, and the CPU of a row in each tick."""

    name: str
    database: Database
    queue: Queue
    owner: asyncpg.Connection
    meter: Meter
    ids: Iterator[tuple[UUID, ...]]
    first: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)
    cpu_us: list[float] = field(default_factory=list)
    rows: int = 0

    async def tick(self) -> None:
        """Queue some rows, claim all of them and settle them."""
        before = await self.meter.read()
        async with self.database.engine_connection() as connection:
            await connection.execute(_QUEUE, next(self.ids))
            done = 0
            while rows := await self.queue.claim(connection, BATCH, LEASE_SECONDS):
                await self.queue.settle(connection, [Settlement(row["id"], row["attempts"], COMPLETED) for row in rows])
                done += len(rows)
        used = await self.meter.read() - before
        self.cpu_us.append(used.cpu_seconds / done * 1e6)
        self.rows += done

    async def state(self) -> dict[str, Any]:
        """Return the sizes and counters of the table."""
        return dict(await self.owner.fetchrow(_STATE))

    @property
    def growth(self) -> float:
        """The size at the end, in multiples of that at the begin."""
        return _bytes(self.last) / _bytes(self.first)

    @property
    def dearer(self) -> float:
        """The CPU of a row in the last quarter, in multiples of that in the first."""
        quarter = max(1, len(self.cpu_us) // 4)
        return median(self.cpu_us[-quarter:]) / median(self.cpu_us[:quarter])


async def churn(server: Server, seconds: float, names: Sequence[str] = tuple(VARIANTS)) -> list[Churned]:
    """Let all variants churn for this time, in turn."""
    async with AsyncExitStack() as stack:
        found = [await stack.enter_async_context(_variant(server, number, name)) for number, name in enumerate(names)]
        clock = asyncio.get_running_loop().time
        end = clock() + seconds
        while clock() < end:
            started = clock()
            for variant in found:
                await variant.tick()
            await asyncio.sleep(max(0.0, started + TICK_SECONDS - clock()))
        for variant in found:
            variant.last = await variant.state()
    return found


@asynccontextmanager
async def _variant(server: Server, number: int, name: str) -> AsyncIterator[Churned]:
    async with server.database(f"churn_{number}") as url, AsyncExitStack() as stack:
        settings = {"DATABASE_URL": url, "SCRAPERSKY_DATABASE_POOL_SIZE": "3"}
        database = Database(url, load(Environment(settings, None)))
        stack.push_async_callback(database.close)
        await migrate(database)
        owner = await asyncpg.connect(url)
        stack.push_async_callback(owner.close)
        if VARIANTS[name]:
            await owner.execute(f"ALTER TABLE page SET ({VARIANTS[name]})")
        await fill(owner, PAGES)
        await owner.execute("UPDATE page SET page_processing_status = 'New' WHERE page_processing_status = 'Queued'")
        await owner.execute("VACUUM (ANALYZE) page")
        ids = [row["id"] for row in await owner.fetch("SELECT id FROM page ORDER BY random()")]
        parts = [tuple(ids[first : first + ROWS_PER_TICK]) for first in range(0, len(ids), ROWS_PER_TICK)]
        queue = build_pipeline({}).queues["page_curation"]
        meter = Meter(owner, database, server.postmaster)
        churned = Churned(name, database, queue, owner, meter, itertools.cycle(parts))
        churned.first = await churned.state()
        yield churned


def show_churn(variants: Sequence[Churned]) -> None:
    """Print the size and the cost of a row of each variant at the begin and at the end."""
    heads = ("heap MB", "indexes MB", "growth", "CPU µs/row", "dearer", "dead", "vac.")
    table = Table(f"{variants[0].rows:,} rows", *heads, box=SIMPLE, padding=(0, 0, 0, 1))
    for one in variants:
        quarter = max(1, len(one.cpu_us) // 4)
        table.add_row(
            one.name,
            *(f"{one.first[key] / 1e6:.0f} → {one.last[key] / 1e6:.0f}" for key in ("heap", "indexes")),
            f"{one.growth:.2f}",
            f"{median(one.cpu_us[:quarter]):.0f} → {median(one.cpu_us[-quarter:]):.0f}",
            f"{one.dearer:.2f}",
            f"{one.last['dead']:,}",
            str(one.last["vacuums"] - one.first["vacuums"]),
        )
    Console(width=min(80, Console().width)).print(table)


def churn_figures(variants: Sequence[Churned]) -> list[Figure]:
    """Return the figures of our own storage parameters for the record."""
    ours = next(one for one in variants if one.name == OURS)
    growth, dearer = ours.growth, ours.dearer
    return [
        Figure("churn: rows", ours.rows),
        Figure("churn: growth of the page table", round(growth, 2), "x", f"≤ {MAX_GROWTH} x", growth <= MAX_GROWTH),
        Figure("churn: CPU of a row, end / begin", round(dearer, 2), "x", f"≤ {MAX_DEARER} x", dearer <= MAX_DEARER),
    ]


def _bytes(state: dict[str, Any]) -> int:
    return int(state["heap"] + state["indexes"])
