"""The example line end to end: three workflows, two tables, one hand-over after another."""

from scrapersky.engine.loop import run_job_loop
from scrapersky.sandbox.example_workflows import example_pipeline
from tests.conftest import processors_of


async def test_parcels_go_down_the_line_and_empty_ones_are_set_aside(database, settings, admin, tenant):
    await admin.execute(
        "INSERT INTO parcel (tenant_id, label, packing_status) SELECT $1, 'parcel ' || n, 'Queued' "
        "FROM generate_series(1, 200) n",
        tenant,
    )
    processors = processors_of(example_pipeline(), database, settings)
    for name in ("packing", "weighing", "shipping"):
        await run_job_loop(processors[name])
    counts = dict(await admin.fetch("SELECT weighing_status, count(*) FROM parcel GROUP BY 1"))
    shipped = dict(await admin.fetch("SELECT shipping_status, count(*) FROM shipment GROUP BY 1"))
    assert counts["Completed"] + counts.get("Skipped", 0) == 200
    assert shipped == {"Completed": counts["Completed"]}
