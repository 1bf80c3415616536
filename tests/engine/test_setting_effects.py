"""Settings of the engine whose effect no other test observes."""

import asyncio
from datetime import UTC, datetime, timedelta

from scrapersky.engine.breaker import CLOSED, OPEN, Breaker, Tally, next_state
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.scheduler import new_scheduler, register_workflow
from scrapersky.engine.tuning import Tuning
from scrapersky.maintenance.watch_alarms import find_conditions
from scrapersky.sandbox.example_workflows import example_pipeline
from tests.conftest import make_settings, processors_of

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) SELECT $1, 'p', 'Queued' FROM generate_series(1, $2)"


async def test_a_cycle_claims_no_more_after_its_time(database, database_url, admin, tenant):
    await admin.execute(ADD, tenant, 5)
    settings = make_settings(database_url, SCHEDULER_MAX_CYCLE_SECONDS="0.000001")
    await run_job_loop(processors_of(example_pipeline(), database, settings)["packing"])
    assert await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_attempts > 0") == 0


async def test_an_idle_cycle_waits_for_further_rows(database, database_url, admin, tenant):
    settings = make_settings(database_url, SCHEDULER_IDLE_TIMEOUT_SECONDS="60")
    await admin.execute(ADD, tenant, 1)
    processor = processors_of(example_pipeline(), database, settings)["packing"]
    running = asyncio.create_task(run_job_loop(processor))
    async with asyncio.timeout(60):
        for expected in (1, 2):
            while await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Completed'") < expected:
                await asyncio.sleep(0.02)
            await admin.execute(ADD, tenant, 1)
            processor.wake()
    processor.stop(0)
    assert (await running).claimed >= 2


def test_a_late_job_still_runs_within_its_grace(database, database_url):
    settings = make_settings(database_url, SCHEDULER_MISFIRE_GRACE_SECONDS="77")
    scheduler = new_scheduler(settings)
    processor = processors_of(example_pipeline(), database, settings)["packing"]
    register_workflow(scheduler, processor, settings)
    assert scheduler.get_job("process_packing_queue").misfire_grace_time == 77


async def test_a_row_that_is_ready_for_too_long_is_reported(admin, tenant):
    await admin.execute(ADD, tenant, 1)
    await admin.execute("UPDATE parcel SET packing_order = packing_order - 120 * 1000000::bigint")
    line = example_pipeline()
    for limit, alarms in ((100, ["packing"]), (1000, [])):
        tunings = {workflow.name: Tuning(oldest_age_limit_seconds=limit) for workflow in line}
        found = await find_conditions(admin, line, tunings)
        assert [one.subject for one in found if one.kind == "queue_age_exceeded"] == alarms


def test_the_window_decides_which_failures_count_together():
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for window, state in ((100, OPEN), (10, CLOSED)):
        tuning = Tuning(breaker_min_rows=10, breaker_window_seconds=window)
        once = next_state(Breaker(CLOSED, None, None, 0, start, 0, 0), Tally(bad=6), start, tuning)
        assert next_state(once, Tally(bad=6), start + timedelta(seconds=50), tuning).state == state
