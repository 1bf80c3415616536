"""Two tenants of one database: no response to one has a row of the other, not even a number."""

import json
from uuid import UUID, uuid4

import pytest

from scrapersky.actions import jobs
from scrapersky.asgi import create_app
from scrapersky.pipeline import build_pipeline
from scrapersky.store.operations import idempotency
from scrapersky.store.operations.idempotency import KeyReused, StoredResponse
from tests.factories.api_application import client_with, environment, is_problem
from tests.factories.every_table import fill
from tests.factories.line_rows import NOUNS, TABLES, add, add_line

API = "/api/v3"
MINE, THEIRS = "mineown", "foreignone"


@pytest.fixture
def app(database_url):
    return create_app(environment(database_url), run_engine=False)


@pytest.fixture
async def other(app, client, other_tenant, key_for):
    """An admin of a tenant that is not the operator."""
    async with client_with(app, await key_for("admin", tenant="other")) as other:
        yield other


async def all_ids(admin, tenant) -> set[str]:
    """The id of every row of the tenant, in whatever table."""
    tables = await admin.fetch(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'tenant_id' AND table_schema = 'public'"
    )
    found: set[str] = set()
    for (table,) in tables:
        rows = await admin.fetch(f"SELECT to_jsonb(t)->>'id' FROM \"{table}\" t WHERE tenant_id = $1", tenant)
        found |= {row[0] for row in rows if row[0] and len(row[0]) == 36}
    return found


def reading_routes(app) -> list[str]:
    """Every path that can be read without naming a row."""
    paths = app.openapi()["paths"]
    endings = [path.replace("{ending}", ending) for path in paths for ending in ("csv", "jsonl")]
    named = [path.replace("{name}", "deep_scan") for path in endings]
    return sorted({path for path in named if "{" not in path and "get" in paths.get(path, {"get": 1})})


async def test_lists_files_and_counts_show_nothing_of_another_tenant(app, admin, other, tenant, other_tenant):
    await fill(admin, tenant)
    await add_line(admin, tenant, THEIRS)
    await add_line(admin, other_tenant, MINE)
    foreign, read = await all_ids(admin, tenant), 0
    assert len(foreign) > 20
    for path in reading_routes(app):
        answer = await other.get(path)
        if answer.status_code == 200 and not path.startswith("/health"):
            read += 1
            assert THEIRS not in answer.text, path
            assert not [row_id for row_id in foreign if row_id in answer.text], path
    assert read > 25


@pytest.mark.parametrize("noun", ["searches", *NOUNS, "jobs"])
async def test_an_id_of_another_tenant_gets_the_response_of_an_unknown_id(admin, other, tenant, noun):
    ids = await add_line(admin, tenant, THEIRS)
    ids["jobs"] = await add(admin, "job", tenant, kind="curation", parameters="{}")
    unknown = str(uuid4())
    answers = []
    for row_id in (ids[noun], unknown):
        problem = is_problem(await other.get(f"{API}/{noun}/{row_id}"), 404)
        answers.append(json.dumps({**problem, "request_id": ""}).replace(row_id, "ID"))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("noun", NOUNS)
async def test_counts_are_of_the_own_tenant(admin, other, tenant, other_tenant, noun):
    for number in range(3):
        await add_line(admin, tenant, f"{THEIRS}{number}")
    await add_line(admin, other_tenant, MINE)
    assert (await other.get(f"{API}/{noun}")).json()["total"] == 1
    preview = {"filter": {}, "curation_status": "Maybe", "preview": True}
    assert (await other.post(f"{API}/{noun}/curation", json=preview)).json()["matched"] == 1
    changed = (await other.post(f"{API}/{noun}/curation", json={**preview, "preview": False})).json()
    assert (changed["matched"], changed["updated"]) == (1, 1)
    curated = await admin.fetch(f"SELECT DISTINCT tenant_id FROM {TABLES[noun]} WHERE curation_status = 'Maybe'")
    assert [row[0] for row in curated] == [other_tenant]


@pytest.mark.parametrize("noun", NOUNS)
async def test_a_cursor_of_another_tenant_shows_own_rows_only(admin, client, other, tenant, other_tenant, noun):
    for number in range(3):
        await add_line(admin, tenant, f"{THEIRS}{number}")
        await add_line(admin, other_tenant, f"{MINE}{number}")
    foreign = (await client.get(f"{API}/{noun}?limit=1")).json()["next_cursor"]
    answer = await other.get(f"{API}/{noun}", params={"cursor": foreign})
    assert answer.status_code == 200
    own = await all_ids(admin, other_tenant)
    assert {row["id"] for row in answer.json()["items"]} <= own
    assert answer.json()["total"] is None


