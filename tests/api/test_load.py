"""Many requests at once, some of them broken off: no connection of the database stays behind, nobody starves."""

import asyncio

import pytest

from scrapersky.api.http.rate_limit import DELAY_SECONDS, RefusedKeys
from tests.factories.api_application import app_over, client_with, served
from tests.factories.line_rows import add_line

LIST = "/api/v3/contacts"
CONNECTIONS = 5  # one for LISTEN, three for requests
SESSIONS = 3


@pytest.fixture
def app(database_url):
    return app_over(database_url, SCRAPERSKY_DATABASE_POOL_SIZE=str(CONNECTIONS))


async def taken(app):
    """Connections of the pool that are in use."""
    return app.state.application.database.engine.pool.checkedout()


async def of_server(admin):
    statement = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'scrapersky %' AND datname = $1"
    return await admin.fetchval(statement, await admin.fetchval("SELECT current_database()"))


async def test_hundreds_of_simultaneous_requests_share_a_small_pool(app, client, admin, tenant):
    await add_line(admin, tenant)
    assert (await client.get(LIST)).status_code == 200  # loads what the first request needs
    answers = await asyncio.gather(*(client.get(LIST) for _ in range(300)))
    assert {answer.status_code for answer in answers} == {200}
    assert await taken(app) == 0
    assert await of_server(admin) <= CONNECTIONS


async def test_cancelled_requests_release_their_connections(app, client, admin, tenant):
    """A lock keeps them all in the middle of their statement; then their callers leave."""
    row = (await add_line(admin, tenant))["contacts"]
    change = f"{LIST}/{row}"
    async with admin.transaction():
        await admin.execute("SELECT 1 FROM contact WHERE id = $1 FOR UPDATE", row)
        asked = [asyncio.create_task(client.patch(change, json={"title": str(n)})) for n in range(20)]
        async with asyncio.timeout(90):
            while await taken(app) < SESSIONS:
                await asyncio.sleep(0.01)
        for each in asked:
            each.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
    async with asyncio.timeout(90):
        while await taken(app) != 0:
            await asyncio.sleep(0.01)
    assert (await client.patch(change, json={"title": "Countess"})).status_code == 200
    assert await of_server(admin) <= CONNECTIONS


async def test_a_cancelled_export_releases_its_connection(app, client, admin, tenant):
    await admin.execute(
        "INSERT INTO contact (tenant_id, identity, name) SELECT $1, 'name:' || n, repeat('x', 400) "
        "FROM generate_series(1, 5000) n",
        tenant,
    )
    for _ in range(2 * SESSIONS):
        asked = asyncio.create_task(client.get("/api/v3/exports/contacts.csv"))
        async with asyncio.timeout(90):
            while not await taken(app):
                await asyncio.sleep(0)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
    async with asyncio.timeout(90):
        while await taken(app) != 0:
            await asyncio.sleep(0.01)


async def test_lists_are_served_during_a_flood_of_logins(database_url):
    app = app_over(database_url, SCRAPERSKY_LOGIN_RATE_LIMIT_PER_IP="3")
    async with served(app) as client, client_with(app, None, host="127.0.0.66") as guesser:
        body = {"name": "ada", "tenant": "default", "password": "not the right one"}
        login = [
            asyncio.create_task(guesser.post("/api/v3/auth/login", json={**body, "name": f"n{n}"})) for n in range(100)
        ]
        assert {(await client.get(LIST)).status_code for _ in range(10)} == {200}
        statuses = [answer.status_code for answer in await asyncio.gather(*login)]
        assert statuses.count(401) == 3
        assert statuses.count(429) == 97


async def test_refused_keys_are_remembered_and_delayed(monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr("scrapersky.api.http.rate_limit.asyncio.sleep", sleep)
    refused = RefusedKeys()
    assert refused.seconds_left("a") == 0
    refused.refuse("a", 60)
    assert 59 < refused.seconds_left("a") <= 60
    await refused.delay(refused.seconds_left("a"))
    assert slept == [DELAY_SECONDS]
    refused.refuse("b", 0.0)
    assert refused.seconds_left("b") == 0
