"""The history of a row, rows found by their beginning, providers, and runs over time."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.dialects import postgresql

from scrapersky.asgi import create_app
from scrapersky.store.listing import find
from scrapersky.store.operations import runs
from tests.api.line.test_curation import add_places, curate
from tests.api.line.test_list_plans import rows_read
from tests.factories.api_application import environment, is_problem
from tests.factories.line_rows import NOUNS, add_line

API = "/api/v3"


@pytest.fixture
def app(database_url):
    return create_app(environment(database_url), run_engine=False)


async def history(client, noun, row_id, **headers):
    answer = await client.get(f"{API}/{noun}/{row_id}/history", headers=headers)
    assert answer.status_code == 200, answer.text
    return [(one["actor"], one["action"], one["before"], one["after"]) for one in answer.json()["items"]]


async def test_a_viewer_sees_who_changed_a_row_and_what_differs(client, admin, tenant, key_for):
    ids = await add_line(admin, tenant)
    other = (await add_line(admin, tenant, "other"))["contacts"]
    await curate(client, "contacts", "Selected", ids=[ids["contacts"], other])
    await client.patch(f"{API}/contacts/{ids['contacts']}", json={"title": "Dentist"})
    viewer = {"Authorization": f"Bearer {await key_for('viewer')}"}
    [edit, decision] = await history(client, "contacts", ids["contacts"], **viewer)
    assert edit == ("ada", "change", {"title": None}, {"title": "Dentist"})
    assert decision == ("ada", "curate", {"curation_status": "New"}, {"curation_status": "Selected"})
    assert len(await history(client, "contacts", other, **viewer)) == 1


async def test_a_decision_about_many_rows_is_in_the_history_of_each(client, admin, tenant):
    await add_places(admin, tenant, 150)
    await curate(client, "places", "Maybe", filter={})
    row_id = await admin.fetchval("SELECT id FROM place LIMIT 1")
    assert await history(client, "places", row_id) == [
        ("ada", "curate", {"curation_status": "New"}, {"curation_status": "Maybe"})
    ]


async def test_rows_of_other_tenants_have_no_history(client, admin, other_tenant):
    ids = await add_line(admin, other_tenant)
    for noun in ("searches", *NOUNS):
        is_problem(await client.get(f"{API}/{noun}/{ids[noun]}/history"), 404)


async def found(client, text):
    items = (await client.get(f"{API}/find", params={"text": text})).json()["items"]
    return {group["resource"]: [row["name"] for row in group["items"]] for group in items}


async def test_rows_of_every_resource_are_found_by_their_beginning(client, admin, tenant, other_tenant):
    ids = await add_line(admin, tenant)
    await add_line(admin, other_tenant)
    dental = {"places": ["Molar Dental"], "businesses": ["Molar Dental"], "domains": ["molar.fi"]}
    assert await found(client, "MOLAR") == dental
    assert await found(client, "anna@m") == {"contacts": ["Anna Molar"]}
    assert await found(client, "anna m") == {"contacts": ["Anna Molar"]}
    assert await found(client, "dent") == {"searches": ["dentists in Helsinki"]}
    urls = await found(client, "https://molar.fi/")
    assert urls == {"sitemaps": ["https://molar.fi/sitemap.xml"], "pages": ["https://molar.fi/contact"]}
    assert await found(client, "nothing like it") == {}
    [group] = (await client.get(f"{API}/find?text=dent")).json()["items"]
    assert group["items"][0]["link"] == f"{API}/searches/{ids['searches']}"
    is_problem(await client.get(f"{API}/find"), 422)
    details = "UPDATE local_business SET city = 'Helsinki', website = 'https://molar.fi'"
    await admin.execute(details)
    shown = {
        group["resource"]: group["items"][0]["detail"]
        for text in ("molar", "anna")
        for group in (await client.get(f"{API}/find", params={"text": text})).json()["items"]
    }
    assert shown["businesses"] == "Helsinki · https://molar.fi"
    assert "anna@molar.fi" in shown["contacts"]
    await add_places(admin, tenant, 9)
    assert len((await found(client, "n"))["places"]) == find.SHOWN


async def test_finding_reads_indexes(admin, tenant, database):
    await admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name) "
        "SELECT $1, 'fake', n::text, md5(n::text) FROM generate_series(1, 30000) n",
        tenant,
    )
    await admin.execute("VACUUM ANALYZE place")
    statement = find.statement(tenant, "ab").compile(
        dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True}
    )
    async with database.session(tenant) as session:
        connection = await session.connection()
        rows = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {statement}")
        plan = "\n".join(row[0] for row in rows)
    assert "place_by_name" in plan, plan
    assert "Seq Scan on place" not in plan, plan
    assert rows_read(plan) < 200, plan


async def test_providers_say_whether_they_can_be_used(client):
    providers = {one["name"]: one for one in (await client.get(f"{API}/providers")).json()["items"]}
    osm = providers["openstreetmap"]
    assert (osm["is_configured"], osm["setting"]) == (True, None)
    unusable = [one for one in providers.values() if not one["is_configured"]]
    assert all(one["setting"] for one in unusable)


RUN = """
INSERT INTO run (workflow, host, pid, started_at, seconds, claimed, completed, skipped, postponed, retried, failed,
    returned, lost, histogram)
