"""Who is next: the order key that the database sets when a row is queued."""

import asyncio

import asyncpg
import pytest

from scrapersky.engine.queue import Queue
from scrapersky.sandbox.example_workflows import Packing
from tests.workflows.cases import real_line

QUEUE_MANY = (
    "INSERT INTO parcel (tenant_id, label, packing_status, priority) "
    "SELECT $1, $2, 'Queued', $4 FROM generate_series(1, $3)"
)


async def queue_rows(admin, tenant, label, count, priority=0):
    await admin.execute(QUEUE_MANY, tenant, label, count, priority)


async def claim_labels(admin, count):
    rows = await Queue(Packing()).claim(admin, count, 60)
    return [row["label"] for row in rows]


async def test_urgent_rows_overtake(admin, tenant):
    await queue_rows(admin, tenant, "normal", 50)
    await queue_rows(admin, tenant, "urgent", 2, priority=1)
    assert await claim_labels(admin, 3) == ["urgent", "urgent", "normal"]


async def test_an_old_normal_row_beats_a_new_urgent_one(admin, tenant):
    await queue_rows(admin, tenant, "old", 1)
    await admin.execute("UPDATE parcel SET packing_order = packing_order - 11 * 60 * 1000000::bigint")
    await queue_rows(admin, tenant, "urgent", 1, priority=1)
    assert await claim_labels(admin, 2) == ["old", "urgent"]


async def test_low_priority_waits(admin, tenant):
    await queue_rows(admin, tenant, "low", 2, priority=-1)
    await queue_rows(admin, tenant, "normal", 2)
    assert await claim_labels(admin, 4) == ["normal", "normal", "low", "low"]


async def test_raising_the_priority_of_a_queued_row_moves_it(admin, tenant):
    await queue_rows(admin, tenant, "normal", 5)
    await queue_rows(admin, tenant, "chosen", 1)
    await admin.execute("UPDATE parcel SET priority = 2 WHERE label = 'chosen'")
    assert await claim_labels(admin, 1) == ["chosen"]


async def test_fifty_thousand_rows_of_one_tenant_do_not_delay_another(admin, tenant, other_tenant):
    await queue_rows(admin, tenant, "big", 50_000)
    queue = Queue(Packing())
    await queue.claim(admin, 500, 60)  # some of it has been served already
    await queue_rows(admin, other_tenant, "small", 50)
    labels = await claim_labels(admin, 200)
    assert labels.count("small") == 50


async def test_many_small_tenants_share_fairly(admin, tenant):
    await queue_rows(admin, tenant, "big", 2_000)
    for number in range(10):
        other = await admin.fetchval("INSERT INTO tenant (name) VALUES ($1) RETURNING id", f"t{number}")
        await queue_rows(admin, other, "small", 10)
    labels = await claim_labels(admin, 250)
    assert labels.count("small") == 100


async def test_a_tenants_own_rows_stay_in_order(admin, tenant):
    for number in range(5):
        await queue_rows(admin, tenant, str(number), 3)
    assert await claim_labels(admin, 15) == [str(number) for number in range(5) for _ in range(3)]


async def test_queueing_wakes_at_most_a_hundred_times_a_second(admin, tenant, database_url):
    heard: list[str] = []
    listener = await asyncpg.connect(database_url)
    await listener.add_listener("scrapersky", lambda *arguments: heard.append(arguments[3]))
    started = asyncio.get_running_loop().time()
    for _ in range(300):
        await queue_rows(admin, tenant, "x", 1)
    seconds = asyncio.get_running_loop().time() - started
    await listener.execute("SELECT 1")
    await listener.close()
    assert set(heard) == {"parcel.packing"}
    assert 1 <= len(heard) <= seconds * 100 + 2


async def test_a_row_queued_for_later_waits(admin, tenant):
    await admin.execute(
        "INSERT INTO parcel (tenant_id, packing_status, packing_due_at) "
        "VALUES ($1, 'Queued', now() + interval '1 hour')",
        tenant,
    )
    queue = Queue(Packing())
    assert await queue.claim(admin, 10, 60) == []
    assert (await queue.measure(admin)).waiting == 1
    await admin.execute("UPDATE parcel SET packing_due_at = now()")
    assert (await queue.sweep(admin, 5)).ready == 1
    assert len(await queue.claim(admin, 10, 60)) == 1


async def test_taking_a_row_out_of_processing_by_hand_frees_it_at_once(admin, tenant):
    await queue_rows(admin, tenant, "x", 1)
    queue = Queue(Packing())
    await queue.claim(admin, 1, 3600)
    await admin.execute("UPDATE parcel SET packing_status = 'Queued'")
    [row] = await queue.claim(admin, 1, 60)
    assert (row["attempts"], row["allowance"]) == (2, 1)


async def test_nobody_can_hold_a_row_without_a_lease(admin, tenant):
    await queue_rows(admin, tenant, "x", 1)
    with pytest.raises(asyncpg.CheckViolationError, match="parcel_packing_leased"):
        await admin.execute("UPDATE parcel SET packing_status = 'Processing'")


async def test_a_row_taken_out_of_its_queue_leaves_no_clock_behind(admin, tenant):
    await queue_rows(admin, tenant, "x", 2)
    await Queue(Packing()).claim(admin, 1, 3600)
    await admin.execute("UPDATE parcel SET packing_due_at = now() + interval '1 day' WHERE packing_status = 'Queued'")
    await admin.execute("UPDATE parcel SET packing_status = 'New'")
    assert await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_due_at IS NOT NULL") == 0
    await admin.execute("UPDATE parcel SET packing_status = 'Queued'")
    assert len(await Queue(Packing()).claim(admin, 5, 60)) == 2


async def queue_pages(admin, tenant, count):
    """Real pages of a real domain, selected by hand: each through the triggers of its table."""
    domain = await admin.fetchval("INSERT INTO domain (tenant_id, name) VALUES ($1, 'a.fi') RETURNING id", tenant)
    await admin.execute(
        "INSERT INTO page (tenant_id, domain_id, url) "
        "SELECT $1, $2, 'https://a.fi/' || n FROM generate_series(1, $3) n",
        tenant,
        domain,
        count,
    )
    await admin.execute("UPDATE page SET page_processing_status = 'Queued' WHERE tenant_id = $1", tenant)


@pytest.mark.parametrize("served", [0, 300], ids=["before", "in the middle"])
async def test_five_thousand_pages_of_one_tenant_do_not_delay_fifty_of_another(admin, tenant, other_tenant, served):
    queue = real_line().queues["page_curation"]
    await queue_pages(admin, tenant, 5_000)
    if served:
        await queue.claim(admin, served, 60)
    await queue_pages(admin, other_tenant, 50)
    owners: list[str] = []
    while len(owners) < 110:
        claimed = await queue.claim(admin, 10, 60)
        ids = [row["id"] for row in claimed]
        owners += [row[0] for row in await admin.fetch("SELECT tenant_id FROM page WHERE id = ANY($1::uuid[])", ids)]
    assert owners.count(other_tenant) == 50


async def test_a_quota_takes_nobody_elses_turn(admin, tenant, other_tenant):
    await admin.execute("UPDATE tenant SET pages_per_day = 30 WHERE id = $1", tenant)
    await queue_pages(admin, tenant, 5_000)
    await queue_pages(admin, other_tenant, 50)
    claimed = await real_line().queues["page_curation"].claim(admin, 1_000, 60)
    assert len(claimed) == 80
