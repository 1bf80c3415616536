"""The engine of a process: it wakes at once, polls when it must, hears what other hosts decide, and stops cleanly."""

import asyncio

import asyncpg
import pytest

from scrapersky.actions.jobs import RunJobs
from scrapersky.core import clock
from scrapersky.core.database import Database
from scrapersky.core.settings import Environment
from scrapersky.engine.admission import request_run
from scrapersky.engine.events import CycleEnded, Events
from scrapersky.engine.maintenance import Periodic, PruneWorkers, run_periodic, standard_maintenance
from scrapersky.engine.runtime import Runtime
from scrapersky.engine.tuning import tune
from scrapersky.observe.run_history import record_runs
from scrapersky.pipeline import build_pipeline
from scrapersky.sandbox.example_workflows import example_pipeline
from tests.conftest import make_settings

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) SELECT $1, 'p', $3 FROM generate_series(1, $2)"


@pytest.fixture
async def build(database_url):
    """Runtimes that are stopped when the test is over."""
    built: list[Runtime] = []

    def make(pipeline=None, maintenance=(), **variables) -> Runtime:
        environment = Environment(variables, None)
        settings = make_settings(database_url, **variables)
        database = Database(database_url, settings)
        line = pipeline or example_pipeline()
        tunings = {w.name: tune(w.settings_prefix, w.tuning, environment, settings.interval_seconds) for w in line}
        events = Events()
        events.subscribe(record_runs(database))
        runtime = Runtime(line, tunings, database, events, settings, maintenance)
        built.append(runtime)
        return runtime

    yield make
    for runtime in built:
        await runtime.stop(0)
        await runtime.database.close()


async def until(admin, condition: str, *arguments, seconds: float = 90) -> None:
    """Wait until the database says so."""
    async with asyncio.timeout(seconds):
        while not await admin.fetchval(f"SELECT {condition}", *arguments):
            await asyncio.sleep(0.02)


ALL_SHIPPED = "count(*) = $1 FROM shipment WHERE shipping_status = 'Completed'"


async def test_rows_go_down_the_whole_line_by_wakeups_alone(build, admin, tenant):
    runtime = build(SCHEDULER_POLL_INTERVAL_SECONDS="60")
    runtime.start()
    await until(admin, "count(*) = 1 FROM pg_stat_activity WHERE application_name LIKE '%listen' AND state = 'idle'")
    await admin.execute(ADD, tenant, 20, "Queued")
    await until(admin, "count(*) = 0 FROM parcel WHERE packing_status <> 'Completed'")
    await until(admin, "count(*) > 0 AND bool_and(shipping_status = 'Completed') FROM shipment")


async def test_without_notifications_polling_finds_the_rows(build, admin, tenant):
    runtime = build(SCHEDULER_POLL_ONLY="true", SCHEDULER_POLL_INTERVAL_SECONDS="0.05")
    runtime.start()
    await admin.execute(ADD, tenant, 20, "Queued")
    await until(admin, "count(*) > 0 AND bool_and(shipping_status = 'Completed') FROM shipment")
    listeners = await admin.fetchval("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%listen'")
    assert listeners == 0


async def test_rows_that_wait_are_taken_when_they_are_due(build, admin, tenant):
    build().start()
    await admin.execute(
        "INSERT INTO parcel (tenant_id, packing_status, packing_due_at) "
        "VALUES ($1, 'Queued', now() + interval '0.6 seconds')",
        tenant,
    )
    due_at = await admin.fetchval("SELECT packing_due_at FROM parcel")
    await until(admin, "bool_and(packing_status = 'Completed') FROM parcel")
    assert await admin.fetchval("SELECT updated_at >= $1 FROM parcel", due_at)


async def test_one_job_per_workflow_and_task_and_never_the_old_one(build):
    line = example_pipeline()
    runtime = build(line)
    runtime.maintenance = standard_maintenance(line, runtime.tunings, runtime.settings)
    runtime.start()
    assert {job.id for job in runtime.scheduler.get_jobs()} == {
        "process_packing_queue",
        "process_weighing_queue",
        "process_shipping_queue",
        "maintain_prune_runs",
        "maintain_prune_workers",
        "maintain_statistics",
    }


