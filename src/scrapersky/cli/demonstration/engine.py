"""`scrapersky demo --engine`: the engine alone at work on parcels, on this machine, in a few seconds."""

import asyncio
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import typer

from scrapersky.bootstrap import Application, open_application
from scrapersky.cli.demonstration.progress import Progress, Step
from scrapersky.cli.shared.output import print_json, print_table
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, load
from scrapersky.engine.events import BatchSettled
from scrapersky.sandbox.example_workflows import create_parcel_tables, example_pipeline
from scrapersky.worker import wait_until_idle

TEARS = 0.05  # how often the tape tears
PACKING_SECONDS = 0.015
LATECOMERS = 20  # parcels sent one by one at the end, to see how quickly a hand-over goes

NEXT = """\
Where to look next:
  scrapersky worker      the same engine on your own database (without DATABASE_URL: an embedded one)
  scrapersky status      queues, failures, breakers and who is working
  scrapersky settings    everything that can be turned, and what it is turned to
  docs/the-line.md       what the steps are; docs/adding-a-workflow.md: how to add one in one file"""


@dataclass(frozen=True)
class Ending:
    """What the demo came to, as the database has it."""

    rows: int
    seconds: float
    rows_per_second: float
    shipped: int
    set_aside: int
    dead: int
    hand_over_ms: float
    steps: list[Step]

    @property
    def adds_up(self) -> bool:
        """Whether every parcel ended somewhere, once."""
        return self.shipped + self.set_aside + self.dead == self.rows


def show_engine(home: Path, rows: int, as_json: bool) -> bool:
    """A few thousand rows through three chained steps, one of which fails now and then; true if all add up."""
    import uvloop

    ending = uvloop.run(_show(home, rows))
    if as_json:
        print_json({**asdict(ending), "adds_up": ending.adds_up})
    else:
        _tell(ending)
    return ending.adds_up


async def _show(home: Path, rows: int) -> Ending:
    progress = Progress(["packing", "weighing", "shipping"], rows)
    with progress.waiting("Starting an embedded PostgreSQL in a temporary directory"):
        application = await _build(home)
    application.events.subscribe(progress.count)
    try:
        with progress:
            started = time.monotonic()
            tenant = await _queue(application, rows)
            application.runtime.start()
            await wait_until_idle(application)
            seconds = time.monotonic() - started
        hand_over = await _time_hand_over(application, tenant)
        return await _end(application, rows, seconds, hand_over, progress.steps)
    finally:
        await application.runtime.stop(grace_seconds=1)
        await application.close()


async def _build(home: Path) -> Application:
    """The house as every process builds it, with another line in it and settings of its own."""
    variables = {
        "SCRAPERSKY_DATA_DIR": str(home),
        "SCRAPERSKY_LOG_LEVEL": "error",
        "SCHEDULER_POLL_INTERVAL_SECONDS": "0.2",
    }
    environment = Environment(variables, None)
    configure_logs(load(environment))
    application = await open_application(environment, pipeline=example_pipeline(TEARS, PACKING_SECONDS))
    await create_parcel_tables(application.database)
    return application


async def _queue(application: Application, rows: int) -> UUID:
    """Queue the parcels; a plain INSERT is all it takes."""
    from sqlalchemy import text

    async with application.database.engine_connection() as connection:
        tenant: UUID = await connection.fetchval("SELECT id FROM tenant WHERE name = 'default'")
    async with application.database.session(tenant) as session:
        await session.execute(text(_INSERT), {"tenant": tenant, "rows": rows})
    return tenant


async def _time_hand_over(application: Application, tenant: UUID) -> float:
    """The median milliseconds from queueing a parcel to its leaving the house, three steps later."""
    from sqlalchemy import text

    arrived = asyncio.Event()

    async def notice(event: Any) -> None:
        if isinstance(event, BatchSettled) and event.workflow == "shipping":
            arrived.set()

    application.events.subscribe(notice)
    taken = []
    for _ in range(LATECOMERS):
        arrived.clear()
        started = time.monotonic()
        async with application.database.session(tenant) as session:
            await session.execute(text(_INSERT_ONE), {"tenant": tenant})
        # The tape may tear thrice; then this parcel tells nothing.
        try:
            await asyncio.wait_for(arrived.wait(), 1)
        except TimeoutError:
            continue
        taken.append(time.monotonic() - started)
    return sorted(taken)[len(taken) // 2] * 1000 if taken else 0.0


async def _end(application: Application, rows: int, seconds: float, hand_over: float, steps: list[Step]) -> Ending:
    async with application.database.engine_connection() as connection:
        shipped, set_aside, dead = await connection.fetchrow(_COUNT)
    return Ending(
        rows=rows,
        seconds=round(seconds, 2),
        rows_per_second=round(sum(step.settled for step in steps) / seconds, 1),
        shipped=shipped,
        set_aside=set_aside,
        dead=dead,
        hand_over_ms=round(hand_over, 1),
        steps=steps,
    )


def _tell(ending: Ending) -> None:
    print_table(
        ["step", "completed#", "skipped#", "tried again#", "dead#"],
        [(step.name, step.completed, step.skipped, step.retried, step.failed) for step in ending.steps],
    )
    typer.echo(
        f"{ending.rows:,} parcels in {ending.seconds:.1f} s: {ending.shipped:,} shipped, {ending.set_aside:,} set aside"
        f" as empty, {ending.dead:,} dead letters; {ending.rows_per_second:,.0f} rows/s over three steps"
        f" (packing takes {PACKING_SECONDS * 1000:.0f} ms a parcel).\n"
        + (
            "Every parcel is accounted for, once."
            if ending.adds_up
            else "These do not add up: please report this as a bug."
        )
        + f"\nA parcel queued into the idle line left it, three steps later, after {ending.hand_over_ms:.0f} ms.\n\n"
        + NEXT
    )


_INSERT = """
INSERT INTO parcel (tenant_id, label, packing_status)
SELECT :tenant, 'parcel ' || md5(n::text), 'Queued' FROM generate_series(1, :rows) n"""
_INSERT_ONE = "INSERT INTO parcel (tenant_id, label, packing_status) VALUES (:tenant, 'latecomer', 'Queued')"
_COUNT = """
SELECT (SELECT count(*) FROM shipment s JOIN parcel p ON p.id = s.parcel_id
        WHERE s.shipping_status = 'Completed' AND p.label <> 'latecomer'),
    (SELECT count(*) FROM parcel WHERE weighing_status = 'Skipped' AND label <> 'latecomer'),
    (SELECT count(*) FROM dead_letter d JOIN parcel p ON p.id = d.row_id WHERE p.label <> 'latecomer')"""