async def test_results_of_a_search_of_another_tenant_are_not_found(admin, client, other, tenant):
    search = (await add_line(admin, tenant, THEIRS))["searches"]
    for number in range(3):
        await add(admin, "local_business", tenant, search_id=UUID(search), name=f"{THEIRS} {number}")
    page = (await client.get(f"{API}/searches/{search}/results?limit=1")).json()
    assert page["next_cursor"]
    for query in ({}, {"cursor": page["next_cursor"]}):
        is_problem(await other.get(f"{API}/searches/{search}/results", params=query), 404)


async def test_the_depth_of_a_queue_counts_own_rows_only(admin, client, other, tenant, other_tenant):
    for owner, count in ((tenant, 7), (other_tenant, 2)):
        await admin.execute(
            "INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status) "
            "SELECT $1, 'fake', n::text, 'n', 'Queued' FROM generate_series(1, $2::int) n",
            owner,
            count,
        )
    await admin.execute(
        "INSERT INTO workflow_control (workflow, paused_at, paused_by, pause_reason, breaker, breaker_reason) "
        "VALUES ('deep_scan', now(), 'the operator', 'lunch', 'open', '12 of 20 rows failed')"
    )
    mine, all_of_it = [(await one.get(f"{API}/workflows/deep_scan")).json() for one in (other, client)]
    assert (mine["depth"]["ready"], all_of_it["depth"]["ready"]) == (2, 9)
    assert (mine["paused"], mine["pause_reason"], mine["breaker"]) == (True, "lunch", "open")
    assert mine["breaker_reason"] == "12 of 20 rows failed", "who waits is told why"
    hidden = ("paused_by", "rate_per_minute", "running")
    assert {name: mine[name] for name in hidden} == dict.fromkeys(hidden)
    assert all_of_it["paused_by"] == "the operator"
    listed = {one["name"]: one for one in (await other.get(f"{API}/workflows")).json()["items"]}
    assert listed["deep_scan"] == {**mine, "oldest_seconds": listed["deep_scan"]["oldest_seconds"]}


async def test_operator_routes_are_for_the_operator_tenant(other):
    for path in ("runs", "dev-tools/scheduler_status", "tenants"):
        is_problem(await other.get(f"{API}/{path}"), 403)
    for action in ("run", "pause", "resume"):
        is_problem(await other.post(f"{API}/workflows/deep_scan/{action}"), 403)
    is_problem(await other.get("/metrics"), 403)


async def test_rows_of_another_tenant_cannot_be_queued_or_retried(admin, other, tenant):
    place = (await add_line(admin, tenant, THEIRS))["places"]
    await admin.execute("UPDATE place SET deep_scan_status = 'Error', deep_scan_error = 'x'")
    letter = await admin.fetchval(
        "INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message) "
        "VALUES ($1, 'place.deep_scan', $2, 3, 'x', 'x') RETURNING id",
        tenant,
        UUID(place),
    )
    queued = await other.post(f"{API}/workflows/deep_scan/queue", json={"ids": [place]})
    assert queued.json() == {"queued": 0, "already": 0, "unknown": 1}
    refused = is_problem(await other.post(f"{API}/workflows/deep_scan/retry", json={"ids": [place]}), 409)
    assert refused["refused"] == [{"id": place, "state": "unknown"}]
    for action in ("retry", "drop"):
        is_problem(await other.post(f"{API}/dead-letters/{letter}/{action}"), 404)
        bulk = await other.post(f"{API}/dead-letters/{action}", json={"filter": {}})
        assert (bulk.json()["matched"], bulk.json()["done"]) == (0, 0)
    assert await admin.fetchval("SELECT deep_scan_status FROM place") == "Error"


async def test_idempotency_keys_are_independent_between_tenants(database, tenant, other_tenant):
    async with database.session(tenant) as session:
        await idempotency.recall(session, tenant, "k", "a")
        await idempotency.remember(session, tenant, "k", StoredResponse(200, {"theirs": True}))
    async with database.session(other_tenant) as session:
        assert await idempotency.recall(session, other_tenant, "k", "b") is None
    with pytest.raises(KeyReused):
        async with database.session(tenant) as session:
            await idempotency.recall(session, tenant, "k", "b")


async def test_a_job_changes_rows_of_its_tenant_only(admin, database, tenant, other_tenant):
    for owner in (tenant, other_tenant):
        await admin.execute(
            "INSERT INTO place (tenant_id, provider, provider_id, name) "
            "SELECT $1, 'fake', n::text, 'n' FROM generate_series(1, 5) n",
            owner,
        )
    asked = {
        "resource": "places",
        "filter": {},
        "curation_status": "Selected",
        "matched": 5,
        "actor": {"name": "bob", "role": "operator", "origin": "api"},
        "cursor": None,
    }
    await add(admin, "job", other_tenant, kind="curation", parameters=json.dumps(asked))
    await jobs.RunJobs(build_pipeline({})).run_on(database)
    selected = await admin.fetch("SELECT tenant_id, count(*) FROM place WHERE curation_status = 'Selected' GROUP BY 1")
    assert [tuple(row) for row in selected] == [(other_tenant, 5)]
