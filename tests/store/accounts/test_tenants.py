"""Rows of a disabled tenant wait in every queue without an attempt, and resume when it is enabled again."""

from tests.conftest import processors_of

from scrapersky.engine.loop import run_job_loop
from scrapersky.sandbox.example_workflows import example_pipeline
from scrapersky.store.accounts import tenants

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) SELECT $1, 'p', 'Queued' FROM generate_series(1, 20)"
STATES = """
SELECT packing_status, packing_error, packing_due_at > now() + interval '50 minutes' AS waits,
    packing_attempts - packing_allowance AS tries, count(*) FROM parcel WHERE tenant_id = $1 GROUP BY 1, 2, 3, 4"""


async def test_rows_of_a_disabled_tenant_wait_and_resume(database, settings, admin, tenant, other_tenant):
    for owner in (tenant, other_tenant):
        await admin.execute(ADD, owner)
    await admin.execute("UPDATE tenant SET disabled_at = now() WHERE id = $1", other_tenant)
    line = example_pipeline()
    processor = processors_of(line, database, settings)["packing"]

    await run_job_loop(processor)
    assert [tuple(row) for row in await admin.fetch(STATES, tenant)] == [("Completed", None, None, 1, 20)]
    waiting = [tuple(row) for row in await admin.fetch(STATES, other_tenant)]
    assert waiting == [("Queued", "The tenant is disabled.", True, 0, 20)]

    await admin.execute("UPDATE tenant SET disabled_at = NULL WHERE id = $1", other_tenant)
    await tenants.resume_rows(database, line.queues.values(), other_tenant)
    await run_job_loop(processor)
    assert [row["packing_status"] for row in await admin.fetch(STATES, other_tenant)] == ["Completed"]


async def test_many_rows_resume_in_chunks(database, settings, admin, tenant, monkeypatch):
    await admin.execute(ADD, tenant)
    await admin.execute("UPDATE parcel SET packing_due_at = now() + interval '1 hour', packing_waits_for = 'tenant'")
    monkeypatch.setattr(tenants, "CHUNK_ROWS", 5)
    await tenants.resume_rows(database, example_pipeline().queues.values(), tenant)
    assert await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_due_at <= now()") == 20
