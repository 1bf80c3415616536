"""pgqueuer doing the jobs of the engine benchmark, by its public interface."""

import asyncio
import os

import asyncpg
import uvloop
from pgqueuer import AsyncpgDriver, PgQueuer, Queries
from pgqueuer.models import Job

from benchmarks.engine_meter import (
    COUNT_RECEIPTS,
    CREATE_RECEIPT,
    TENANT,
    Countdown,
    Latencies,
    Meter,
    Order,
    hand_in,
)


async def drain(order: Order, admin: asyncpg.Connection) -> None:
    """Work off a full queue; with `write`, every job stores one row."""
    countdown = Countdown(order.jobs)
    pool = await asyncpg.create_pool(order.url, min_size=10, max_size=10)

    async def noop(job: Job) -> None:
        countdown.one()

    async def write(job: Job) -> None:
        await pool.execute(
            "INSERT INTO receipt (tenant_id, number, pid) VALUES ($1, $2, $3)", TENANT, int(job.payload), os.getpid()
        )
        countdown.one()

    queries = Queries(AsyncpgDriver(admin))
    for first in range(0, order.jobs, 1000):
        numbers = range(first, min(first + 1000, order.jobs))
        await queries.enqueue(["job"] * len(numbers), [str(number).encode() for number in numbers], [0] * len(numbers))
    await admin.execute("ANALYZE")
    await admin.execute("CHECKPOINT")
    connections = [await asyncpg.connect(order.url) for _ in range(order.options["managers"])]
    managers = [PgQueuer(AsyncpgDriver(connection)) for connection in connections]
    for manager in managers:
        manager.entrypoint("job")(write if order.what == "write" else noop)
    meter = Meter(order.postmaster)
    meter.start()
    running = [asyncio.create_task(manager.qm.run(batch_size=order.options["batch_size"])) for manager in managers]
    await countdown.over.wait()
    meter.lap()
    for manager in managers:
        manager.shutdown.set()
    await asyncio.gather(*running)
    result = meter.stop(order.jobs)
    done = await admin.fetchval("SELECT count(*) FROM pgqueuer_log WHERE status = 'successful'")
    left = await admin.fetchval("SELECT count(*) FROM pgqueuer")
    assert (done, left) == (order.jobs, 0), f"{done} of {order.jobs} jobs succeeded, {left} left"
    if order.what == "write":
        written = tuple(await admin.fetchrow(COUNT_RECEIPTS))
        assert written == (order.jobs, order.jobs), f"{written} receipts for {order.jobs} jobs"
    await pool.close()
    for connection in connections:
        await connection.close()
    hand_in(result)


async def latency(order: Order, admin: asyncpg.Connection) -> None:
    """Queue jobs one by one beside a waiting worker."""
    latencies, connection = Latencies(), await asyncpg.connect(order.url)
    manager, queries = PgQueuer(AsyncpgDriver(connection)), Queries(AsyncpgDriver(admin))

    @manager.entrypoint("job")
    async def noop(job: Job) -> None:
        latencies.started(int(job.payload))

    running = asyncio.create_task(manager.qm.run(batch_size=order.options["batch_size"]))
    await asyncio.sleep(1)
    await latencies.produce(lambda number: queries.enqueue("job", str(number).encode()), order)
    manager.shutdown.set()
    await running
    await connection.close()
    hand_in({"milliseconds": latencies.milliseconds()})


async def main() -> None:
    """Build the schema, then do what was ordered."""
    order = Order.read()
    admin = await asyncpg.connect(order.url)
    await Queries(AsyncpgDriver(admin)).install()
    await admin.execute(CREATE_RECEIPT)
    await (latency if order.what == "latency" else drain)(order, admin)
    await admin.close()


if __name__ == "__main__":
    uvloop.run(main())
