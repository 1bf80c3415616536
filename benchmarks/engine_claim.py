"""Does a claim cost the same in a table of ten thousand rows and in one of a million? Server time, by EXPLAIN."""

import statistics
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import asyncpg

from benchmarks.engine_chores import ID_OF_N, Doing
from benchmarks.engine_meter import TENANT
from benchmarks.engine_server import TEMPLATE, Server
from scrapersky.core.database import Database
from scrapersky.core.settings import Environment, load
from scrapersky.engine.queue import MIN_ORDER_KEY
from scrapersky.engine.queue_sql import QueueStatements

BATCH = 50
WARM = 30  # the first claims after a table was filled log whole pages, wherever its free space happens to lie
LEASE_SECONDS = 60


@dataclass(frozen=True)
class Shape:
    """A table: how many rows, how many of them ready, how many waiting for their time."""

    name: str
    rows: int
    ready: int
    waiting: int
    scattered: bool = False

    def __str__(self) -> str:
        place = ", each on a page of its own" if self.scattered else ""
        return f"{self.rows:,} rows, {self.ready:,} ready{place}"


SMALL = Shape("small", 10_000, 5_000, 100)
LARGE = Shape("large", 1_000_000, 5_000, 10_000)
DEEP = Shape("deep", 1_000_000, 980_000, 10_000)
# Fifty rows of this one are fifty pages to fetch and, after a checkpoint, to log whole: shown, not judged.
SCATTERED = Shape("scattered", 1_000_000, 5_000, 10_000, scattered=True)

_FILL = f"""
INSERT INTO chore (id, tenant_id, number, doing_status, doing_due_at, doing_order)
SELECT {ID_OF_N}, $1, n, CASE WHEN place < $3::int + $4::int THEN 'Queued' ELSE 'Completed' END,
    CASE WHEN place >= $3 AND place < $3::int + $4::int THEN now() + interval '1 hour' END, n
FROM (SELECT n, CASE WHEN $5 THEN n * 7919::bigint % $2::int ELSE $2::int - n END AS place
    FROM generate_series(1, $2::int) n) numbered"""


async def measure_claims(server: Server, shapes: Sequence[Shape], claims: int) -> list[dict[str, Any]]:
    """Return the claim's median execution time and the indexes it used, per table shape."""
    async with AsyncExitStack() as stack:
        connections = [await _prepared(stack, server, shape) for shape in shapes]
        plans: list[list[dict[str, Any]]] = [[] for _ in shapes]
        for _ in range(WARM + claims):
            for connection, seen in zip(connections, plans, strict=True):
                seen.append(await _claim(connection))
    return [
        {
            "shape": str(shape),
            "milliseconds": statistics.median(plan["Execution Time"] for plan in seen[WARM:]),
            "indexes": sorted({str(node["Index Name"]) for node in _nodes(seen[-1]["Plan"]) if "Index Name" in node}),
            "scans": sorted({node["Node Type"] for node in _nodes(seen[-1]["Plan"]) if "Scan" in node["Node Type"]}),
        }
        for shape, seen in zip(shapes, plans, strict=True)
    ]


async def _prepared(stack: AsyncExitStack, server: Server, shape: Shape) -> asyncpg.Connection:
    """Open an engine connection to a table of this shape, with the claim prepared."""
    url = await stack.enter_async_context(server.database(f"claim_{shape.name}", TEMPLATE))
    owner = await asyncpg.connect(url)
    await owner.execute("ALTER TABLE chore DISABLE TRIGGER USER")
    await owner.execute(_FILL, TENANT, shape.rows, shape.ready, shape.waiting, shape.scattered)
    await owner.execute("ALTER TABLE chore ENABLE TRIGGER USER")
    await owner.execute("VACUUM ANALYZE chore")
    await owner.execute("CHECKPOINT")
    await owner.close()
    database = Database(url, load(Environment({"DATABASE_URL": url}, None)))
    stack.push_async_callback(database.close)
    connection = await stack.enter_async_context(database.engine_connection())
    await connection.execute(f"PREPARE claim (int, float8, int8) AS {QueueStatements.of(Doing()).claim}")
    return connection


async def _claim(connection: asyncpg.Connection) -> dict[str, Any]:
    answer = await connection.fetchval(
        f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE claim ({BATCH}, {LEASE_SECONDS}, {MIN_ORDER_KEY})"
    )
    explained: dict[str, Any] = answer[0]  # the pool decodes JSON
    return explained


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)
