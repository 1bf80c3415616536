"""`scrapersky demo --engine`: the engine with three example workflows, in a few seconds."""

import asyncio
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import typer
from sqlalchemy import text

from scrapersky.bootstrap import Application, open_application
from scrapersky.cli.demonstration.next_steps import AFTER_ENGINE, print_next_steps
from scrapersky.cli.demonstration.progress import DemoProgress, Step
from scrapersky.cli.shared.application import cli_actor, run_async
from scrapersky.cli.shared.output import print_json, print_table
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, load
from scrapersky.engine.events import BatchSettled
from scrapersky.sandbox.example_workflows import create_parcel_tables, example_pipeline
from scrapersky.worker import wait_until_idle

FAILURE_RATE = 0.05
PACKING_SECONDS = 0.015
TIMED_PARCELS = 20  # parcels queued one by one at the end, to measure the latency of three steps


@dataclass(frozen=True)
class EngineReport:
    """The result of the demo, counted in the database."""

    rows: int
    seconds: float
    rows_per_second: float
    shipped: int
    skipped: int
    dead: int
    latency_ms: float
    steps: list[Step]

    @property
    def is_complete(self) -> bool:
        """Whether every parcel was settled exactly once."""
        return self.shipped + self.skipped + self.dead == self.rows


def show_engine(home: Path, rows: int, as_json: bool) -> bool:
    """Process rows in three chained steps, one of which fails at times; return whether every row was settled once."""
    report = run_async(_run(home, rows))
    if as_json:
        print_json({**asdict(report), "is_complete": report.is_complete})
    else:
        _print(report)
    return report.is_complete


async def _run(home: Path, rows: int) -> EngineReport:
    progress = DemoProgress(["packing", "weighing", "shipping"], rows)
    with progress.waiting("Starting an embedded PostgreSQL in a temporary directory"):
        application = await _open(home)
    application.events.subscribe(progress.count)
    try:
        with progress:
            started = time.monotonic()
            tenant_id = (await cli_actor(application)).tenant_id
            async with application.database.session(tenant_id) as session:
                await session.execute(text(_INSERT), {"tenant": tenant_id, "rows": rows})
            application.runtime.start()
            await wait_until_idle(application)
            seconds = time.monotonic() - started
        latency_ms = await _measure_latency_ms(application, tenant_id)
        return await _report(application, rows, seconds, latency_ms, progress.steps)
    finally:
        await application.runtime.stop(grace_seconds=1)
        await application.close()


async def _open(home: Path) -> Application:
    """Open the application with the example workflows."""
    variables = {
        "SCRAPERSKY_DATA_DIR": str(home),
        "SCRAPERSKY_LOG_LEVEL": "error",
        "SCHEDULER_POLL_INTERVAL_SECONDS": "0.2",
    }
    environment = Environment(variables, None)
    configure_logs(load(environment))
    application = await open_application(environment, pipeline=example_pipeline(FAILURE_RATE, PACKING_SECONDS))
    await create_parcel_tables(application.database)
    return application


async def _measure_latency_ms(application: Application, tenant_id: UUID) -> float:
    """Return the median time from queueing a parcel to the end of its third step."""
    shipped = asyncio.Event()

    async def notice(event: Any) -> None:
        if isinstance(event, BatchSettled) and event.workflow == "shipping":
            shipped.set()

    application.events.subscribe(notice)
    latencies = []
    for _ in range(TIMED_PARCELS):
        shipped.clear()
        started = time.monotonic()
        async with application.database.session(tenant_id) as session:
            await session.execute(text(_INSERT_ONE), {"tenant": tenant_id})
        try:
            await asyncio.wait_for(shipped.wait(), 1)
        except TimeoutError:  # this parcel failed and is retried later: it is not measured
            continue
        latencies.append(time.monotonic() - started)
    return sorted(latencies)[len(latencies) // 2] * 1000 if latencies else 0.0


async def _report(
    application: Application, rows: int, seconds: float, latency_ms: float, steps: list[Step]
) -> EngineReport:
    async with application.database.engine_connection() as connection:
        shipped, skipped, dead = await connection.fetchrow(_COUNT)
    return EngineReport(
        rows=rows,
        seconds=round(seconds, 2),
        rows_per_second=round(sum(step.settled for step in steps) / seconds, 1),
        shipped=shipped,
        skipped=skipped,
        dead=dead,
        latency_ms=round(latency_ms, 1),
        steps=steps,
    )


def _print(report: EngineReport) -> None:
    print_table(
        ["step", "completed#", "skipped#", "retried#", "dead#"],
        [(step.name, step.completed, step.skipped, step.retried, step.failed) for step in report.steps],
    )
    verdict = "Every parcel was settled once." if report.is_complete else "Parcels are missing: please report this bug."
    typer.echo(
        f"{report.rows:,} parcels in {report.seconds:.1f} s: {report.shipped:,} shipped, {report.skipped:,} skipped"
        f" as empty, {report.dead:,} dead letters; {report.rows_per_second:,.0f} rows/s in three steps"
        f" (packing takes {PACKING_SECONDS * 1000:.0f} ms per parcel).\n"
        f"{verdict}\n"
        f"A parcel queued into the idle pipeline was shipped, three steps later, after {report.latency_ms:.0f} ms."
    )
    print_next_steps(AFTER_ENGINE)


_INSERT = """
INSERT INTO parcel (tenant_id, label, packing_status)
SELECT :tenant, 'parcel ' || md5(n::text), 'Queued' FROM generate_series(1, :rows) n"""
_INSERT_ONE = "INSERT INTO parcel (tenant_id, label, packing_status) VALUES (:tenant, 'timed', 'Queued')"
_COUNT = """
SELECT (SELECT count(*) FROM shipment s JOIN parcel p ON p.id = s.parcel_id
        WHERE s.shipping_status = 'Completed' AND p.label <> 'timed'),
    (SELECT count(*) FROM parcel WHERE weighing_status = 'Skipped' AND label <> 'timed'),
    (SELECT count(*) FROM dead_letter d JOIN parcel p ON p.id = d.row_id WHERE p.label <> 'timed')"""
