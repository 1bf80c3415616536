"""What operators see of the installation: settings without secrets, hosts that rest, cooldowns, spending."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.dialects import postgresql

from scrapersky.asgi import create_app
from scrapersky.store.operations.hosts_at_rest import hosts_query
from tests.api.line.test_list_plans import rows_read
from tests.api.operations.test_queue_items import read_all
from tests.factories.api_application import environment

SYSTEM = "/api/v3/system"
SECRET = "AIzaSyA-0123456789012345678901234567890"


@pytest.fixture
def app(database_url):
    given = {"PROVIDER_GOOGLE_API_KEY": SECRET, "PROVIDER_OVERPASS_URL": "https://ada:hunter22@overpass.example/api"}
    return create_app(environment(database_url, **given), run_engine=False)


async def test_settings_say_where_they_come_from_and_hold_no_secret(client):
    answer = await client.get(f"{SYSTEM}/settings")
    found = {one["name"]: one for one in answer.json()["items"]}
    assert (found["PROVIDER_GOOGLE_API_KEY"]["value"], found["PROVIDER_GOOGLE_API_KEY"]["source"]) == (
        "********",
        "environment",
    )
    assert found["CRAWL_HOST_DELAY_SECONDS"]["source"] == "default"
    assert found["retention runs"]["source"] == "database"
    assert found["DEEP_SCAN_SCHEDULER_BATCH_SIZE"]["group"].endswith("deep_scan")
    for secret in (SECRET, "hunter22"):
        assert secret not in json.dumps(answer.json())


async def test_hosts_that_rest_are_listed_the_longest_first(client, admin):
    now = datetime.now(UTC)
    for n in range(7):
        await admin.execute(
            "INSERT INTO host_limit (host, next_allowed_at) VALUES ($1, $2)",
            f"site{n}.fi",
            now + timedelta(hours=n // 2 - 1),
        )
    found, pages = await read_all(client, f"{SYSTEM}/hosts", 2)
    assert [one["host"] for one in found] == ["site6.fi", "site4.fi", "site5.fi"]
    assert pages == 2


async def test_resting_hosts_are_read_from_an_index(admin, database):
    await admin.execute(
        "INSERT INTO host_limit (host, next_allowed_at) "
        "SELECT 'site' || n || '.fi', now() + (n - 15000) * interval '1 minute' FROM generate_series(1, 20000) n"
    )
    await admin.execute("ANALYZE host_limit")
    query = hosts_query((datetime.now(UTC) + timedelta(days=1), "a.fi")).limit(50)
    written = query.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
    async with database.engine_session() as session:
        connection = await session.connection()
        rows = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {written}")
        plan = "\n".join(row[0] for row in rows)
    assert "Seq Scan" not in plan, plan
    assert rows_read(plan) <= 5_000, plan


async def test_cooldowns_that_have_not_ended_are_listed(client, admin):
    for name, hours in (("google:search", 1), ("google:details", -1)):
        await admin.execute(
            "INSERT INTO provider_cooldown (name, until, reason) VALUES ($1, now() + $2 * interval '1 hour', 'quota')",
            name,
            hours,
        )
    [one] = (await client.get(f"{SYSTEM}/cooldowns")).json()["items"]
    assert (one["name"], one["reason"]) == ("google:search", "quota")


async def test_spending_is_summed_per_month_and_provider(client, admin, tenant, other_tenant):
    for owner, months, micros in (
        (tenant, 0, 120_000),
        (other_tenant, 0, 80_000),
        (tenant, 2, 50_000),
        (tenant, 30, 9),
    ):
        await admin.execute(
            "INSERT INTO spending (tenant_id, provider, method, month, calls, cents, micros) VALUES ($1, "
            "'google_places', 'search', date_trunc('month', now() - $2 * interval '1 month'), 3, 0, $3)",
            owner,
            months,
            micros,
        )
    found = (await client.get(f"{SYSTEM}/spending")).json()["items"]
    assert [(one["calls"], one["cents"]) for one in found] == [(3, 5.0), (6, 20.0)]
