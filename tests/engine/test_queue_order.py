"""Who is next: the order key that the database sets when a row is queued."""

import asyncio

import asyncpg
import pytest

from scrapersky.core.vocabularies import WaitsFor
from scrapersky.engine.queue import Focus, Queue
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


# -- searches take turns -----------------------------------------------------------------------------------------------


async def queue_domains(admin, tenant, name, count):
    """Domains of a new search, all of them ready."""
    search = await admin.fetchval(
        "INSERT INTO search (tenant_id, text, provider) VALUES ($1, $2, 'osm') RETURNING id", tenant, name
    )
    await admin.execute(
        "INSERT INTO domain (tenant_id, search_id, name, domain_metadata_status) "
        "SELECT $1, $2, $3 || n || '.fi', 'Queued' FROM generate_series(1, $4) n",
        *(tenant, search, name, count),
    )
    return search


async def claim_owners(admin, count, **options):
    """The searches of the claimed domains, in the order of the claim."""
    claimed = await real_line().queues["domain_metadata"].claim(admin, count, 60, **options)
    names = {row["id"]: row["text"] for row in await admin.fetch(OWNER, [row["id"] for row in claimed])}
    return [names[row["id"]] for row in claimed]


OWNER = "SELECT d.id, s.text FROM domain d JOIN search s ON s.id = d.search_id WHERE d.id = ANY($1::uuid[])"


async def test_a_new_search_takes_turns_with_the_left_overs_of_another(admin, tenant):
    await queue_domains(admin, tenant, "old", 5_000)
    await queue_domains(admin, tenant, "new", 50)
    assert (await claim_owners(admin, 110)).count("new") == 50


async def test_a_process_that_runs_one_search_claims_its_rows_first(admin, tenant):
    await queue_domains(admin, tenant, "old", 500)
    new = await queue_domains(admin, tenant, "new", 20)
    owners = await claim_owners(admin, 40, focus=Focus(tenant, new, reserve=10))
    assert owners == ["new"] * 20 + ["old"] * 20
    assert await claim_owners(admin, 40, focus=Focus(tenant, new, reserve=30)) == ["old"] * 10


async def test_many_searches_of_one_tenant_do_not_take_the_turns_of_another(admin, tenant, other_tenant):
    for number in range(60):
        await queue_domains(admin, tenant, f"s{number}-", 100)
    await queue_domains(admin, other_tenant, "small", 10)
    owners = await claim_owners(admin, 200)
    assert owners.count("small") == 10


async def test_pages_and_contacts_take_the_turn_of_the_search_of_their_site(admin, tenant):
    search = await queue_domains(admin, tenant, "s", 1)
    domain = await admin.fetchval("SELECT id FROM domain")
    await admin.execute(
        "INSERT INTO page (tenant_id, domain_id, url, page_processing_status) VALUES ($1, $2, 'https://s1/', 'Queued')",
        *(tenant, domain),
    )
    await admin.execute(
        "INSERT INTO contact (tenant_id, domain_id, identity, email, contact_verification_status) "
        "VALUES ($1, $2, 'a@b.fi', 'a@b.fi', 'Queued')",
        *(tenant, domain),
    )
    assert await admin.fetchval("SELECT page_processing_flow FROM page") == search
    assert await admin.fetchval("SELECT contact_verification_flow FROM contact") == search


async def test_an_urgent_row_at_the_head_does_not_cost_a_small_tenant_its_turn(admin, tenant, other_tenant):
    await queue_rows(admin, tenant, "big", 2_000)
    await admin.execute("UPDATE parcel SET packing_order = packing_order - 3600 * 1000000::bigint")  # an hour ago
    await queue_rows(admin, tenant, "urgent", 1, priority=9)
    await queue_rows(admin, other_tenant, "small", 10)
    assert (await claim_labels(admin, 30)).count("small") == 10


# -- rows that waited --------------------------------------------------------------------------------------------------


async def test_a_row_that_had_to_wait_does_not_stand_before_rows_that_could_go(admin, tenant):
    await queue_rows(admin, tenant, "dead", 60)
    await admin.execute(
        "UPDATE parcel SET packing_due_at = now() - interval '1 second', packing_attempts = 1, "
        "packing_order = packing_order - 60 * 1000000::bigint"
    )
    await queue_rows(admin, tenant, "good", 200)
    assert (await Queue(Packing()).sweep(admin, 5)).ready == 60
    assert await claim_labels(admin, 260) == ["good"] * 200 + ["dead"] * 60
    row = await admin.fetchrow("SELECT packing_attempts, packing_allowance FROM parcel WHERE label = 'dead'")
    assert tuple(row) == (2, 0), "waiting resets no attempts"


async def test_rows_of_a_tenant_that_is_enabled_again_take_nobody_elses_turn(admin, tenant, other_tenant):
    await queue_rows(admin, tenant, "big", 900)
    await admin.execute(
        "UPDATE parcel SET packing_due_at = now() + interval '1 hour', packing_waits_for = 'tenant', "
        "packing_order = packing_order - 3600 * 1000000::bigint"
    )
    await queue_rows(admin, other_tenant, "small", 10)
    queue = Queue(Packing())
    assert await queue.wake(admin, tenant, WaitsFor.TENANT) == 900
    await queue.sweep(admin, 5)
    assert (await claim_labels(admin, 25)).count("small") == 10
