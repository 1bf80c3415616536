"""A tenant that is disabled: its rows rest in every queue without a try, and go on when it is enabled again."""

from tests.conftest import processors_of

from scrapersky.engine.loop import run_job_loop
from scrapersky.sandbox.example_workflows import example_pipeline
from scrapersky.store.accounts import tenant_wake

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) SELECT $1, 'p', 'Queued' FROM generate_series(1, 20)"
STATES = """
SELECT packing_status, packing_error, packing_due_at > now() + interval '50 minutes' AS rests,
    packing_attempts - packing_allowance AS tries, count(*) FROM parcel WHERE tenant_id = $1 GROUP BY 1, 2, 3, 4"""


async def test_a_disabled_tenant_rests_and_goes_on(database, settings, admin, tenant, other_tenant):
    for owner in (tenant, other_tenant):
        await admin.execute(ADD, owner)
    await admin.execute("UPDATE tenant SET disabled_at = now() WHERE id = $1", other_tenant)
    line = example_pipeline()
    processor = processors_of(line, database, settings)["packing"]

    await run_job_loop(processor)
    assert [tuple(row) for row in await admin.fetch(STATES, tenant)] == [("Completed", None, None, 1, 20)]
    resting = [tuple(row) for row in await admin.fetch(STATES, other_tenant)]
    assert resting == [("Queued", "The tenant is disabled.", True, 0, 20)]

    await admin.execute("UPDATE tenant SET disabled_at = NULL WHERE id = $1", other_tenant)
    await tenant_wake.go_on(database, line.queues.values(), other_tenant)
    await run_job_loop(processor)
    assert [row["packing_status"] for row in await admin.fetch(STATES, other_tenant)] == ["Completed"]


async def test_waking_many_goes_in_bites(database, settings, admin, tenant, monkeypatch):
    await admin.execute(ADD, tenant)
    await admin.execute(
        "UPDATE parcel SET packing_due_at = now() + interval '1 hour', packing_error = 'The tenant is disabled.'"
    )
    monkeypatch.setattr(tenant_wake, "ROWS_AT_ONCE", 5)
    await tenant_wake.go_on(database, example_pipeline().queues.values(), tenant)
    assert await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_due_at IS NULL") == 20
