"""procrastinate doing the jobs of the engine benchmark, by its public interface."""

import asyncio
import os

import psycopg
import psycopg_pool
import uvloop
from procrastinate import App, PsycopgConnector

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


async def drain(app: App, order: Order) -> None:
    """Work off a full queue; with `write`, every job stores one row."""
    pool = psycopg_pool.AsyncConnectionPool(order.url, open=False, kwargs={"autocommit": True}, min_size=10)
    await pool.open(wait=True)
    countdown = Countdown(order.jobs)

    @app.task(name="noop")
    async def noop(number: int) -> None:
        countdown.one()

    @app.task(name="write")
    async def write(number: int) -> None:
        async with pool.connection() as connection:
            await connection.execute(
                "INSERT INTO receipt (tenant_id, number, pid) VALUES (%s, %s, %s)", (TENANT, number, os.getpid())
            )
        countdown.one()

    task = write if order.what == "write" else noop
    numbers = [{"number": number} for number in range(order.jobs)]
    for first in range(0, order.jobs, 1000):
        await task.batch_defer_async(*numbers[first : first + 1000])
    await settle_down(order.url)
    meter = Meter(order.postmaster)
    meter.start()
    worker = asyncio.create_task(app.run_worker_async(wait=True, install_signal_handlers=False, **order.options))
    await countdown.over.wait()
    meter.lap()
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    result = meter.stop(order.jobs)
    await pool.close()
    async with await psycopg.AsyncConnection.connect(order.url) as connection:
        done = await (
            await connection.execute("SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'")
        ).fetchone()
        assert done == (order.jobs,), f"{done} of {order.jobs} jobs succeeded"
        if order.what == "write":
            written = await (await connection.execute(COUNT_RECEIPTS)).fetchone()
            assert written == (order.jobs, order.jobs), f"{written} receipts for {order.jobs} jobs"
    hand_in(result)


async def latency(app: App, order: Order) -> None:
    """Queue jobs one by one beside a waiting worker."""
    latencies = Latencies()

    @app.task(name="noop")
    async def noop(number: int) -> None:
        latencies.started(number)

    worker = asyncio.create_task(app.run_worker_async(wait=True, install_signal_handlers=False, **order.options))
    await asyncio.sleep(1)
    await latencies.produce(lambda number: noop.defer_async(number=number), order)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    hand_in({"milliseconds": latencies.milliseconds()})


async def settle_down(url: str) -> None:
    """Refresh statistics and finish checkpoints, as on every side."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("ANALYZE")
        await connection.execute("CHECKPOINT")


async def main() -> None:
    """Build the schema, then do what was ordered."""
    order = Order.read()
    app = App(connector=PsycopgConnector(conninfo=order.url, min_size=4, max_size=50))
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        async with await psycopg.AsyncConnection.connect(order.url) as connection:
            await connection.execute(CREATE_RECEIPT)
        await (latency if order.what == "latency" else drain)(app, order)


if __name__ == "__main__":
    uvloop.run(main())
