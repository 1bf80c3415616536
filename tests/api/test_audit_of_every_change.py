"""Every change over the API is written down: who, what, from where, before and after."""

import asyncio
import json

import pytest

from scrapersky.asgi import create_app
from scrapersky.core.secrets.passwords import Passwords
from scrapersky.sandbox.sandbox import Sandbox
from tests.factories.api_application import client_with, environment, served
from tests.factories.change_requests import CASES, NOT_AUDITED, PASSWORD, ChangeContext

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
async def context(app, admin, tenant, password_hash):
    """The admin of the operator tenant is logged in: a key may not do everything."""
    async with served(app), client_with(app, None) as stranger:
        await admin.execute("UPDATE \"user\" SET password_hash = $1 WHERE name = 'ada'", password_hash)
        answer = await stranger.post("/api/v3/auth/login", json={"name": "ada", "password": PASSWORD})
        await admin.execute("TRUNCATE audit")
        async with client_with(app, answer.json()["access_token"]) as client:
            yield ChangeContext(client, stranger, admin, tenant, password_hash)


def test_every_changing_operation_has_a_case(app):
    described = app.openapi()["paths"]
    changing = {
        operation["operationId"]
        for methods in described.values()
        for method, operation in methods.items()
        if method in ("post", "put", "patch", "delete")
    }
    assert changing == {*CASES, *NOT_AUDITED}


async def test_every_change_is_recorded_in_the_audit_log(context):
    wrong = {}
    for name, case in CASES.items():
        if problem := await _do(context, case):
            wrong[name] = problem
    assert not wrong, "\n".join(f"{name}: {problem}" for name, problem in wrong.items())
    everything = str([tuple(row) for row in await context.admin.fetch("SELECT before, after FROM audit")])
    assert not [secret for secret in SECRETS if secret in everything]


async def _do(context, case):
    """What is wrong with the line that a change left; nothing if it is right."""
    change = await case(context)
    last = await context.admin.fetchval("SELECT coalesce(max(id), 0) FROM audit")
    client = change.client or context.client
    content = (
        {"content": change.table, "headers": {"content-type": "text/csv"}} if change.table else {"json": change.body}
    )
    answer = await client.request(
        change.method, change.path, **(content if change.table or change.body is not None else {})
    )
    if answer.status_code >= 300:
        return f"{answer.status_code} {answer.text}"
    rows = await context.admin.fetch("SELECT * FROM audit WHERE id > $1 AND action = $2", last, change.action)
    if len(rows) != 1:
        return f"{len(rows)} lines of {change.action}"
    [row] = rows
    user = await context.admin.fetchval(
        'SELECT id FROM "user" WHERE name = $1 AND tenant_id = $2', change.actor, context.tenant
    )
    told = [word for word in ("before", "after") if row[word] not in (None, "{}")]
    expected = {"both": ["before", "after"], "neither": []}.get(change.recorded, [change.recorded])
    checks = {
        "tenant": row["tenant_id"] == context.tenant,
        "actor": row["actor"] == change.actor,
        "actor_id": row["actor_id"] == user or change.is_new,
        "origin": row["origin"].startswith("api 127.0.0.1"),
        "request_id": row["request_id"] == answer.headers["x-request-id"],
        "subject": row["subject"].startswith(change.subject),
        f"recorded {told}": told == expected,
    }
    return [name for name, is_right in checks.items() if not is_right]


async def test_the_audit_log_keeps_changed_values_only(context):
    ids = await context.line()
    await context.client.patch(f"/api/v3/contacts/{ids['contacts']}", json={"title": "Dentist"})
    row = await context.admin.fetchrow("SELECT before, after FROM audit WHERE action = 'change'")
    assert (json.loads(row["before"]), json.loads(row["after"])) == ({"title": None}, {"title": "Dentist"})


@pytest.mark.parametrize("noun", ["places", "contacts"])
async def test_an_export_is_recorded_before_it_is_streamed(context, noun):
    answer = await context.client.get(f"/api/v3/exports/{noun}.csv?curation_status=Selected")
    row = await context.admin.fetchrow("SELECT * FROM audit")
    assert (row["action"], row["subject"], row["request_id"]) == ("export", noun, answer.headers["x-request-id"])
    assert json.loads(row["after"]) == {"filter": {"curation_status": "Selected"}, "form": "csv"}


async def test_a_refused_change_is_not_recorded(context):
    ids = await context.line()
    before = await context.admin.fetchval("SELECT count(*) FROM audit")
    refused = await context.client.post(
        "/api/v3/contacts/merge", json={"keep": ids["contacts"], "merge": ids["contacts"]}
    )
    assert refused.status_code == 422
    assert await context.admin.fetchval("SELECT count(*) FROM audit") == before


async def test_a_bulk_change_is_one_entry_with_its_count_and_filter(context):
    await context.admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name) "
        "SELECT $1, 'fake', n::text, 'n' FROM generate_series(1, 3000) n",
        context.tenant,
    )
    body = {"filter": {"curation_status": "New"}, "curation_status": "Maybe"}
    done = (await context.client.post("/api/v3/places/curation", json=body)).json()
    assert done["updated"] == 3000
    [row] = await context.admin.fetch("SELECT before, after FROM audit")
    assert json.loads(row["before"]) == {"New": 3000}
    after = {"curation_status": "Maybe", "rows": 3000, "filter": {"curation_status": "New"}}
    assert json.loads(row["after"]) == {**after, "action_id": done["action_id"]}


NOTHING = "00000000-0000-0000-0000-000000000000"
EMPTY = {
    "curate": ("places/curation", {"filter": {"curation_status": "Archived"}, "curation_status": "Maybe"}),
    "queue": ("workflows/deep_scan/queue", {"ids": [NOTHING]}),
    "suppress": ("suppressions/contacts", {"filter": {"text": "nobody"}}),
    "cancel": ("deliveries/cancel", {"filter": {}}),
    "retry": ("dead-letters/retry", {"filter": {"workflow": "deep_scan"}}),
    "drop": ("dead-letters/drop", {"filter": {}}),
}


@pytest.mark.parametrize("action", EMPTY)
async def test_a_bulk_action_that_changes_nothing_is_recorded_once(context, action):
    path, body = EMPTY[action]
    answer = await context.client.post(f"/api/v3/{path}", json=body)
    assert answer.status_code == 200, answer.text
    [row] = await context.admin.fetch("SELECT * FROM audit")
    assert (row["action"], row["request_id"]) == (action, answer.headers["x-request-id"])


async def test_a_delivery_of_no_contact_is_recorded(context):
    destination = await context.destination()
    body = {"destination_id": destination, "filter": {"text": "nobody"}}
    assert (await context.client.post("/api/v3/deliveries", json=body)).json()["queued"] == 0
    row = await context.admin.fetchrow("SELECT * FROM audit ORDER BY id DESC LIMIT 1")
    assert (row["action"], row["subject"]) == ("deliver", f"destination {destination}")
