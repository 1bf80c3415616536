"""The rows of a queue over HTTP: read from indexes, kept from other tenants, queued and tried again."""

import base64
import json
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any
from uuid import uuid4

from sqlalchemy import text
from sqlalchemy.dialects import postgresql

from scrapersky.sandbox.example_workflows import example_pipeline
from scrapersky.store.operations import queue_rows
from tests.factories.api_application import LINE, add_dead, add_parcels, is_problem

ITEMS = f"{LINE}/packing/items"
SOON = datetime.now(UTC) + timedelta(hours=1)


async def read_all(client, url, limit=3, **filters):
    """Every page of a list, and how many there were."""
    found, pages, cursor = [], 0, None
    while pages == 0 or cursor:
        place: dict[str, Any] = {"cursor": cursor} if cursor else {}
        page = (await client.get(url, params={"limit": limit, **filters, **place})).json()
        found += page["items"]
        cursor, pages = page["next_cursor"], pages + 1
    return found, pages


async def add_some_in_every_state(admin, tenant):
    return {
        "Processing": await add_parcels(admin, tenant, 4, "Processing", packing_due_at=SOON, packing_attempts=1),
        "Queued": [
            *await add_parcels(admin, tenant, 5, "Queued"),
            *await add_parcels(admin, tenant, 4, "Queued", packing_due_at=SOON),
        ],
        "Error": await add_parcels(admin, tenant, 4, "Error", packing_error="tape", packing_attempts=3),
        "Skipped": await add_parcels(admin, tenant, 3, "Skipped", packing_error="empty"),
        "Completed": await add_parcels(admin, tenant, 4, "Completed"),
        "New": await add_parcels(admin, tenant, 4),
    }


