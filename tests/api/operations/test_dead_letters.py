"""Dead letters over HTTP: listed, shown, retried and dropped; one, some, or all that match."""

import asyncio
import json
from uuid import uuid4

from scrapersky.store.operations import dead_letters
from tests.api.operations.test_queue_items import read_all
from tests.factories.api_application import add_dead, is_problem

LETTERS = "/api/v3/dead-letters"


async def test_dead_letters_are_listed_latest_first_and_filtered(client, admin, tenant):
    torn = await add_dead(admin, tenant, 4, "RuntimeError: the tape tore")
    late = await add_dead(admin, tenant, 3, "TimedOut: 100% too_slow")
    found, pages = await read_all(client, LETTERS)
    assert {letter["id"] for letter in found} == {*torn, *late}
    assert [letter["id"] in late for letter in found] == [True] * 3 + [False] * 4
    assert pages == 3
    for query, wanted in [
        ("error_type=TimedOut", late),
        ("text=RuntimeError: the", torn),
        ("text=TimedOut: 100%25 too_", late),
        ("text=TimedOut: 100%25_too", []),  # no wildcards
        ("workflow=packing", [*torn, *late]),
        ("workflow=packing&error_type=TimedOut&text=RuntimeError", []),
        ("workflow=weighing", []),
    ]:
        found = (await client.get(f"{LETTERS}?{query}")).json()["items"]
        assert {letter["id"] for letter in found} == set(wanted), query


async def test_a_dead_letter_is_returned_with_its_reason(client, admin, tenant):
    [letter_id] = await add_dead(admin, tenant, 1)
    letter = (await client.get(f"{LETTERS}/{letter_id}")).json()
    assert letter["workflow"] == "packing"
    assert letter["queue"] == "parcel.packing"
    assert (letter["error_type"], letter["message"]) == ("RuntimeError", "RuntimeError: the tape tore")
    assert letter["attempts"] == 3
    assert letter["row_id"] == str(await admin.fetchval("SELECT id FROM parcel"))


async def test_unknown_ids_workflows_and_filters_are_refused_with_a_message(client):
    problem = is_problem(await client.get(f"{LETTERS}/{uuid4()}"), 404)
    assert problem["title"] == "There is no dead letter of this id."
    for action in ("retry", "drop"):
        is_problem(await client.post(f"{LETTERS}/{uuid4()}/{action}"), 404)
        is_problem(await client.post(f"{LETTERS}/nonsense/{action}"), 422)
        is_problem(await client.post(f"{LETTERS}/{action}", json={"filter": {"workflow": "nonsense"}}), 404)
        for wrong in [{}, {"ids": []}, {"filter": {}, "ids": [str(uuid4())]}, {"filter": {"tenant_id": "x"}}, 5, "x"]:
            is_problem(await client.post(f"{LETTERS}/{action}", json=wrong), 422)
        problem = is_problem(await client.post(f"{LETTERS}/{action}", json={"ids": [str(uuid4())]}), 409)
        assert problem["refused"][0]["state"] == "unknown"
    is_problem(await client.get(f"{LETTERS}?workflow=nonsense"), 404)
    is_problem(await client.get(f"{LETTERS}?cursor=nonsense"), 400)
    is_problem(await client.get(f"{LETTERS}/nonsense"), 422)


async def test_a_retried_dead_letter_is_queued_again_and_removed(client, admin, tenant):
    [letter_id] = await add_dead(admin, tenant, 1)
    answer = (await client.post(f"{LETTERS}/{letter_id}/retry")).json()
    assert answer == {"matched": 1, "done": 1, "refused": [], "as_of": None}
    row = await admin.fetchrow("SELECT packing_status, packing_error, packing_attempts - packing_allowance FROM parcel")
    assert tuple(row) == ("Queued", None, 0)
    is_problem(await client.get(f"{LETTERS}/{letter_id}"), 404)
    is_problem(await client.post(f"{LETTERS}/{letter_id}/retry"), 404)


