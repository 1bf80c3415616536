"""Bulk actions change no more than was shown, and a curation can be undone for a day."""

import json
import random
from uuid import UUID, uuid4

import pytest

from scrapersky.actions import jobs
from scrapersky.maintenance.prune import PruneJobs
from scrapersky.pipeline import build_pipeline
from tests.api.line.test_curation import add_places, curate
from tests.factories.api_application import is_problem
from tests.factories.line_rows import add, add_line

API = "/api/v3"
WORDS = ("New", "Selected", "Maybe", "Not a Fit", "Archived")
STATE = """
SELECT id, curation_status, deep_scan_status, deep_scan_revert_to, deep_scan_error, deep_scan_due_at IS NULL AS is_ready
FROM place"""


async def undo(client, action_id):
    answer = await client.post(f"{API}/undo/{action_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def restored(count, *, not_restored=0, processed=0, delivered=0):
    """What an undo answers."""
    return {"restored": count, "not_restored": not_restored, "processed": processed, "delivered": delivered}


async def shown(client, **filters):
    counted = await curate(client, "places", "Selected", filter=filters, preview=True)
    return {"filter": filters, "expected": counted["matched"], "as_of": counted["as_of"]}


async def selected(admin):
    return await admin.fetchval("SELECT count(*) FROM place WHERE curation_status = 'Selected'")


async def test_rows_that_were_created_after_they_were_shown_are_not_changed(client, admin, tenant):
    await add_places(admin, tenant, 25)
    asked = await shown(client, provider="fake")
    await admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name) SELECT $1, 'fake', 'late' || n, 'late' "
        "FROM generate_series(1, 100) n",
        tenant,
    )
    done = await curate(client, "places", "Selected", **asked)
    assert (done["matched"], done["updated"]) == (25, 25)
    assert await admin.fetchval("SELECT count(*) FROM place WHERE name = 'late' AND curation_status <> 'New'") == 0


async def test_another_number_of_rows_than_was_shown_is_a_conflict_with_the_new_number(client, admin, tenant):
    await add_places(admin, tenant, 40)
    await admin.execute("UPDATE place SET curation_status = 'Maybe' WHERE provider_id::int > 20")
    asked = await shown(client, curation_status="New")
    await admin.execute("UPDATE place SET curation_status = 'New' WHERE provider_id::int > 29")
    answer = await client.post(f"{API}/places/curation", json={**asked, "curation_status": "Selected"})
    problem = is_problem(answer, 409)
    assert (problem["matched"], problem["expected"]) == (31, 20)
    assert await selected(admin) == 0


async def test_never_more_rows_are_changed_than_were_shown(client, admin, tenant):
    await add_places(admin, tenant, 40)
    await admin.execute("UPDATE place SET curation_status = 'Maybe' WHERE provider_id::int > 20")
    asked = await shown(client, curation_status="New")
    late = "UPDATE place SET curation_status = 'New', updated_at = now() WHERE provider_id::int > 35"
    await admin.execute(late)  # five rows more match now: within the tolerance
    assert (await curate(client, "places", "Selected", **asked))["updated"] == 20
    assert await admin.fetchval("SELECT max(provider_id::int) FROM place WHERE curation_status = 'Selected'") == 20


async def test_single_rows_are_taken_out_of_all_that_match(client, admin, tenant):
    await add_places(admin, tenant, 12)
    out = [str(row["id"]) for row in await admin.fetch("SELECT id FROM place LIMIT 2")]
    body = {"filter": {}, "except": out, "expected": 10}
    assert (await curate(client, "places", "Selected", **body))["updated"] == 10
    kept = await admin.fetchval("SELECT count(*) FROM place WHERE curation_status = 'New' AND id = ANY($1)", out)
    assert kept == 2
    too_many = {"filter": {}, "except": [str(uuid4()) for _ in range(1001)], "curation_status": "Maybe"}
    is_problem(await client.post(f"{API}/places/curation", json=too_many), 422)
    for wrong in ({"expected": -1}, {"expected": "5"}, {"as_of": "yesterday"}, {"except": ["x"]}):
        body = {"filter": {}, "curation_status": "Maybe", **wrong}
        is_problem(await client.post(f"{API}/places/curation", json=body), 422)


