"""Settings of the engine whose effect no other test observes."""

import asyncio
from datetime import UTC, datetime, timedelta

from scrapersky.core.settings import Environment
from scrapersky.engine.breaker import CLOSED, OPEN, Breaker, Tally, next_state
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.scheduler import new_scheduler, register_workflow
from scrapersky.engine.tuning import Tuning, pace_for, tune
from scrapersky.maintenance.watch_alarms import find_conditions
from scrapersky.sandbox.example_workflows import Packing, example_pipeline
from tests.conftest import make_settings, processors_of

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) SELECT $1, 'p', 'Queued' FROM generate_series(1, $2)"


async def test_a_cycle_has_as_many_rows_in_work_and_in_its_batch_as_the_settings_say(
    database, database_url, admin, tenant, monkeypatch
):
    """CONCURRENCY rows at once in work; BATCH_SIZE rows claimed, those that wait for their turn included."""
    seen: list[tuple[int, int]] = []
    under_way = 0

    lock = asyncio.Lock()  # the connection of the test takes one question at a time

    async def counted(self: Packing, label: str) -> None:
        nonlocal under_way
        under_way += 1
        most = under_way
        async with lock:
            claimed = await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Processing'")
        seen.append((most, claimed))
        under_way -= 1

    monkeypatch.setattr(Packing, "work", counted)
    settings = make_settings(database_url)
    for concurrency, batch in ((1, 4), (3, 3)):
        seen.clear()
        await admin.execute(ADD, tenant, 12)
        variables = {"CONCURRENCY": concurrency, "BATCH_SIZE": batch, "MAX_BATCH_SIZE": batch}
        environment = Environment({f"PACKING_SCHEDULER_{name}": str(value) for name, value in variables.items()}, None)
        tuning = tune("PACKING_SCHEDULER_", Packing.tuning, environment)
        await run_job_loop(processors_of(example_pipeline(), database, settings, **tuning.model_dump())["packing"])
        assert (max(one for one, _ in seen), max(claimed for _, claimed in seen)) == (concurrency, batch)


def test_the_batch_of_a_deep_queue_grows_up_to_its_maximum():
    for maximum in (20, 70):
        environment = Environment({"PACKING_SCHEDULER_MAX_BATCH_SIZE": str(maximum)}, None)
        tuning = tune("PACKING_SCHEDULER_", Tuning(batch_size=10), environment)
        assert pace_for(tuning, 100_000, 0.01).batch_size == maximum


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
    async with asyncio.timeout(240):
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