async def test_a_dropped_dead_letter_is_skipped_with_actor_and_reason(client, admin, tenant):
    [letter_id] = await add_dead(admin, tenant, 1, "RuntimeError: " + "x" * 1010)
    await client.post(f"{LETTERS}/{letter_id}/drop")
    row = await admin.fetchrow("SELECT packing_status, packing_error FROM parcel")
    assert row["packing_status"] == "Skipped"
    assert row["packing_error"].startswith("dropped by ada: RuntimeError: xxx")
    assert len(row["packing_error"]) == 1024
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 0
    audit = await admin.fetchrow("SELECT action, subject, before, after FROM audit")
    assert (audit["action"], audit["subject"]) == ("drop", "packing")
    assert json.loads(audit["before"]) == {"Error": [str(await admin.fetchval("SELECT id FROM parcel"))]}
    assert json.loads(audit["after"]) == {"status": "Skipped"}


async def test_selected_dead_letters_are_moved_and_refused_ones_named(client, admin, tenant):
    ids, unknown = await add_dead(admin, tenant, 3), str(uuid4())
    answer = (await client.post(f"{LETTERS}/drop", json={"ids": [*ids[:2], unknown]})).json()
    assert answer == {"matched": 3, "done": 2, "refused": [{"id": unknown, "state": "unknown"}], "as_of": None}
    assert [str(row["id"]) for row in await admin.fetch("SELECT id FROM dead_letter")] == ids[2:]


async def test_matching_dead_letters_are_counted_and_then_moved_in_chunks(client, admin, tenant, monkeypatch):
    monkeypatch.setattr(dead_letters, "CHUNK_ROWS", 2)
    await add_dead(admin, tenant, 5, "RuntimeError: the tape tore")
    await add_dead(admin, tenant, 3, "TimedOut: too slow")
    asked = {"filter": {"workflow": "packing", "text": "RuntimeError"}}
    preview = (await client.post(f"{LETTERS}/retry", json={**asked, "preview": True})).json()
    assert (preview["matched"], preview["done"]) == (5, 0)
    assert preview["as_of"]
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 8
    assert (await client.post(f"{LETTERS}/retry", json=asked)).json() == {
        "matched": 5,
        "done": 5,
        "refused": [],
        "as_of": None,
    }
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 3
    assert await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Queued'") == 5
    assert await admin.fetchval("SELECT count(*) FROM audit") == 3  # one for each bite, in its transaction
    assert (await client.post(f"{LETTERS}/drop", json={"filter": {}})).json()["done"] == 3
    assert (await client.post(f"{LETTERS}/drop", json={"filter": {}})).json() == {
        "matched": 0,
        "done": 0,
        "refused": [],
        "as_of": None,
    }


async def test_a_dead_letter_of_an_unknown_queue_is_refused(client, admin, tenant):
    letter_id = await admin.fetchval(
        "INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message) "
        "VALUES ($1, 'place.deep_scan', gen_random_uuid(), 3, 'E', 'm') RETURNING id",
        tenant,
    )
    assert (await client.get(f"{LETTERS}/{letter_id}")).json()["workflow"] is None
    problem = is_problem(await client.post(f"{LETTERS}/{letter_id}/drop"), 409)
    assert problem["refused"] == [
        {"id": str(letter_id), "state": "no workflow of this pipeline has the queue place.deep_scan"}
    ]
    assert (await client.post(f"{LETTERS}/drop", json={"filter": {}})).json()["done"] == 0


async def test_dead_letters_of_another_tenant_are_not_found(client, admin, tenant, other_tenant):
    theirs = await add_dead(admin, other_tenant, 3)
    assert (await client.get(LETTERS)).json()["items"] == []
    problem = is_problem(await client.get(f"{LETTERS}/{theirs[0]}"), 404)
    unknown = is_problem(await client.get(f"{LETTERS}/{uuid4()}"), 404)
    assert problem.keys() == unknown.keys()
    assert problem["title"] == unknown["title"]
    for action in ("retry", "drop"):
        is_problem(await client.post(f"{LETTERS}/{theirs[0]}/{action}"), 404)
        is_problem(await client.post(f"{LETTERS}/{action}", json={"ids": theirs}), 409)
        assert (await client.post(f"{LETTERS}/{action}", json={"filter": {}})).json()["matched"] == 0
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 3
    assert await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Error'") == 3


async def test_two_simultaneous_retries_retry_a_dead_letter_once(client, admin, tenant):
    ids = await add_dead(admin, tenant, 20)
    answers = await asyncio.gather(*(client.post(f"{LETTERS}/retry", json={"ids": ids[::way]}) for way in (1, -1, 1)))
    assert sum(answer.json().get("done", 0) for answer in answers) == 20
    assert {answer.status_code for answer in answers} <= {200, 409}