async def test_a_job_keeps_to_what_was_shown_and_is_undone_by_a_job(client, admin, tenant, database, monkeypatch):
    monkeypatch.setattr("scrapersky.api.resources.curation.MAX_ROWS", 10)
    monkeypatch.setattr("scrapersky.actions.undo_curation.MAX_ROWS", 10)
    monkeypatch.setattr("scrapersky.actions.jobs.ROWS_PER_TRANSACTION", 10)
    await add_places(admin, tenant, 25)
    out = await admin.fetchval("SELECT id FROM place LIMIT 1")
    body = {"filter": {}, "except": [str(out)], "curation_status": "Selected"}
    is_problem(await client.post(f"{API}/places/curation", json={**body, "expected": 60}), 409)
    answer = await client.post(f"{API}/places/curation", json={**body, "expected": 21})
    assert answer.status_code == 202
    job_id = answer.json()["id"]
    async with database.session(tenant) as session:
        await jobs.advance(session, UUID(job_id), build_pipeline({}))
    is_problem(await client.post(f"{API}/undo/{job_id}"), 409)  # it still runs
    await jobs.RunJobs(build_pipeline({})).run_on(database)
    assert await selected(admin) == 21
    await curate(client, "places", "Maybe", ids=[str(await admin.fetchval(ANY_SELECTED))])
    answer = await client.post(f"{API}/undo/{job_id}")
    assert (answer.status_code, answer.json()["kind"]) == (202, "undo")
    assert answer.headers["location"] == f"{API}/jobs/{answer.json()['id']}"
    await jobs.RunJobs(build_pipeline({})).run_on(database)
    job = (await client.get(answer.headers["location"])).json()
    counts = {"found": 21, "restored": 20, "processed": 0, "delivered": 0}
    assert (job["state"], job["result"]) == ("completed", counts)
    assert await selected(admin) == 0


ANY_SELECTED = "SELECT id FROM place WHERE curation_status = 'Selected' LIMIT 1"


