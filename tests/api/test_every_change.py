"""Every change over the API is written down: who, what, from where, before and after."""

import asyncio
import json

import pytest

from scrapersky.asgi import create_app
from scrapersky.core.passwords import Passwords
from scrapersky.sandbox.sandbox import Sandbox
from tests.api.change_cases import CASES, PASSWORD, UNCHANGING, World
from tests.api.conftest import asking, environment, served

SECRETS = (PASSWORD, "another horse", "pat-eu1", "argon2", "ssk_")


@pytest.fixture(scope="module")
def password_hash():
    passwords = Passwords()
    yield asyncio.run(passwords.hash(PASSWORD))
    passwords.close()


@pytest.fixture
async def app(database_url):
    async with Sandbox(7, 10) as sandbox:
        yield create_app(environment(database_url, **sandbox.environment()), run_engine=False)


@pytest.fixture
async def world(app, admin, tenant, password_hash):
    """The admin of the house is logged in: a key may not do everything."""
    async with served(app), asking(app, None) as stranger:
        await admin.execute("UPDATE \"user\" SET password_hash = $1 WHERE name = 'ada'", password_hash)
        answer = await stranger.post("/api/v3/auth/login", json={"name": "ada", "password": PASSWORD})
        await admin.execute("TRUNCATE audit")
        async with asking(app, answer.json()["access_token"]) as client:
            yield World(client, stranger, admin, tenant, password_hash)


def test_every_operation_that_may_change_something_has_its_case(app):
    described = app.openapi()["paths"]
    changing = {
        operation["operationId"]
        for methods in described.values()
        for method, operation in methods.items()
        if method in ("post", "put", "patch", "delete")
    }
    assert changing == {*CASES, *UNCHANGING}


async def test_every_change_leaves_its_line_in_the_audit(world):
    wrong = {}
    for name, case in CASES.items():
        if problem := await _do(world, case):
            wrong[name] = problem
    assert not wrong, "\n".join(f"{name}: {problem}" for name, problem in wrong.items())
    everything = str([tuple(row) for row in await world.admin.fetch("SELECT before, after FROM audit")])
    assert not [secret for secret in SECRETS if secret in everything]


async def _do(world, case):
    """What is wrong with the line that a change left; nothing if it is right."""
    ask = await case(world)
    last = await world.admin.fetchval("SELECT coalesce(max(id), 0) FROM audit")
    client = ask.client or world.client
    content = {"content": ask.table, "headers": {"content-type": "text/csv"}} if ask.table else {"json": ask.body}
    answer = await client.request(ask.method, ask.path, **(content if ask.table or ask.body is not None else {}))
    if answer.status_code >= 300:
        return f"{answer.status_code} {answer.text}"
    rows = await world.admin.fetch("SELECT * FROM audit WHERE id > $1 AND action = $2", last, ask.action)
    if len(rows) != 1:
        return f"{len(rows)} lines of {ask.action}"
    [row] = rows
    user = await world.admin.fetchval(
        'SELECT id FROM "user" WHERE name = $1 AND tenant_id = $2', ask.actor, world.tenant
    )
    told = [word for word in ("before", "after") if row[word] not in (None, "{}")]
    expected = {"both": ["before", "after"], "neither": []}.get(ask.tells, [ask.tells])
    checks = {
        "tenant": row["tenant_id"] == world.tenant,
        "actor": row["actor"] == ask.actor,
        "actor_id": row["actor_id"] == user or ask.is_new,
        "origin": row["origin"].startswith("api 127.0.0.1"),
        "request_id": row["request_id"] == answer.headers["x-request-id"],
        "subject": row["subject"].startswith(ask.subject),
        f"tells {told}": told == expected,
    }
    return [name for name, is_right in checks.items() if not is_right]


async def test_what_changed_is_kept_and_nothing_else(world):
    ids = await world.line()
    await world.client.patch(f"/api/v3/contacts/{ids['contacts']}", json={"title": "Dentist"})
    row = await world.admin.fetchrow("SELECT before, after FROM audit WHERE action = 'change'")
    assert (json.loads(row["before"]), json.loads(row["after"])) == ({"title": None}, {"title": "Dentist"})


@pytest.mark.parametrize("noun", ["places", "contacts"])
async def test_who_takes_rows_out_is_written_down_before_they_go(world, noun):
    answer = await world.client.get(f"/api/v3/exports/{noun}.csv?curation_status=Selected")
    row = await world.admin.fetchrow("SELECT * FROM audit")
    assert (row["action"], row["subject"], row["request_id"]) == ("export", noun, answer.headers["x-request-id"])
    assert json.loads(row["after"]) == {"filter": {"curation_status": "Selected"}, "form": "csv"}


async def test_a_change_that_is_refused_leaves_nothing(world):
    ids = await world.line()
    before = await world.admin.fetchval("SELECT count(*) FROM audit")
    refused = await world.client.post(
        "/api/v3/contacts/merge", json={"keep": ids["contacts"], "merge": ids["contacts"]}
    )
    assert refused.status_code == 422
    assert await world.admin.fetchval("SELECT count(*) FROM audit") == before


async def test_much_is_one_line_with_its_count_and_filter(world):
    await world.admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name) "
        "SELECT $1, 'fake', n::text, 'n' FROM generate_series(1, 3000) n",
        world.tenant,
    )
    body = {"filter": {"curation_status": "New"}, "curation_status": "Maybe"}
    assert (await world.client.post("/api/v3/places/curation", json=body)).json()["updated"] == 3000
    [row] = await world.admin.fetch("SELECT before, after FROM audit")
    assert json.loads(row["before"]) == {"New": 3000}
    assert json.loads(row["after"]) == {"curation_status": "Maybe", "rows": 3000, "filter": {"curation_status": "New"}}
