"""Dead letters grouped by their cause, with the names of their rows."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.dialects import postgresql

from scrapersky.actions import jobs
from scrapersky.api.operations import dead_letters
from scrapersky.asgi import create_app
from scrapersky.pipeline import build_pipeline
from scrapersky.store.operations import queue_rows
from scrapersky.store.operations.dead_letters import DeadLetterQuery, groups_query
from tests.api.line.test_list_plans import rows_read
from tests.api.operations.test_queue_items import read_all
from tests.factories.api_application import environment, is_problem
from tests.factories.line_rows import add_line

LETTERS = "/api/v3/dead-letters"
FAIL = """
WITH row AS (
    INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status)
    SELECT $1, 'fake', n::text, 'Place ' || n, 'Error' FROM generate_series($2::int, $3::int) n
    RETURNING id, provider_id
)
INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message)
SELECT $1, 'place.deep_scan', id, 5, 'TimedOut', format($4, provider_id) FROM row"""

QUEUE = """
INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status, deep_scan_due_at)
SELECT $1, 'fake', gen_random_uuid(), 'Place ' || n, 'Queued', now() + $3::text::interval + n * interval '1 second'
FROM generate_series(1, $2::int) n"""


@pytest.fixture
def app(database_url):
    return create_app(environment(database_url), run_engine=False)


async def test_messages_that_differ_in_sites_and_numbers_are_one_group(client, admin, tenant, other_tenant):
    await admin.execute(FAIL, tenant, 1, 7, "site%1$s.fi did not answer in %1$s s")
    await admin.execute(FAIL, tenant, 11, 13, "no route to https://x%s.example/path")
    await admin.execute(FAIL, other_tenant, 1, 50, "site%1$s.fi did not answer in %1$s s")
    groups = (await client.get(f"{LETTERS}/groups")).json()["items"]
    assert [(one["workflow"], one["error_type"], one["reason"], one["rows"]) for one in groups] == [
        ("deep_scan", "TimedOut", "a site did not answer in … s", 7),
        ("deep_scan", "TimedOut", "no route to a site", 3),
    ]
    assert groups[0]["first_at"] <= groups[0]["last_at"]
    assert (await client.get(f"{LETTERS}/groups?workflow=page_curation")).json()["items"] == []
    is_problem(await client.get(f"{LETTERS}/groups?workflow=nothing"), 404)


async def test_a_group_is_listed_and_retried_by_its_reason(client, admin, tenant, other_tenant):
    await admin.execute(FAIL, tenant, 1, 7, "site%1$s.fi did not answer in %1$s s")
    await admin.execute(FAIL, tenant, 11, 13, "no route to https://x%s.example/path")
    reason = "a site did not answer in … s"
    listed = (await client.get(LETTERS, params={"reason": reason})).json()["items"]
    assert {one["name"] for one in listed} == {f"Place {n}" for n in range(1, 8)}
    assert {(one["resource"], one["reason"]) for one in listed} == {("places", reason)}
    one = (await client.get(f"{LETTERS}/{listed[0]['id']}")).json()
    assert (one["name"], one["resource"]) == (listed[0]["name"], "places")
    body = {"filter": {"workflow": "deep_scan", "error_type": "TimedOut", "reason": reason}}
    assert (await client.post(f"{LETTERS}/retry", json={**body, "preview": True})).json()["matched"] == 7
    assert (await client.post(f"{LETTERS}/retry", json=body)).json()["done"] == 7
    assert await admin.fetchval("SELECT count(*) FROM place WHERE deep_scan_status = 'Queued'") == 7
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 3


async def test_groups_are_counted_from_an_index_without_the_rows_of_others(admin, tenant, other_tenant, database):
    await admin.execute(FAIL, tenant, 1, 1_000, "site%1$s.fi did not answer in %1$s s")
    await admin.execute(FAIL, other_tenant, 1, 20_000, "site%1$s.fi did not answer in %1$s s")
    await admin.execute("VACUUM ANALYZE dead_letter")
    query = groups_query(tenant, DeadLetterQuery()).limit(50)
    written = query.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
    async with database.session(tenant) as session:
        connection = await session.connection()
        rows = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {written}")
        plan = "\n".join(row[0] for row in rows)
    assert "Seq Scan" not in plan, plan
    assert rows_read(plan) <= 1_000, plan


async def test_queue_items_have_names_and_belong_to_searches(client, admin, tenant):
    first, second = await add_line(admin, tenant), await add_line(admin, tenant, "other")
    await admin.execute("UPDATE place SET deep_scan_status = 'Queued'")
    await admin.execute("UPDATE page SET page_processing_status = 'Queued'")
    for workflow, noun, names in [
        ("deep_scan", "places", ["Molar Dental", "Other Dental"]),
        ("page_curation", "pages", ["https://molar.fi/contact", "https://other.fi/contact"]),
    ]:
        path = f"/api/v3/workflows/{workflow}/items"
        items = (await client.get(path)).json()["items"]
        assert sorted(item["name"] for item in items) == names
        assert {item["resource"] for item in items} == {noun}
        [item] = (await client.get(f"{path}?search_id={second['searches']}")).json()["items"]
        assert item["id"] == second[noun] != first[noun]


async def test_a_row_in_flight_is_released_and_its_worker_loses_it(client, admin, tenant, other_tenant):
    mine, theirs = (await add_line(admin, tenant))["places"], (await add_line(admin, other_tenant))["places"]
    held = "deep_scan_status = 'Processing', deep_scan_attempts = 2, deep_scan_due_at = now() + interval '1 hour'"
    await admin.execute(f"UPDATE place SET {held}")
    path = "/api/v3/workflows/deep_scan/release"
    answer = (await client.post(path, json={"ids": [mine, theirs]})).json()
    assert answer == {"released": 1, "refused": [{"id": theirs, "state": "unknown"}]}
    state = "SELECT deep_scan_status, deep_scan_due_at IS NULL FROM place ORDER BY tenant_id = $1"
    states = await admin.fetch(state, tenant)
    assert [tuple(row) for row in states] == [("Processing", False), ("Queued", True)]
    problem = is_problem(await client.post(path, json={"ids": [mine]}), 409)
    assert problem["refused"] == [{"id": mine, "state": "Queued"}]


async def test_groups_say_how_many_there_are_and_when_they_failed_in_the_last_day(client, admin, tenant):
    await admin.execute(FAIL, tenant, 1, 7, "site%1$s.fi did not answer in %1$s s")
    await admin.execute(FAIL, tenant, 11, 13, "no route to https://x%s.example/path")
    await admin.execute("UPDATE dead_letter SET failed_at = now() - interval '5 hours' WHERE message LIKE 'no route%'")
    found = (await client.get(f"{LETTERS}/groups?limit=1")).json()
    assert (found["group_count"], found["row_count"], len(found["items"])) == (2, 10, 1)
    days = [one["last_day"] for one in (await client.get(f"{LETTERS}/groups")).json()["items"]]
    assert [(day[-1], day[-3], sum(day)) for day in days] == [(7, 0, 7), (0, 3, 3)]


async def test_letters_are_moved_only_as_they_were_shown(client, admin, tenant):
    await admin.execute(FAIL, tenant, 1, 40, "no answer")
    body = {"filter": {"workflow": "deep_scan"}}
    shown = (await client.post(f"{LETTERS}/drop", json={**body, "preview": True})).json()
    assert (shown["matched"], shown["done"]) == (40, 0)
    await admin.execute(FAIL, tenant, 41, 60, "no answer")  # after what was shown
    kept = (await client.get(LETTERS)).json()["items"][-1]["id"]
    bounds = {"expected": 39, "as_of": shown["as_of"], "except": [kept]}
    moved = (await client.post(f"{LETTERS}/drop", json={**body, **bounds})).json()
    assert (moved["matched"], moved["done"]) == (39, 39)
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 21
    refused = is_problem(await client.post(f"{LETTERS}/drop", json={**body, "expected": 5}), 409)
    assert (refused["matched"], refused["expected"]) == (21, 5)
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 21


@pytest.mark.parametrize("action", ["retry", "drop"])
async def test_more_than_ten_thousand_letters_are_moved_by_a_job(client, admin, tenant, database, monkeypatch, action):
    monkeypatch.setattr(dead_letters, "MAX_ROWS", 2_000)
    await admin.execute(FAIL, tenant, 1, 2_500, "no answer")
    await admin.execute(FAIL, tenant, 3_001, 3_010, "no route")
    answer = await client.post(f"{LETTERS}/{action}", json={"filter": {"reason": "no answer"}})
    job = answer.json()
    assert (answer.status_code, job["kind"], job["parameters"]["matched"]) == (202, action, 2_500)
    assert answer.headers["location"] == f"/api/v3/jobs/{job['id']}"
    await admin.execute(FAIL, tenant, 4_001, 4_005, "no answer")  # later than the request
    await jobs.RunJobs(build_pipeline({})).run_on(database)
    done = (await client.get(f"/api/v3/jobs/{job['id']}")).json()
    assert (done["state"], done["progress"], done["result"]) == ("completed", 1.0, {"found": 2_500, "done": 2_500})
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 15
    status = {"retry": "Queued", "drop": "Skipped"}[action]
    assert await admin.fetchval("SELECT count(*) FROM place WHERE deep_scan_status = $1", status) == 2_500


async def test_a_job_that_moves_letters_is_cancelled_between_two_chunks(client, admin, tenant, database, monkeypatch):
    monkeypatch.setattr(dead_letters, "MAX_ROWS", 1_000)
    await admin.execute(FAIL, tenant, 1, 2_500, "no answer")
    job = (await client.post(f"{LETTERS}/retry", json={"filter": {}})).json()["id"]
    async with database.session(tenant) as session:
        assert not await jobs.advance(session, UUID(job), build_pipeline({}))
    cancelled = (await client.post(f"/api/v3/jobs/{job}/cancel")).json()
    assert (cancelled["state"], cancelled["result"]["done"]) == ("cancelled", 1_000)
    await jobs.RunJobs(build_pipeline({})).run_on(database)
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 1_500


async def test_the_operator_tenant_lists_exactly_the_rows_that_its_numbers_count(
    client, admin, tenant, other_tenant, database
):
    await admin.execute(FAIL, tenant, 1, 2, "no answer")
    await admin.execute(FAIL, other_tenant, 1, 3, "no answer")
    for owner, rows in ((tenant, 4), (other_tenant, 5)):
        await admin.execute(QUEUE, owner, rows, None)
        await admin.execute(QUEUE, owner, rows + 2, "1 hour")
    await admin.execute("UPDATE place SET deep_scan_status = 'Processing' WHERE deep_scan_due_at IS NOT NULL")
    await admin.execute(QUEUE, other_tenant, 1, "2 hours")
    depth = (await client.get("/api/v3/workflows/deep_scan")).json()["depth"]
    assert depth == {"ready": 9, "waiting": 1, "processing": 13, "dead": 5}
    for section, field in (("ready", "ready"), ("waiting", "waiting"), ("processing", "processing"), ("error", "dead")):
        path = "/api/v3/workflows/deep_scan/items"
        items, _ = await read_all(client, path, section=section, all_tenants="true")
        assert len({item["id"] for item in items}) == len(items) == depth[field], section
        assert {item["tenant"] for item in items} <= {"default", "other"}
        assert all((item["name"] is not None) == (item["tenant"] == "default") for item in items)
    assert (await client.get("/api/v3/workflows/deep_scan/items?section=error")).json()["items"][1:]
    assert not (await client.get("/api/v3/workflows/deep_scan/items?section=ready&status=Error")).json()["items"]


async def test_rows_of_all_tenants_are_read_from_indexes(admin, tenant, other_tenant, database):
    await admin.execute(FAIL, tenant, 1, 3_000, "no answer")
    await admin.execute(QUEUE, other_tenant, 3_000, None)
    await admin.execute(QUEUE, tenant, 3_000, "1 hour")
    await admin.execute("VACUUM ANALYZE place, dead_letter, tenant")
    middle = UUID(await admin.fetchval("SELECT row_id::text FROM dead_letter ORDER BY row_id OFFSET 1500 LIMIT 1"))
    workflow = build_pipeline({})["deep_scan"]
    keys: dict[str, Any] = {"processing": datetime.now(UTC), "waiting": datetime.now(UTC), "ready": 0}
    for section in queue_rows.OPEN_SECTIONS:
        for after in (None, queue_rows.QueuePosition(section, keys.get(section), middle)):
            query = queue_rows.section_query(workflow, None, section, after).limit(50)
            written = query.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
            async with database.engine_session() as session:
                connection = await session.connection()
                rows = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {written}")
                plan = "\n".join(row[0] for row in rows)
            assert "Seq Scan on place" not in plan, plan
            assert "Seq Scan on dead_letter" not in plan, plan
            # Rows in flight share the index of waiting rows, which the engine reads in the same way.
            assert section == "processing" or rows_read(plan) <= 1_000, plan
