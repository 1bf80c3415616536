"""Dead letters grouped by their cause, with the names of their rows."""

import pytest
from sqlalchemy.dialects import postgresql

from scrapersky.asgi import create_app
from scrapersky.store.operations.dead_letters import DeadLetterQuery, groups_query
from tests.api.line.test_list_plans import rows_read
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
