"""Our side of the engine benchmark: the real loop and the real runtime, with everything that listens to them."""

import asyncio
import gc

import asyncpg
import uvloop

from benchmarks.engine_chores import ID_OF_N, Doing, DoingInBatches, DoingOneByOne
from benchmarks.engine_meter import COUNT_RECEIPTS, TENANT, Latencies, Meter, Order, hand_in
from scrapersky.bootstrap import Application, open_application
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.pipeline import Pipeline

WORKFLOWS = {"drain": Doing, "write": DoingInBatches, "write_each": DoingOneByOne}


async def open_bench(workflow: Doing, url: str, **variables: object) -> Application:
    """Open the application of a process whose pipeline is this one workflow."""
    environment = Environment(
        {
            "DATABASE_URL": url,
            "SCRAPERSKY_LOG_LEVEL": "error",
            **{name: str(value) for name, value in variables.items()},
        },
        None,
    )
    application = await open_application(environment, pipeline=Pipeline([workflow]))
    configure_logs(application.settings)
    return application


async def drain(order: Order, admin: asyncpg.Connection) -> None:
    """Work off a full queue, with as many loops and as large batches as ordered."""
    loops, batch_size = order.options["loops"], order.options["batch_size"]
    application = await open_bench(
        WORKFLOWS[order.what](),
        order.url,
        SCHEDULER_IDLE_TIMEOUT_SECONDS=0,
        SCHEDULER_MAX_CYCLE_SECONDS=600,
        DOING_SCHEDULER_BATCH_SIZE=batch_size,
        DOING_SCHEDULER_MAX_BATCH_SIZE=batch_size,
        DOING_SCHEDULER_MAX_INSTANCES=loops,
    )
    await admin.execute(
        "INSERT INTO chore (id, tenant_id, number, doing_status) "
        f"SELECT {ID_OF_N}, $1, n, 'Queued' FROM generate_series(1, $2) n",
        TENANT,
        order.jobs,
    )
    await admin.execute("ANALYZE")
    await admin.execute("CHECKPOINT")
    processor = application.runtime.processors["doing"]
    if is_silent := order.options.get("is_silent", False):
        application.events.listeners.clear()
    gc.freeze()  # as `scrapersky worker` and `serve` do after their start
    meter = Meter(order.postmaster)
    meter.start()
    await asyncio.gather(*(run_job_loop(processor) for _ in range(loops)))
    result = meter.stop(order.jobs)
    await check(admin, order, 0 if is_silent else order.jobs)
    await application.database.close()
    hand_in(result)


async def check(admin: asyncpg.Connection, order: Order, recorded: int) -> None:
    """Check every row once: completed at the first attempt, in the run history, with one receipt if it writes."""
    done = await admin.fetchval("SELECT count(*) FROM chore WHERE doing_status = 'Completed' AND doing_attempts = 1")
    told = await admin.fetchval("SELECT coalesce(sum(completed), 0) FROM run WHERE workflow = 'doing'")
    assert (done, told) == (order.jobs, recorded), f"{done} done, {told} in the history, of {order.jobs}"
    if order.what != "drain":
        written = tuple(await admin.fetchrow(COUNT_RECEIPTS))
        assert written == (order.jobs, order.jobs), f"{written} receipts for {order.jobs} jobs"


async def latency(order: Order, admin: asyncpg.Connection) -> None:
    """Queue rows one by one, by a plain UPDATE, beside a runtime with its default settings."""
    latencies = Latencies()

    class Noticing(Doing):
        async def work(self, number: int) -> int:
            latencies.started(number)
            return number

    application = await open_bench(Noticing(), order.url)
    await admin.execute(
        f"INSERT INTO chore (id, tenant_id, number) SELECT {ID_OF_N}, $1, n FROM generate_series(1, $2) n",
        TENANT,
        int(order.rate * order.seconds * 2) + 100,
    )
    ids = dict(await admin.fetch("SELECT number, id FROM chore"))
    await admin.execute("ANALYZE")
    application.runtime.start()
    await asyncio.sleep(1)

    async def queue_one(number: int) -> None:
        await admin.execute("UPDATE chore SET doing_status = 'Queued' WHERE id = $1", ids[number])

    await latencies.produce(queue_one, order)
    await application.runtime.stop()
    await application.database.close()
    hand_in({"milliseconds": latencies.milliseconds()})


async def main() -> None:
    """Do what was ordered in a database that has the tables already."""
    order = Order.read()
    admin = await asyncpg.connect(order.url)
    await (latency if order.what == "latency" else drain)(order, admin)
    await admin.close()


if __name__ == "__main__":
    uvloop.run(main())
