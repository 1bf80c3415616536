"""Quotas and tenants over HTTP: every user reads those of their tenant, operators set them."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from scrapersky.asgi import create_app
from tests.factories.api_application import client_with, environment, is_problem

TENANTS = "/api/v3/tenants"


@pytest.fixture
async def other(app, client, other_tenant, key_for):
    async with client_with(app, await key_for("curator", tenant="other")) as other:
        yield other


@pytest.fixture
def app(database_url):
    return create_app(environment(database_url), run_engine=False)


async def ask(client, text, **more):
    return await client.post("/api/v3/searches", json={"text": text, "area": "Helsinki", **more})


async def quotas(client):
    return {line["quota"]: line for line in (await client.get("/api/v3/quotas")).json()["items"]}


async def test_without_quotas_nothing_is_limited(client):
    assert {(line["limit"], line["free_at"]) for line in (await quotas(client)).values()} == {(None, None)}


async def test_over_the_quota_is_429_with_retry_after(client, other, other_tenant):
    answer = await client.patch(f"{TENANTS}/{other_tenant}", json={"searches_per_day": 1})
    assert (answer.status_code, answer.json()["searches_per_day"]) == (200, 1)
    assert (await ask(other, "dentists")).status_code == 201
    refused = await ask(other, "bakers")
    problem = is_problem(refused, 429)
    assert problem["type"].endswith("quota-reached")
    assert (problem["quota"], problem["limit"], problem["used"]) == ("searches_per_day", 1, 1)
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    assert datetime.fromisoformat(problem["free_at"]) == tomorrow
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    mine = (await quotas(other))["searches_per_day"]
    assert (mine["used"], mine["limit"], datetime.fromisoformat(mine["free_at"])) == (1, 1, tomorrow)
    assert (await ask(other, "dentists")).status_code == 200  # what is there costs nothing
    assert (await ask(client, "bakers")).status_code == 201  # the quota is the other tenant's
    await client.patch(f"{TENANTS}/{other_tenant}", json={"searches_per_day": None})
    assert (await ask(other, "bakers")).status_code == 201


async def test_imports_and_scans_do_not_count_as_searches(client, other, other_tenant):
    await client.patch(f"{TENANTS}/{other_tenant}", json={"searches_per_day": 0})
    assert (await other.post("/api/v3/sitemap/scan", json={"base_url": "https://molar.fi"})).status_code == 202
    assert (await quotas(other))["searches_per_day"]["used"] == 0
    assert "Ask an admin of the operator tenant" in is_problem(await ask(other, "dentists"), 429)["detail"]


async def test_only_admins_of_the_operator_tenant_manage_tenants(app, client, other_tenant, key_for):
    for role, tenant in [("admin", "other"), ("operator", "default"), ("viewer", "default")]:
        async with client_with(app, await key_for(role, tenant=tenant)) as person:
            is_problem(await person.get(TENANTS), 403)
            is_problem(await person.get(f"{TENANTS}/{other_tenant}"), 403)
            is_problem(await person.post(TENANTS, json={"name": "mine"}), 403)
            is_problem(await person.patch(f"{TENANTS}/{other_tenant}", json={"pages_per_day": 9}), 403)


async def test_tenants_are_created_listed_and_changed(client):
    for number in range(5):
        made = await client.post(TENANTS, json={"name": f"tenant {number}", "cents_per_month": 100})
        assert made.status_code == 201
        assert made.headers["location"] == f"{TENANTS}/{made.json()['id']}"
    is_problem(await client.post(TENANTS, json={"name": "tenant 1"}), 409)
    names: list[str] = []
    cursor = None
    while cursor is not None or not names:
        page = (await client.get(TENANTS, params={"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
        names += [tenant["name"] for tenant in page["items"]]
        cursor = page["next_cursor"]
    assert names == ["default", *(f"tenant {number}" for number in range(5))]
    found = (await client.get(made.headers["location"])).json()
    assert (found["cents_per_month"], found["is_operator"]) == (100, False)
    assert {line["quota"]: line["limit"] for line in found["quotas"]}["cents_per_month"] == 100


async def test_disabling_a_tenant_is_effective_at_the_next_request(client, other, other_tenant):
    assert (await other.get("/api/v3/quotas")).status_code == 200
    out = await client.patch(f"{TENANTS}/{other_tenant}", json={"disabled": True})
    assert out.json()["disabled_at"] is not None
    is_problem(await other.get("/api/v3/quotas"), 401)
    await client.patch(f"{TENANTS}/{other_tenant}", json={"disabled": False})
    assert (await other.get("/api/v3/quotas")).status_code == 200


async def test_the_operator_tenant_cannot_be_disabled(client, tenant):
    is_problem(await client.patch(f"{TENANTS}/{tenant}", json={"disabled": True}), 409)


@pytest.mark.parametrize(
    "body",
    [{"pages_per_day": -1}, {"pages_per_day": "9"}, {"pages_per_day": 2**31}, {"is_operator": True}, {"id": "x"}],
    ids=str,
)
async def test_invalid_quotas_are_refused(client, other_tenant, body):
    is_problem(await client.patch(f"{TENANTS}/{other_tenant}", json=body), 422)


async def test_an_unknown_tenant_is_404(client, tenant):
    unknown = f"{TENANTS}/00000000-0000-4000-8000-000000000000"
    is_problem(await client.get(unknown), 404)
    is_problem(await client.patch(unknown, json={"pages_per_day": 1}), 404)


async def test_raising_the_quota_releases_waiting_pages(client, admin, other, other_tenant):
    await client.patch(f"{TENANTS}/{other_tenant}", json={"pages_per_day": 10})
    domain = await admin.fetchval("INSERT INTO domain (tenant_id, name) VALUES ($1, 'a.fi') RETURNING id", other_tenant)
    await admin.execute(
        "INSERT INTO page (tenant_id, domain_id, url, page_processing_status) "
        "SELECT $1, $2, 'https://a.fi/' || n, 'Queued' FROM generate_series(1, 25) n",
        other_tenant,
        domain,
    )
    pages = (await quotas(other))["pages_per_day"]
    assert (pages["used"], pages["ahead"]) == (10, 15)
    await client.patch(f"{TENANTS}/{other_tenant}", json={"pages_per_day": 30})
    pages = (await quotas(other))["pages_per_day"]
    assert (pages["used"], pages["ahead"], pages["free_at"]) == (25, 0, None)
    assert await admin.fetchval("SELECT count(*) FROM page WHERE page_processing_due_at IS NULL") == 25


async def test_simultaneous_requests_stay_within_the_quota(client, other, other_tenant):

    await client.patch(f"{TENANTS}/{other_tenant}", json={"searches_per_day": 3})
    answers = await asyncio.gather(*(ask(other, f"trade {number}") for number in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [429] * 5
