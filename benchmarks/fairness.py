"""How long four small tenants wait while a fifth has 100,000 rows in the same queue: `make bench-fairness`."""

import asyncio
import sys
import time
from uuid import UUID

import asyncpg

from benchmarks.engine_server import running_server
from benchmarks.record import Figure, record
from scrapersky.core.database import Database
from scrapersky.core.schema.migrations import migrate
from scrapersky.core.settings import Environment, load
from scrapersky.engine.events import Events
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.tuning import Tuning
from scrapersky.sandbox.example_workflows import create_parcel_tables, example_pipeline

BIG, SMALL, TENANTS = 100_000, 10, 5
TARGET_SECONDS = 3
ROW_SECONDS = 0.05  # about as long as a quick page takes
ADD = (
    "INSERT INTO parcel (tenant_id, label, packing_status) "
    "SELECT $1, 'parcel', 'Queued' FROM generate_series(1, $2::int)"
)
LEFT = "SELECT count(*) FROM parcel WHERE tenant_id = $1 AND packing_status <> 'Completed'"


async def measure(url: str) -> dict[str, float]:
    """Return the seconds until the rows of each small tenant are completed, and the rows of the big one meanwhile."""
    settings = load(Environment({"DATABASE_URL": url, "SCRAPERSKY_LOG_LEVEL": "error"}, None))
    database, line = Database(url, settings), example_pipeline(seconds=ROW_SECONDS)
    await migrate(database)
    await create_parcel_tables(database)
    admin = await asyncpg.connect(url)
    names = [f"tenant {number}" for number in range(TENANTS)]
    tenants = [await admin.fetchval("INSERT INTO tenant (name) VALUES ($1) RETURNING id", name) for name in names]
    await admin.execute(ADD, tenants[0], BIG)
    tunings = {workflow.name: Tuning(concurrency=50) for workflow in line}
    processor = QueueProcessor(line["packing"], line, tunings, database, Events(), settings)
    running = asyncio.create_task(run_job_loop(processor))
    while await admin.fetchval(LEFT, tenants[0]) > BIG - 500:  # the big tenant is being served
        await asyncio.sleep(0.05)
    delays: dict[str, float] = {}
    for name, tenant in zip(names[1:], tenants[1:], strict=True):
        delays[name] = await delay(admin, tenant)
    delays["rows of tenant 0 completed meanwhile"] = BIG - await admin.fetchval(LEFT, tenants[0])
    processor.stop(0)
    await running
    await admin.close()
    await database.close()
    return delays


async def delay(admin: asyncpg.Connection, tenant: UUID) -> float:
    """Queue the rows of a small tenant; return the seconds until all of them are completed."""
    started = time.monotonic()
    await admin.execute(ADD, tenant, SMALL)
    while await admin.fetchval(LEFT, tenant):
        await asyncio.sleep(0.01)
    return time.monotonic() - started


async def main() -> None:
    """Print the delay of each tenant."""
    with running_server() as server:
        async with server.database("fairness") as url:
            delays = await measure(url)
    for name, value in delays.items():
        sys.stdout.write(f"{name:<40} {value:>10.2f}\n")
    longest = max(delays[f"tenant {number}"] for number in range(1, TENANTS))
    met = longest <= TARGET_SECONDS
    record("fairness", [Figure("ten rows beside 100,000", round(longest, 2), "s", f"≤ {TARGET_SECONDS} s", met)])


if __name__ == "__main__":
    asyncio.run(main())