SELECT $1, 'h', 1, $2::timestamptz + n * interval '1 second', 1, 10, 6, 1, 1, 1, 1, 0, 0, array_fill(1, ARRAY[27])
FROM generate_series(0, $3::int - 1) n"""


async def test_runs_are_summed_per_workflow_and_interval(client, admin):
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    await admin.execute(RUN, "deep_scan", now - timedelta(minutes=5), 3)
    await admin.execute(RUN, "deep_scan", now - timedelta(minutes=3), 2)
    await admin.execute(RUN, "page_curation", now - timedelta(minutes=3), 1)
    await admin.execute(RUN, "deep_scan", now - timedelta(days=3), 1)
    series = (await client.get(f"{API}/runs/series?bucket=1m")).json()
    shown = [(one["workflow"], one["completed"], one["failed"]) for one in series["items"]]
    assert shown == [("deep_scan", 18, 3), ("deep_scan", 12, 2), ("page_curation", 6, 1)]
    assert series["items"][0]["p50_seconds"] < series["items"][0]["p95_seconds"]
    week = (now - timedelta(days=7)).isoformat().replace("+00:00", "Z")
    series = (await client.get(f"{API}/runs/series?bucket=1d&since={week}&workflow=deep_scan")).json()
    assert sum(one["completed"] for one in series["items"]) == 36
    is_problem(await client.get(f"{API}/runs/series?bucket=2m"), 422)
    is_problem(await client.get(f"{API}/runs/series?workflow=nothing"), 404)


async def test_the_same_series_is_read_once_in_ten_seconds(client, admin, app):
    now = datetime.now(UTC)
    path = f"{API}/runs/series?bucket=1d&since={(now - timedelta(days=2)).isoformat().replace('+00:00', 'Z')}"
    first = (await client.get(path)).json()
    await admin.execute(RUN, "deep_scan", now - timedelta(hours=1), 3)
    assert (await client.get(path)).json() == first
    app.state.application.series.clear()
    assert (await client.get(path)).json() != first


async def test_a_series_of_an_hour_reads_only_that_hour(admin, database):
    now = datetime.now(UTC)
    await admin.execute(RUN, "deep_scan", now - timedelta(hours=10), 30_000)
    await admin.execute("VACUUM ANALYZE run")
    query = runs.series_query(now - timedelta(hours=2), timedelta(minutes=1), None)
    written = query.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
    async with database.engine_session() as session:
        connection = await session.connection()
        rows = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {written}")
        plan = "\n".join(row[0] for row in rows)
    assert "Seq Scan" not in plan, plan
    assert rows_read(plan) < 2_000, plan
