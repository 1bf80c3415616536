"""What the engine promises, kept for every declared workflow."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from scrapersky.core.settings import Environment
from scrapersky.engine import admission
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.outcomes import GiveUp, Later, Skip
from scrapersky.engine.scheduler import new_scheduler, register_workflow
from scrapersky.engine.tuning import tune
from scrapersky.models import Base
from tests.conftest import make_settings, processors_of
from tests.workflows.cases import CASES, Case, real_line

pytestmark = pytest.mark.parametrize("case", CASES, ids=str)


class Bench:
    """One workflow with scripted work, on the real database."""

    def __init__(self, case: Case, database, settings, admin, tenant) -> None:
        self.case, self.database, self.settings, self.admin, self.tenant = case, database, settings, admin, tenant
        self.worked: list[Any] = []
        self._declared = case.line()[case.name]

    def processor(self, script: Callable[[Any], Awaitable[Any]] | None = None, **changes):
        pipeline = self.case.line()
        workflow = pipeline[self.case.name]

        async def work(row_id):
            self.worked.append(row_id)
            await asyncio.sleep(0)
            return await script(row_id) if script else self.case.found()

        workflow.read = lambda row: row.id
        workflow.work = work
        return processors_of(pipeline, self.database, self.settings, **changes)[self.case.name]

    async def row(self, row_id) -> dict[str, Any]:
        table, queue = self._declared.table, self._declared.queue
        record = await self.admin.fetchrow(f"SELECT * FROM {table} WHERE id = $1", row_id)
        return {key.removeprefix(f"{queue}_"): value for key, value in record.items()}

    async def set(self, row_id, **values) -> None:
        table, queue = self._declared.table, self._declared.queue
        for column, value in values.items():
            await self.admin.execute(f"UPDATE {table} SET {queue}_{column} = $2 WHERE id = $1", row_id, value)


@pytest.fixture
def bench(case, database, settings, admin, tenant) -> Bench:
    return Bench(case, database, settings, admin, tenant)


def raises(error: BaseException):
    async def script(_row_id):
        raise error

    return script


async def test_the_oldest_row_is_worked_on_first(bench, case):
    rows = await case.add(bench.admin, bench.tenant, 7)
    await run_job_loop(bench.processor(batch_size=2, max_batch_size=2, concurrency=1))
    assert bench.worked == rows


async def test_two_loops_never_share_a_row(bench, case):
    rows = await case.add(bench.admin, bench.tenant, 40)
    first, second = bench.processor(batch_size=3), bench.processor(batch_size=4)
    await asyncio.gather(run_job_loop(first), run_job_loop(second))
    assert sorted(bench.worked) == sorted(rows)
    assert {(await bench.row(row))["attempts"] for row in rows} == {1}


async def test_no_connection_is_checked_out_during_work(bench, case):
    await case.add(bench.admin, bench.tenant)
    out: list[int] = []

    async def script(_row_id):
        await asyncio.sleep(0.02)
        out.append(bench.database.engine.pool.checkedout())
        return case.found()

    await run_job_loop(bench.processor(script))
    assert out == [0]


async def test_a_plain_update_by_anybody_queues_a_row(bench, case):
    [row] = await case.add(bench.admin, bench.tenant, status="New")
    await bench.set(row, status="Queued")
    await run_job_loop(bench.processor())
    state = await bench.row(row)
    assert (state["status"], state["error"]) == ("Completed", None)


async def test_success_clears_the_error(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    await run_job_loop(bench.processor(raises(RuntimeError("first time")), backoff_seconds=0.01, max_attempts=9))
    assert "first time" in (await bench.row(row))["error"]
    await bench.set(row, due_at=None)
    await run_job_loop(bench.processor())
    state = await bench.row(row)
    assert (state["status"], state["error"], state["due_at"]) == ("Completed", None, None)


async def test_failure_waits_longer_each_time_and_ends_as_a_dead_letter(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    waits = []
    for attempt in range(1, 4):
        await run_job_loop(bench.processor(raises(ValueError("no good")), max_attempts=3, backoff_seconds=100))
        state = await bench.row(row)
        assert state["attempts"] == attempt
        if attempt < 3:
            assert state["status"] == "Queued"
            waits.append(await bench.admin.fetchval("SELECT extract(epoch FROM $1 - now())", state["due_at"]))
            await bench.set(row, due_at=None)
    assert 45 < waits[0] <= 100
    assert 95 < waits[1] <= 200
    assert state["status"] == "Error"
    letter = await bench.admin.fetchrow("SELECT * FROM dead_letter WHERE row_id = $1", row)
    assert (letter["attempts"], letter["error_type"], letter["tenant_id"]) == (3, "ValueError", bench.tenant)
    assert "no good" in letter["message"]


async def test_queueing_a_dead_row_again_gives_it_a_fresh_start(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    await run_job_loop(bench.processor(raises(GiveUp("gone for good"))))
    assert await bench.admin.fetchval("SELECT message FROM dead_letter") == "gone for good"
    await bench.set(row, status="Queued")
    assert await bench.admin.fetchval("SELECT count(*) FROM dead_letter") == 0
    await run_job_loop(bench.processor(raises(ValueError("again")), max_attempts=2))
    state = await bench.row(row)
    assert (state["status"], state["attempts"], state["allowance"]) == ("Queued", 2, 1)


async def test_a_postponed_row_loses_no_attempt(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    for _ in range(4):
        await run_job_loop(bench.processor(raises(Later(timedelta(hours=1), "quota")), max_attempts=2))
        state = await bench.row(row)
        assert (state["status"], state["error"]) == ("Queued", "quota")
        assert state["attempts"] - state["allowance"] == 0
        await bench.set(row, due_at=None)


async def test_a_skipped_row_has_its_reason(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    await run_job_loop(bench.processor(raises(Skip("nothing to see"))))
    state = await bench.row(row)
    assert (state["status"], state["error"]) == ("Skipped", "nothing to see")


async def test_the_reason_is_cut_and_cleaned(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    await run_job_loop(bench.processor(raises(RuntimeError("x\0y\ud800" + "é" * 5000))))
    assert len((await bench.row(row))["error"]) == 1024


async def test_a_lost_lease_writes_nothing(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    before = await bench.admin.fetchval(case.products) if case.products else 0

    async def script(row_id):
        # Somebody else has taken the row over in the meantime.
        await bench.set(row_id, attempts=2)
        return case.found()

    report = await run_job_loop(bench.processor(script))
    state = await bench.row(row)
    assert report.lost == 1
    assert (state["status"], state["attempts"]) == ("Processing", 2)
    if case.products:
        assert await bench.admin.fetchval(case.products) == before


async def test_the_work_is_cancelled_the_moment_its_lease_is_lost(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    ended = []

    async def script(row_id):
        await bench.set(row_id, attempts=2)
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            ended.append(row_id)
            raise

    await asyncio.wait_for(run_job_loop(bench.processor(script, lease_seconds=1)), 90)
    assert ended == [row]


async def test_a_heartbeat_keeps_long_work(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)

    async def script(row_id):
        claimed = (await bench.row(row_id))["due_at"]
        async with asyncio.timeout(90):
            while (await bench.row(row_id))["due_at"] == claimed:
                await asyncio.sleep(0.05)
        return case.found()

    await run_job_loop(bench.processor(script, lease_seconds=3))
    state = await bench.row(row)
    assert (state["status"], state["attempts"]) == ("Completed", 1)


async def test_a_row_that_takes_too_long_is_timed_out(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)

    async def script(_row_id):
        await asyncio.sleep(600)

    await asyncio.wait_for(run_job_loop(bench.processor(script, timeout_seconds=0.05)), 90)
    assert (await bench.row(row))["error"] == "The timeout of 0.05 seconds passed."


async def test_stopping_gives_unfinished_rows_back_without_counting(bench, case):
    rows = await case.add(bench.admin, bench.tenant, 3)
    begun = asyncio.Event()

    async def script(_row_id):
        begun.set()
        await asyncio.sleep(600)

    processor = bench.processor(script)
    cycle = asyncio.create_task(run_job_loop(processor))
    await begun.wait()
    processor.stop(grace_seconds=0)
    await asyncio.wait_for(cycle, 90)
    for row in rows:
        state = await bench.row(row)
        assert (state["status"], state["due_at"], state["attempts"] - state["allowance"]) == ("Queued", None, 0)


async def test_cancelling_the_loop_gives_rows_back_too(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    begun = asyncio.Event()

    async def script(_row_id):
        begun.set()
        await asyncio.sleep(600)

    cycle = asyncio.create_task(run_job_loop(bench.processor(script)))
    await begun.wait()
    cycle.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cycle
    state = await bench.row(row)
    assert (state["status"], state["attempts"] - state["allowance"]) == ("Queued", 0)


async def test_cancelling_the_loop_in_its_very_claim_gives_the_row_back(bench, case, monkeypatch):
    [row] = await case.add(bench.admin, bench.tenant)
    processor = bench.processor()
    claimed, settle_and_claim = asyncio.Event(), processor.queue.settle_and_claim

    async def slow_answer(*arguments, **options):
        answer = await settle_and_claim(*arguments, **options)
        claimed.set()
        await asyncio.sleep(0.05)  # committed, but the answer is still on its way
        return answer

    monkeypatch.setattr(processor.queue, "settle_and_claim", slow_answer)
    cycle = asyncio.create_task(run_job_loop(processor))
    await claimed.wait()
    cycle.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cycle
    state = await bench.row(row)
    assert (state["status"], state["attempts"] - state["allowance"]) == ("Queued", 0)


async def test_a_row_whose_lease_expired_is_claimed_again_and_fails_after_its_attempts(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    queue, connection = bench.processor().queue, bench.admin
    for attempt in range(1, 3):
        [claimed] = await queue.claim(connection, 1, 60)
        assert (claimed["id"], claimed["attempts"]) == (row, attempt)
        await connection.execute(
            f"UPDATE {queue.name.split('.')[0]} SET {queue.name.split('.')[1]}_due_at = now() - interval '1 second'"
        )
        swept = await queue.sweep(connection, max_attempts=2)
        assert (swept.rescued, swept.died) == ((1, 0) if attempt == 1 else (0, 1))
    state = await bench.row(row)
    assert state["status"] == "Error"
    assert await connection.fetchval("SELECT error_type FROM dead_letter WHERE row_id = $1", row) == "LeaseExpired"


async def test_rows_for_the_next_step_are_queued_in_the_transaction_of_the_completion(bench, case):
    await case.add(bench.admin, bench.tenant, 1)
    await run_job_loop(bench.processor())
    if case.products:
        assert await bench.admin.fetchval(case.products) == 1


async def test_a_failing_write_fails_alone_and_undoes_its_completion(bench, case, monkeypatch):
    rows = await case.add(bench.admin, bench.tenant, 5)
    processor = bench.processor(batch_size=5)
    workflow = processor.workflow
    if not workflow.writes:
        return
    bad, write = rows[2], type(workflow).write_batch

    async def write_batch(session, found):
        products = await write(workflow, session, found)
        if any(row.id == bad for row, _ in found):
            await session.execute(text("SELECT 1/0"))
        return products

    workflow.write_batch = write_batch
    await run_job_loop(processor)
    states = [(await bench.row(row))["status"] for row in rows]
    assert states == ["Completed", "Completed", "Queued", "Completed", "Completed"]
    assert "division by zero" in (await bench.row(bad))["error"]


async def test_a_paused_workflow_claims_nothing_until_it_is_resumed(bench, case):
    [row] = await case.add(bench.admin, bench.tenant)
    processor = bench.processor()
    assert await admission.pause(bench.admin, case.name, "tester", "lunch") is True
    assert await admission.pause(bench.admin, case.name, "tester", "lunch") is False
    await run_job_loop(processor)
    assert (await bench.row(row))["status"] == "Queued"
    assert await admission.resume(bench.admin, case.name) is True
    await run_job_loop(processor)
    assert (await bench.row(row))["status"] == "Completed"


async def test_failures_above_the_rate_open_the_breaker_and_a_probe_closes_it(bench, case):
    await case.add(bench.admin, bench.tenant, 30)
    tuning = {"breaker_min_rows": 5, "breaker_pause_seconds": 100, "batch_size": 5, "max_batch_size": 5}
    await run_job_loop(bench.processor(raises(RuntimeError("down")), **tuning, concurrency=1, backoff_seconds=500))
    state = await bench.admin.fetchrow("SELECT * FROM workflow_control WHERE workflow = $1", case.name)
    assert state["breaker"] == "open"
    worked = len(bench.worked)
    await run_job_loop(bench.processor(**tuning))
    assert len(bench.worked) == worked, "an open breaker lets nothing through"
    await bench.admin.execute("UPDATE workflow_control SET breaker_until = now() - interval '1 second'")
    await case.add(bench.admin, bench.tenant, 3, start=100)
    await run_job_loop(bench.processor(**tuning))
    after = await bench.admin.fetchrow("SELECT * FROM workflow_control WHERE workflow = $1", case.name)
    assert (after["breaker"], after["breaker_trips"]) == ("closed", 0)


async def test_the_environment_overrules_the_declared_tuning(bench, case):
    workflow = case.line()[case.name]
    environment = Environment({f"{workflow.settings_prefix}BATCH_SIZE": "7"}, None)
    assert tune(workflow.settings_prefix, workflow.tuning, environment).batch_size == 7


async def test_the_job_of_a_workflow_has_the_name_of_the_workflow(bench, case):
    settings = make_settings("postgresql://nowhere/x")
    scheduler = new_scheduler(settings)
    processor = bench.processor()
    register_workflow(scheduler, processor, settings)
    [job] = scheduler.get_jobs()
    assert job.id == f"process_{case.name}_queue"
    assert job.name == f"WF{processor.workflow.number} - {case.name.replace('_', ' ').title()} Queue Processor"
    assert (job.coalesce, job.misfire_grace_time, job.max_instances) == (True, 60, processor.tuning.max_instances)


async def test_what_it_writes_belongs_to_the_tenant_of_the_row(bench, case, other_tenant):
    await case.add(bench.admin, bench.tenant, 2)
    await case.add(bench.admin, other_tenant, 3, start=50)
    await run_job_loop(bench.processor())
    if case.products:
        table = case.products.split(" FROM ")[1].split()[0]
        owners = {row[0] for row in await bench.admin.fetch(f"SELECT DISTINCT tenant_id FROM {table}")}
        assert owners == {bench.tenant, other_tenant}
    assert await mixed_up(bench.admin) == []


async def mixed_up(admin) -> list[str]:
    """Where a row of one tenant hangs on a row of another."""
    found = []
    for child in Base.metadata.tables.values():
        for key in child.foreign_keys if "tenant_id" in child.columns else ():
            parent = key.column.table
            if "tenant_id" in parent.columns:
                mixed = await admin.fetchval(
                    f'SELECT count(*) FROM "{child.name}" c JOIN "{parent.name}" p ON p."{key.column.name}" = '
                    f'c."{key.parent.name}" WHERE c.tenant_id <> p.tenant_id'
                )
                found += [f"{child.name}.{key.parent.name}"] if mixed else []
    return found


async def test_every_workflow_of_the_line_is_under_contract(case):
    assert {workflow.name for workflow in real_line()} <= {known.name for known in CASES}