async def test_a_failed_registration_is_named_and_the_others_still_start(build, admin, tenant, monkeypatch):
    runtime = build()
    register = runtime._register

    def fail_for_packing(processor):
        if processor.workflow.name == "packing":
            raise RuntimeError("bad declaration")
        register(processor)

    monkeypatch.setattr(runtime, "_register", fail_for_packing)
    runtime.start()
    assert runtime.failed_registrations == {"process_packing_queue": "RuntimeError: bad declaration"}
    await admin.execute(
        "INSERT INTO parcel (tenant_id, label, weighing_status) VALUES ($1, 'parcel', 'Queued')", tenant
    )
    await until(admin, ALL_SHIPPED, 1)
    assert runtime.wake("packing") is False


ONE_BY_ONE = {f"PACKING_SCHEDULER_{name}": "1" for name in ("BATCH_SIZE", "MAX_BATCH_SIZE", "CONCURRENCY")}


async def eventually(condition, seconds: float = 90) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


async def test_a_second_loop_starts_while_there_is_work_and_never_a_third(build, admin, tenant):
    runtime = build(example_pipeline(seconds=0.3), PACKING_SCHEDULER_MAX_INSTANCES="2", **ONE_BY_ONE)
    await admin.execute(ADD, tenant, 8, "Queued")
    runtime.start()
    seen: set[int] = set()
    processor = runtime.processors["packing"]
    await eventually(lambda: seen.add(processor.running) or 2 in seen)
    in_hand = set()
    while await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status <> 'Completed'"):
        seen.add(processor.running)
        in_hand.add(await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Processing'"))
    assert max(seen) == 2
    assert 2 in in_hand


async def test_the_interval_follows_the_depth_and_comes_back(build, admin, tenant):
    runtime = build(example_pipeline(seconds=0.05), PACKING_SCHEDULER_INTERVAL_SECONDS="60", **ONE_BY_ONE)
    await admin.execute(ADD, tenant, 40, "Queued")
    runtime.start()

    def interval() -> float:
        return runtime.scheduler.get_job("process_packing_queue").trigger.interval.total_seconds()

    assert interval() == 60
    await eventually(lambda: interval() < 20)
    await until(admin, "count(*) = 0 FROM parcel WHERE packing_status <> 'Completed'")
    await eventually(lambda: interval() == 60)


async def test_every_cycle_leaves_a_run(build, admin, tenant):
    runtime = build()
    runtime.start()
    await admin.execute(ADD, tenant, 30, "Queued")
    await until(admin, "coalesce(sum(completed), 0) = 30 FROM run WHERE workflow = 'packing'")
    run = await admin.fetchrow("SELECT * FROM run WHERE workflow = 'packing' AND claimed > 0")
    assert run["seconds"] > 0
    assert sum(run["histogram"]) == run["claimed"]
    assert run["error"] is None


async def test_a_run_asked_for_on_one_host_happens_on_another(build, admin):
    ended = asyncio.Event()

    async def hear(event):
        if isinstance(event, CycleEnded) and event.workflow == "weighing":
            ended.set()

    runtime = build()
    runtime.events.subscribe(hear)
    await admin.execute("INSERT INTO workflow_control (workflow) VALUES ('weighing')")
    runtime.start()
    await until(admin, "count(*) > 0 FROM worker")
    await request_run(admin, "weighing")
    async with asyncio.timeout(90):
        await ended.wait()


async def test_a_full_next_queue_holds_the_step_before_it_back(build, admin, tenant):
    runtime = build(WEIGHING_SCHEDULER_HIGH_WATER="10", PACKING_SCHEDULER_BATCH_SIZE="5")
    await admin.execute("INSERT INTO workflow_control (workflow, paused_at) VALUES ('weighing', now())")
    await admin.execute(ADD, tenant, 100, "Queued")
    runtime.start()
    await until(admin, "held_by = 'weighing' FROM workflow_control WHERE workflow = 'packing'")
    packed = await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Completed'")
    assert 10 <= packed < 100
    await admin.execute("UPDATE workflow_control SET paused_at = NULL WHERE workflow = 'weighing'")
    await until(admin, "count(*) = 0 FROM parcel WHERE packing_status <> 'Completed'")


async def test_stopping_twice_does_no_harm_and_leaves_no_connection(build, admin, database_url):
    runtime = build()
    runtime.start()
    await until(admin, "count(*) > 0 FROM worker")
    await runtime.stop(0)
    await runtime.stop(0)
    await runtime.database.close()
    # The server ends its process a moment after the client has closed the connection.
    open_ones = "datname = current_database() AND application_name LIKE 'scrapersky%'"
    await until(admin, f"count(*) = 0 FROM pg_stat_activity WHERE {open_ones}")
    assert await admin.fetchval("SELECT count(*) FROM worker") == 0


class Tick(Periodic):
    """Counts how often it ran."""

    name = "tick"
    interval_minutes = 10

    def __init__(self) -> None:
        self.ran = 0

    async def run(self, connection) -> str:
        self.ran += 1
        return "ticked"


async def test_a_periodic_task_runs_once_for_all_hosts(database, admin):
    task = Tick()
    turns = await asyncio.gather(*(run_periodic(task, database) for _ in range(5)))
    assert (sum(turns), task.ran) == (1, 1)
    assert await admin.fetchval("SELECT result FROM maintenance WHERE name = 'tick'") == "ticked"


async def test_a_failing_periodic_task_is_remembered(database, admin):
    class Broken(Tick):
        name = "broken"

        async def run(self, connection) -> str:
            raise RuntimeError("oh no")

    with pytest.raises(RuntimeError):
        await run_periodic(Broken(), database)
    assert await admin.fetchval("SELECT error FROM maintenance WHERE name = 'broken'") == "RuntimeError: oh no"


async def test_behind_a_pooler_a_task_that_fails_is_noted_too(database_url, admin):
    class Broken(Tick):
        name = "broken"

        async def run(self, connection) -> str:
            await connection.execute("SELECT 1 / 0")
            return "never"

    database = Database(database_url, make_settings(database_url, SCHEDULER_POLL_ONLY="true"))
    with pytest.raises(asyncpg.DivisionByZeroError):
        await run_periodic(Broken(), database)
    assert await run_periodic(Broken(), database) is False
    assert await admin.fetchval("SELECT error FROM maintenance WHERE name = 'broken'") == (
        "DivisionByZeroError: division by zero"
    )
    await database.close()


async def test_the_first_runs_of_tasks_are_spread_over_the_first_minute(build, admin, monkeypatch):
    class Hourly(Tick):
        interval_minutes = 60

        def __init__(self, number: int) -> None:
            super().__init__()
            self.name = f"hourly_{number}"  # type: ignore[misc]  # one class for all tasks

    runtime = build()
    runtime.maintenance = [Hourly(number) for number in range(30)]
    started = clock.now()
    runtime.start()
    due = [job.next_run_time for job in runtime.scheduler.get_jobs() if job.id.startswith("maintain_")]
    after = [(moment - started).total_seconds() for moment in due]
    assert len(after) == 30
    assert {int(seconds // 20) for seconds in after} == {0, 1, 2}, after
    assert all(0 <= seconds <= 61 for seconds in after)


async def test_workflows_of_one_interval_do_not_run_at_the_same_moment(build):
    runtime = build(SCHEDULER_INTERVAL_SECONDS="3600")
    runtime.start()
    due = {job.next_run_time for job in runtime.scheduler.get_jobs() if job.id.startswith("process_")}
    assert len({moment.replace(microsecond=0) for moment in due}) > 1, due


async def test_a_frequent_task_runs_within_its_interval(build, admin):
    line = example_pipeline()
    runtime = build(line)
    runtime.maintenance = [RunJobs(build_pipeline({}))]
    runtime.start()
    await until(admin, "count(*) = 1 FROM maintenance WHERE result IS NOT NULL")


async def test_rows_of_workers_that_are_gone_are_removed(database, admin):
    await admin.execute(
        "INSERT INTO worker (id, host, pid, version, seen_at) SELECT gen_random_uuid(), 'h', n, '1', "
        "now() - n * interval '1 minute' FROM generate_series(1, 27) n"
    )
    assert await run_periodic(PruneWorkers(), database)
    assert await admin.fetchval("SELECT count(*) FROM worker") in (4, 5)
    assert await admin.fetchval("SELECT result FROM maintenance") in ("22 workers removed", "23 workers removed")


async def test_old_runs_are_pruned(database, admin, settings):
    await admin.execute(
        "INSERT INTO run (workflow, host, pid, started_at, seconds, claimed, completed, skipped, postponed, retried, "
        "failed, returned, lost, histogram) SELECT 'x', 'h', 1, now() - n * interval '1 day', 1, 0, 0, 0, 0, 0, 0, 0, "
        "0, '{}' FROM generate_series(1, 60) n"
    )
    line = example_pipeline()
    prune = standard_maintenance(line, {w.name: w.tuning for w in line}, settings)[0]
    await run_periodic(prune, database)
    assert await admin.fetchval("SELECT count(*) FROM run") in (29, 30)