async def test_every_row_is_listed_once_with_any_page_size(client, admin, tenant):
    ids = await add_some_in_every_state(admin, tenant)
    for limit in (1, 3, 200):
        found, _ = await read_all(client, ITEMS, limit)
        assert sorted(item["id"] for item in found) == sorted(chain(*ids.values()))
        assert list(dict.fromkeys(item["status"] for item in found)) == list(ids)
    for status, wanted in ids.items():
        found, pages = await read_all(client, ITEMS, status=status)
        assert sorted(item["id"] for item in found) == sorted(wanted)
        assert {item["status"] for item in found} == {status}
        assert pages == -(-len(wanted) // 3)


async def test_an_item_has_the_columns_of_its_queue(client, admin, tenant):
    await add_parcels(
        admin, tenant, 1, "Error", packing_error="tape", packing_attempts=5, packing_allowance=2, priority=7
    )
    [item] = (await client.get(ITEMS)).json()["items"]
    assert (item["error"], item["attempts"], item["tries"], item["priority"]) == ("tape", 5, 3, 7)
    assert item["due_at"] is None
    assert item["updated_at"]


async def test_ready_rows_are_listed_in_the_order_of_claiming(client, admin, tenant):
    [late] = await add_parcels(admin, tenant, 1, "Queued")
    [urgent] = await add_parcels(admin, tenant, 1, "Queued", priority=9)
    assert [item["id"] for item in (await client.get(ITEMS)).json()["items"]] == [urgent, late]


async def test_rows_of_another_tenant_are_not_found(client, admin, tenant, other_tenant):
    theirs = await add_some_in_every_state(admin, other_tenant)
    ids = list(chain(*theirs.values()))
    assert (await client.get(ITEMS)).json() == {"items": [], "next_cursor": None}
    answer = (await client.post(f"{LINE}/packing/queue", json={"ids": ids, "priority": 9})).json()
    assert answer == {"queued": 0, "already": 0, "unknown": len(ids)}
    problem = is_problem(await client.post(f"{LINE}/packing/retry", json={"ids": ids}), 409)
    assert {one["state"] for one in problem["refused"]} == {"unknown"}
    assert await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Error'") == 4
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE before <> '{}'") == 0


async def test_queueing_is_counted_and_audited(client, admin, tenant):
    new, queued = await add_parcels(admin, tenant, 3), await add_parcels(admin, tenant, 2, "Queued")
    done = await add_parcels(admin, tenant, 1, "Completed")
    working = await add_parcels(admin, tenant, 1, "Processing", packing_due_at=SOON)
    ids = [*new, *queued, *done, *working, str(uuid4()), new[0]]
    answer = await client.post(f"{LINE}/packing/queue", json={"ids": ids, "priority": 4})
    assert answer.json() == {"queued": 4, "already": 3, "unknown": 1}
    rows = await admin.fetch("SELECT id, priority FROM parcel WHERE packing_status = 'Queued'")
    assert {str(row["id"]): row["priority"] for row in rows} == dict.fromkeys([*new, *queued, *done], 4)
    audit = await admin.fetchrow("SELECT * FROM audit")
    assert (audit["action"], audit["subject"], audit["tenant_id"]) == ("queue", "packing", tenant)
    assert sorted(json.loads(audit["before"])["New"]) == new
    assert json.loads(audit["after"]) == {"status": "Queued", "priority": 4}
    again = await client.post(f"{LINE}/packing/queue", json={"ids": new})
    assert again.json() == {"queued": 0, "already": 3, "unknown": 0}


async def test_only_failed_rows_are_retried_and_others_are_returned_with_their_state(client, admin, tenant):
    await add_dead(admin, tenant, 2)
    dead = [str(row["row_id"]) for row in await admin.fetch("SELECT row_id FROM dead_letter")]
    skipped = await add_parcels(admin, tenant, 1, "Skipped", packing_error="empty")
    [done] = await add_parcels(admin, tenant, 1, "Completed")
    answer = (await client.post(f"{LINE}/packing/retry", json={"ids": [*dead, *skipped, done]})).json()
    assert answer == {"retried": 3, "refused": [{"id": done, "state": "Completed"}]}
    rows = await admin.fetch(
        "SELECT packing_status, packing_error, packing_attempts - packing_allowance AS tries FROM parcel "
        "WHERE id = ANY ($1::uuid[])",
        [*dead, *skipped],
    )
    assert {tuple(row) for row in rows} == {("Queued", None, 0)}
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 0


async def test_retrying_rows_that_did_not_fail_is_a_conflict_with_their_state(client, admin, tenant):
    [new], [queued] = await add_parcels(admin, tenant, 1), await add_parcels(admin, tenant, 1, "Queued")
    problem = is_problem(await client.post(f"{LINE}/packing/retry", json={"ids": [new, queued]}), 409)
    assert problem["title"] == "None of these rows can be retried."
    assert problem["detail"] == "Only rows with the status Error or Skipped can be retried; these are New, Queued."
    assert {one["id"]: one["state"] for one in problem["refused"]} == {new: "New", queued: "Queued"}
    assert await admin.fetchval("SELECT count(*) FROM audit") == 0


async def test_a_forged_or_foreign_cursor_is_a_bad_request(client, admin, tenant):
    await add_parcels(admin, tenant, 3)

    def forged(*parts):
        return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")

    own = (await client.get(ITEMS, params={"limit": 1})).json()["next_cursor"]
    assert (await client.get(ITEMS, params={"cursor": own})).status_code == 200
    here, row = "items/packing/", str(uuid4())
    for cursor in [
        "x", "!", "ÄÖ", own[:-3], "[" * 400, forged(), forged(here), forged("runs", "new", None, row),
        forged(here, "cellar", None, row), forged(here, "new", 1, row), forged(here, "ready", 2**63, row),
        forged(here, "ready", True, row), forged(here, "ready", None, row), forged(here, "waiting", "yesterday", row),
        forged(here, "waiting", "2026-01-01T00:00:00", row), forged(here, "waiting", "0001-01-01T00:00:00+14:00", row),
        forged(here, "new", None, "1"), forged(here, "new", None, None), forged(here, ["new"], None, row),
    ]:  # fmt: skip
        problem = is_problem(await client.get(ITEMS, params={"cursor": cursor}), 400)
        assert problem["title"] == "The cursor is not one of this list."
    is_problem(await client.get(f"{LINE}/weighing/items", params={"cursor": own}), 400)
    is_problem(await client.get(ITEMS, params={"cursor": own, "status": "New"}), 400)


async def test_every_part_of_the_list_is_read_from_an_index(database, admin, tenant):
    for status, due in [("Queued", None), ("Queued", SOON), ("Processing", SOON), ("Error", None), ("New", None)]:
        await add_parcels(admin, tenant, 2000, status, packing_due_at=due)
    await add_parcels(admin, tenant, 2000, "Completed")
    await add_parcels(admin, tenant, 2000, "Skipped")
    await admin.execute("ANALYZE parcel")
    workflow = example_pipeline()["packing"]
    keys: dict[str, Any] = {"processing": SOON, "waiting": SOON, "ready": 0}
    for shelf in queue_rows.SECTIONS:
        for after in (None, queue_rows.QueuePosition(shelf, keys.get(shelf), uuid4())):
            async with database.session(tenant) as session:
                query = queue_rows.section_query(workflow, tenant, shelf, after).limit(50)
                compiled = query.compile(dialect=postgresql.asyncpg.dialect(), compile_kwargs={"literal_binds": True})
                plan = (await session.execute(text(f"EXPLAIN {compiled}".replace(":", "\\:")))).scalars().all()
            assert "Seq Scan" not in "\n".join(plan), f"{shelf} {after}: {plan}"
            assert "parcel_packing_" in "\n".join(plan), f"{shelf} {after}: {plan}"


async def test_items_of_several_statuses_are_listed_in_pages(client, admin, tenant):
    await add_parcels(admin, tenant, 2, "Queued")
    await add_parcels(admin, tenant, 2, "Error")
    await add_parcels(admin, tenant, 2, "Skipped")
    url, wanted = f"{LINE}/packing/items", {"status": ["Queued", "Error"]}
    first = (await client.get(url, params={**wanted, "limit": 3})).json()
    rest = (await client.get(url, params={**wanted, "cursor": first["next_cursor"]})).json()
    assert [item["status"] for item in first["items"] + rest["items"]] == ["Queued"] * 2 + ["Error"] * 2
    is_problem(await client.get(url, params={"status": "Queued", "cursor": first["next_cursor"]}), 400)
