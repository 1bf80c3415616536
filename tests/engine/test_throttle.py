"""The throttle of a workflow: one bucket of tokens for all hosts."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from scrapersky.engine.admission import return_tokens, take_tokens
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.tuning import Tuning
from scrapersky.sandbox.example_workflows import example_pipeline
from tests.conftest import processors_of

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) SELECT $1, 'p', 'Queued' FROM generate_series(1, $2)"
OPEN_BUCKET = "INSERT INTO workflow_control (workflow) VALUES ('packing')"
AGE_BUCKET = "UPDATE workflow_control SET throttle_at = throttle_at - $1 * interval '1 second'"


async def test_a_workflow_claims_no_more_rows_than_its_throttle_allows(database, settings, admin, tenant):
    await admin.execute(ADD, tenant, 20)
    processor = processors_of(example_pipeline(), database, settings, max_per_minute=1)["packing"]
    running = asyncio.create_task(run_job_loop(processor))
    async with asyncio.timeout(240):
        while not await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Completed'"):
            await asyncio.sleep(0.02)
    processor.stop(0)
    await running
    assert await admin.fetchval("SELECT sum(packing_attempts) FROM parcel") == 1
    assert await admin.fetchval("SELECT max_per_minute FROM workflow_control WHERE workflow = 'packing'") == 1


async def test_a_throttled_workflow_continues_with_the_next_token(database, settings, admin, tenant):
    await admin.execute(ADD, tenant, 30)
    processor = processors_of(example_pipeline(), database, settings, max_per_minute=6_000)["packing"]
    await run_job_loop(processor)
    assert await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Completed'") == 30


async def test_all_hosts_share_one_bucket(database, admin):
    await admin.execute(OPEN_BUCKET)
    tuning = Tuning(max_per_minute=120)
    grants = [await take_tokens(database, "packing", tuning, 10) for _ in range(4)]
    assert [grant.rows for grant in grants] == [2, 0, 0, 0]
    assert 0 < grants[1].wait_seconds <= 60 / 119
    await admin.execute(AGE_BUCKET, 3600)
    assert (await take_tokens(database, "packing", tuning, 10)).rows == 2, "an idle hour saves up one second's worth"


async def test_tokens_of_rows_that_were_not_there_are_returned(database, admin):
    await admin.execute(OPEN_BUCKET)
    tuning = Tuning(max_per_minute=600)
    assert (await take_tokens(database, "packing", tuning, 10)).rows == 10
    await return_tokens(database, "packing", tuning, 7)
    assert (await take_tokens(database, "packing", tuning, 10)).rows == 7


@given(st.integers(1, 100_000))
def test_no_minute_has_more_rows_than_allowed(limit):
    tuning = Tuning(max_per_minute=limit)
    assert tuning.burst + tuning.tokens_per_second * 60 - 1 <= limit + 1e-6
    assert tuning.tokens_per_second > 0
