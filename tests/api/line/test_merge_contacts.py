"""Two contacts made one: the other one is nobody any more, and what was decided about it is done for the kept one."""

import json
from uuid import UUID

import pytest

from tests.factories.api_application import is_problem
from tests.factories.line_rows import add, add_line

CONTACTS = "/api/v3/contacts"


@pytest.fixture
async def three(admin, tenant):
    """Three contacts of one person, on three sites."""
    return [(await add_line(admin, tenant, name))["contacts"] for name in ("molar", "zahn", "tand")]


async def merge(client, keep, other):
    answer = await client.post(f"{CONTACTS}/merge", json={"keep": keep, "merge": other})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def curate(client, word, **asked):
    return (await client.post(f"{CONTACTS}/curation", json={"curation_status": word, **asked})).json()


async def row_of(admin, contact_id):
    return await admin.fetchrow("SELECT * FROM contact WHERE id = $1", UUID(contact_id))


async def test_a_merged_contact_is_not_curated(client, admin, three):
    keep, other, third = three
    await merge(client, keep, other)
    done = await curate(client, "Selected", ids=[keep, other])
    assert (done["matched"], done["queued"], done["unknown"]) == (1, 1, 1)
    everyone = {"text": "anna"}
    assert (await curate(client, "Maybe", filter=everyone, preview=True))["matched"] == 2
    assert (await curate(client, "Maybe", filter=everyone))["updated"] == 2
    assert (await row_of(admin, other))["curation_status"] == "Archived"
    assert (await row_of(admin, third))["curation_status"] == "Maybe"


async def test_a_merged_contact_is_not_exported_or_delivered(client, admin, tenant, three):
    keep, other, third = three
    await merge(client, keep, other)
    lines = (await client.get("/api/v3/exports/contacts.jsonl")).text.splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == sorted([keep, third])
    destination = await add(admin, "destination", tenant, name="crm", kind="webhook", url="https://crm.example/")
    asked = {"destination_id": destination, "ids": [other]}
    sent = (await client.post("/api/v3/deliveries", json=asked)).json()
    assert (sent["matched"], sent["queued"]) == (0, 0)


async def test_changing_a_merged_contact_is_a_conflict_with_the_kept_one(client, three):
    keep, other, _ = three
    await merge(client, keep, other)
    problem = is_problem(await client.patch(f"{CONTACTS}/{other}", json={"title": "CEO"}), 409)
    assert (problem["id"], keep in problem["detail"]) == (keep, True)


async def test_contacts_merged_into_the_other_belong_to_the_kept_one(client, admin, three):
    first, second, third = three
    await merge(client, second, third)
    await merge(client, first, second)
    assert [str((await row_of(admin, one))["merged_into_id"]) for one in (second, third)] == [first, first]
    assert (await client.delete(f"{CONTACTS}/{first}")).status_code == 204
    assert await admin.fetchval("SELECT count(*) FROM contact") == 0
    before = await admin.fetchval("SELECT before FROM audit WHERE action = 'delete'")
    assert all(one in before for one in (second, third))


async def test_a_curation_status_taken_from_the_other_opens_its_step(client, admin, three):
    keep, other, _ = three
    await curate(client, "Selected", ids=[other])
    assert (await merge(client, keep, other))["curation_status"] == "Selected"
    kept, merged = await row_of(admin, keep), await row_of(admin, other)
    assert kept["contact_verification_status"] == "Queued"
    assert (merged["curation_status"], merged["contact_verification_status"]) == ("Archived", "New")


async def test_deliveries_of_the_other_are_withdrawn_and_those_of_the_kept_one_queued(client, admin, tenant, three):
    keep, other, _ = three
    destination = await add(
        admin,
        "destination",
        tenant,
        name="crm",
        kind="webhook",
        url="https://crm.example/",
        rule='{"auto": true, "verdicts": ["deliverable"], "curation": ["Selected"], "min_confidence": 0}',
    )
    done = "verdict = 'deliverable', verification = '{}', contact_verification_status = 'Completed'"
    await admin.execute(f"UPDATE contact SET {done}")
    await curate(client, "Selected", ids=[other])
    await merge(client, keep, other)
    rows = await admin.fetch(
        "SELECT contact_id::text, delivery_status FROM delivery WHERE destination_id = $1", UUID(destination)
    )
    assert dict(rows) == {other: "New", keep: "Queued"}