async def test_undo_restores_the_work_and_its_errors_and_dead_letters(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["places"]
    failed = "UPDATE place SET deep_scan_status = 'Error', deep_scan_error = 'no answer', deep_scan_attempts = 5"
    await admin.execute(failed)
    await add(
        admin, "dead_letter", tenant, queue="place.deep_scan", row_id=UUID(row_id), attempts=5, error_type="TimedOut",
        message="no answer",
    )  # fmt: skip
    letter = await admin.fetchrow("SELECT * FROM dead_letter")
    before = await admin.fetchrow(STATE)
    done = await curate(client, "places", "Selected", ids=[row_id])
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 0
    assert await undo(client, done["action_id"]) == restored(1)
    assert await admin.fetchrow(STATE) == before
    assert await admin.fetchrow("SELECT * FROM dead_letter") == letter
    is_problem(await client.post(f"{API}/undo/{done['action_id']}"), 409)
    [entry] = await admin.fetch("SELECT before, after FROM audit WHERE action = 'undo'")
    assert json.loads(entry["after"]) == restored(1)


async def test_work_in_flight_keeps_its_lease_when_its_withdrawal_is_undone(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["places"]
    claimed = "deep_scan_status = 'Processing', deep_scan_attempts = 1, deep_scan_due_at = now() + interval '1 minute'"
    await admin.execute(f"UPDATE place SET {claimed}")
    done = await curate(client, "places", "Maybe", ids=[row_id])
    await admin.execute("UPDATE place SET deep_scan_due_at = now() + interval '2 minutes'")  # a heartbeat
    lease = await admin.fetchval("SELECT deep_scan_due_at FROM place")
    assert (await undo(client, done["action_id"]))["restored"] == 1
    row = await admin.fetchrow("SELECT curation_status, deep_scan_revert_to, deep_scan_due_at FROM place")
    assert tuple(row) == ("New", None, lease)


async def test_the_decision_is_restored_and_finished_work_stays(client, admin, tenant):
    await add_places(admin, tenant, 6)
    await admin.execute(
        "UPDATE place SET deep_scan_status = 'Skipped', deep_scan_error = 'why', deep_scan_attempts = 1 "
        "WHERE provider_id = '5'"
    )
    done = await curate(client, "places", "Selected", filter={})
    for provider_id, change in {
        "1": "deep_scan_status = 'Completed', deep_scan_attempts = 1",
        "2": "deep_scan_status = 'Skipped', deep_scan_error = 'closed', deep_scan_attempts = 1",
        "3": "deep_scan_status = 'Processing', deep_scan_attempts = 1, deep_scan_due_at = now() + interval '1 minute'",
        "5": "deep_scan_error = 'no answer', deep_scan_attempts = 2, deep_scan_due_at = now() + interval '1 minute'",
    }.items():
        await admin.execute(f"UPDATE place SET {change} WHERE provider_id = $1", provider_id)
    await admin.execute("DELETE FROM place WHERE provider_id = '6'")
    assert await undo(client, done["action_id"]) == restored(5, not_restored=1, processed=3)
    columns = "curation_status, deep_scan_status, deep_scan_error, deep_scan_revert_to, deep_scan_due_at IS NULL"
    after = {
        row["provider_id"]: tuple(row)[1:] for row in await admin.fetch(f"SELECT provider_id, {columns} FROM place")
    }
    assert after == {
        "1": ("New", "Completed", None, None, True),
        "2": ("New", "Skipped", "closed", None, True),
        "3": ("New", "Processing", None, "New", False),  # is finished, but not tried again
        "4": ("New", "New", None, None, True),
        "5": ("New", "Skipped", "why", None, True),  # waited for its next try
    }


async def test_work_that_was_queued_again_after_it_was_done_is_not_taken_back(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["places"]
    done = await curate(client, "places", "Selected", ids=[row_id])
    await admin.execute("UPDATE place SET deep_scan_attempts = 1")  # its business is there: the step has completed
    assert await undo(client, done["action_id"]) == restored(1, processed=1)
    row = await admin.fetchrow("SELECT curation_status, deep_scan_status FROM place")
    assert tuple(row) == ("New", "Queued")


async def test_a_withdrawal_that_has_ended_is_not_withdrawn_again(client, admin, tenant):
    row_id = (await add_line(admin, tenant))["places"]
    claimed = "deep_scan_status = 'Processing', deep_scan_attempts = 1, deep_scan_due_at = now() + interval '1 minute'"
    await admin.execute(f"UPDATE place SET {claimed}, deep_scan_revert_to = 'New'")
    done = await curate(client, "places", "Selected", ids=[row_id])  # it goes on
    await admin.execute("UPDATE place SET deep_scan_status = 'Completed', deep_scan_due_at = NULL")
    assert await undo(client, done["action_id"]) == restored(1, processed=1)
    row = await admin.fetchrow("SELECT curation_status, deep_scan_status, deep_scan_revert_to FROM place")
    assert tuple(row) == ("New", "Completed", None)


async def test_the_deliveries_of_a_contact_are_restored_with_it(client, admin, tenant):
    ids = await add_line(admin, tenant)
    destination = await add(admin, "destination", tenant, name="crm", kind="hubspot")
    delivery = {"destination_id": UUID(destination), "contact_id": UUID(ids["contacts"]), "delivery_status": "Queued"}
    await add(admin, "delivery", tenant, **delivery)
    done = await curate(client, "contacts", "Not a Fit", ids=[ids["contacts"]])
    assert await admin.fetchval("SELECT delivery_status FROM delivery") == "New"
    assert await undo(client, done["action_id"]) == restored(1)
    assert await admin.fetchval("SELECT delivery_status FROM delivery") == "Queued"


async def test_a_delivery_that_was_made_stays_and_is_counted(client, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE contact SET contact_verification_status = 'Completed', verdict = 'deliverable'")
    rule = '{"auto": true, "verdicts": ["deliverable"], "curation": ["Selected"], "min_confidence": 0}'
    await add(admin, "destination", tenant, name="crm", kind="webhook", rule=rule)
    done = await curate(client, "contacts", "Selected", ids=[ids["contacts"]])
    made = "delivery_status = 'Completed', delivery_attempts = 1, delivered_at = now()"
    assert await admin.fetchval(f"UPDATE delivery SET {made} RETURNING 1") == 1
    assert await undo(client, done["action_id"]) == restored(1, delivered=1)
    assert await admin.fetchval("SELECT curation_status FROM contact") == "New"
    assert await admin.fetchval("SELECT delivery_status FROM delivery") == "Completed"


async def test_undo_queues_nothing_for_a_contact_that_was_suppressed_since(client, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE contact SET contact_verification_status = 'Queued'")
    done = await curate(client, "contacts", "Not a Fit", ids=[ids["contacts"]])
    await client.post(f"{API}/suppressions", json={"values": ["anna@molar.fi"]})
    assert await undo(client, done["action_id"]) == restored(1)
    row = await admin.fetchrow("SELECT curation_status, contact_verification_status FROM contact")
    assert tuple(row) == ("New", "New")


async def test_actions_of_others_and_of_yesterday_cannot_be_undone(
    client, admin, tenant, other_tenant, database, key_for
):
    row_id = (await add_line(admin, tenant))["places"]
    done = await curate(client, "places", "Selected", ids=[row_id])
    theirs = {"Authorization": f"Bearer {await key_for('admin', tenant='other')}"}
    is_problem(await client.post(f"{API}/undo/{done['action_id']}", headers=theirs), 404)
    assert (await client.get(f"{API}/undo", headers=theirs)).json() == {"items": []}
    is_problem(await client.post(f"{API}/undo/{uuid4()}"), 404)
    [listed] = (await client.get(f"{API}/undo")).json()["items"]
    assert (listed["id"], listed["row_count"], listed["actor"]) == (done["action_id"], 1, "ada")
    await admin.execute("UPDATE curation_action SET created_at = now() - interval '25 hours'")
    is_problem(await client.post(f"{API}/undo/{done['action_id']}"), 404)
    async with database.engine_connection() as connection:
        await PruneJobs().run(connection)
    assert await admin.fetchval("SELECT count(*) FROM curation_action") == 0
    assert await admin.fetchval("SELECT count(*) FROM curation_change") == 0


@pytest.mark.parametrize("seed", range(6))
async def test_undo_restores_every_row_that_nobody_touched(client, admin, tenant, seed):
    chance = random.Random(seed)
    await add_places(admin, tenant, 30)
    ids = [str(row["id"]) for row in await admin.fetch("SELECT id FROM place ORDER BY id")]
    for row_id in ids:  # rows in any state
        status = chance.choice(("New", "Queued", "Completed", "Skipped", "Error"))
        values = (chance.choice(WORDS), status, "why" if status in ("Skipped", "Error") else None)
        await admin.execute(SET, row_id, *values)
    states = await rows(admin)
    done = await curate(client, "places", chance.choice(WORDS), filter={"curation_status": chance.sample(WORDS, 3)})
    left = await rows(admin)
    changed = {row_id for row_id in ids if left[row_id] != states[row_id]}
    for row_id in chance.sample(ids, 6):
        await curate(client, "places", chance.choice(WORDS), ids=[row_id])  # somebody else decides
    for row_id in chance.sample(ids, 6):
        await admin.execute(WORK, row_id)
    now = await rows(admin)
    result = await undo(client, done["action_id"])
    decided = {row_id for row_id in changed if now[row_id][0] != left[row_id][0]}
    processed = {
        row_id
        for row_id in changed - decided
        if left[row_id][1:] != states[row_id][1:] and now[row_id][1:] != left[row_id][1:]
    }
    after = await rows(admin)
    for row_id in ids:
        is_restored = row_id in changed - decided
        was_queued_or_withdrawn = is_restored and left[row_id][1:] != states[row_id][1:]
        queue = states if was_queued_or_withdrawn and row_id not in processed else now
        assert after[row_id][0] == (states if is_restored else now)[row_id][0]
        assert after[row_id][1:] == queue[row_id][1:]
    assert result == restored(len(changed - decided), not_restored=len(decided), processed=len(processed))


SET = "UPDATE place SET curation_status = $2, deep_scan_status = $3, deep_scan_error = $4 WHERE id = $1"
WORK = "UPDATE place SET deep_scan_status = 'Completed', deep_scan_attempts = deep_scan_attempts + 1 WHERE id = $1"


async def rows(admin):
    """The curation status and the state in the queue of each place, by its id."""
    columns = "curation_status, deep_scan_status, deep_scan_error, deep_scan_attempts, deep_scan_revert_to"
    return {str(row["id"]): tuple(row)[1:] for row in await admin.fetch(f"SELECT id, {columns} FROM place")}
