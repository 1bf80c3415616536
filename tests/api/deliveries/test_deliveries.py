"""Deliveries over HTTP: sent by ids or by filter, once per key, as a job where they are many, taken back, retried."""

import asyncio
from uuid import UUID, uuid4

import pytest

from scrapersky.asgi import create_app
from scrapersky.sandbox.sandbox import Sandbox
from tests.factories.api_application import client_with, environment, is_problem, served

PATH = "/api/v3/deliveries"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
async def sandbox():
    async with Sandbox(7, 10) as sandbox:
        yield sandbox


@pytest.fixture
def app(database_url, sandbox):
    return create_app(environment(database_url, **sandbox.environment()), run_engine=False)


async def add_contacts(admin, tenant, count, start=0, **columns):
    names = "".join(f", {name}" for name in columns)
    values = "".join(f", ${n}" for n in range(4, 4 + len(columns)))
    rows = await admin.fetch(
        f"INSERT INTO contact (tenant_id, identity, email{names}) "
        f"SELECT $1, 'email:' || n, 'a' || n || '@molar.fi'{values} "
        "FROM generate_series($2::int, $3::int) n RETURNING id",
        tenant,
        start,
        start + count - 1,
        *columns.values(),
    )
    return [str(row["id"]) for row in rows]


async def add_hook(client, **more):
    wanted = {"name": "hook", "kind": "webhook", "url": "http://hooks.example/leads", "secret": SECRET, **more}
    answer = await client.post("/api/v3/destinations", json=wanted)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def suppress(admin, tenant, email):
    await admin.execute(
        "INSERT INTO suppression (tenant_id, kind, value, value_hash) "
        "VALUES ($1, 'email', $2, encode(sha256(convert_to($2, 'UTF8')), 'hex'))",
        tenant,
        email,
    )
    await admin.execute("UPDATE contact SET suppressed_at = suppressed_at WHERE email = $1", email)


async def test_contacts_are_sent_by_ids_and_each_is_counted(client, admin, tenant):
    hook, ids = await add_hook(client), await add_contacts(admin, tenant, 5)
    await admin.execute("UPDATE contact SET email = NULL WHERE id = $1", UUID(ids[0]))
    await suppress(admin, tenant, "a1@molar.fi")
    wish = {"destination_id": hook, "ids": [*ids, str(uuid4())]}
    first, again = [(await client.post(PATH, json=wish)).json() for _ in range(2)]
    assert first == {
        "matched": 5,
        "more": False,
        "queued": 3,
        "already": 0,
        "suppressed": 1,
        "unreachable": 1,
        "unknown": 1,
    }
    assert (again["queued"], again["already"]) == (0, 3)
    assert await admin.fetchval("SELECT count(*) FROM delivery WHERE delivery_status = 'Queued'") == 3


async def test_a_preview_counts_and_the_request_sends(client, admin, tenant):
    hook = await add_hook(client)
    await add_contacts(admin, tenant, 3, curation_status="Selected")
    await add_contacts(admin, tenant, 2, 10)
    await admin.execute("UPDATE contact SET email = NULL, phone = NULL WHERE email = 'a0@molar.fi'")
    await suppress(admin, tenant, "a1@molar.fi")
    wish = {"destination_id": hook, "filter": {"curation_status": "Selected"}}
    counted = (await client.post(PATH, json=wish | {"preview": True, "expected": 99})).json()
    assert (counted["matched"], counted["queued"], counted["suppressed"], counted["unreachable"]) == (3, 0, 1, 1)
    assert await admin.fetchval("SELECT count(*) FROM delivery") == 0
    sent = (await client.post(PATH, json=wish)).json()
    assert sent == counted | {"queued": 1}


async def test_an_idempotency_key_has_one_effect(client, admin, tenant):
    hook, ids = await add_hook(client), await add_contacts(admin, tenant, 2)
    wish = {"destination_id": hook, "ids": ids}
    answers = await asyncio.gather(
        *(client.post(PATH, json=wish, headers={"Idempotency-Key": "monday"}) for _ in range(20))
    )
    assert {answer.status_code for answer in answers} == {200}
    assert all(answer.json() == answers[0].json() for answer in answers)
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE action = 'deliver'") == 1
    other = await client.post(PATH, json=wish | {"ids": ids[:1]}, headers={"Idempotency-Key": "monday"})
    is_problem(other, 422)


async def test_more_than_ten_thousand_contacts_become_a_job(database_url, admin, tenant, sandbox):
    app = create_app(environment(database_url, **sandbox.environment(), SCHEDULER_INTERVAL_SECONDS="60"))
    async with served(app) as client:
        hook = await add_hook(client)
        await client.post("/api/v3/workflows/delivery/pause", json={"reason": "not now"})
        await add_contacts(admin, tenant, 10_001)
        started = await client.post(PATH, json={"destination_id": hook, "filter": {}})
        assert started.status_code == 202
        job = started.headers["location"]
        async with asyncio.timeout(240):
            while (state := (await client.get(job)).json())["state"] != "completed":
                await asyncio.sleep(0.1)
    assert state["kind"] == "delivery"
    assert state["result"]["queued"] == 10_001
    assert await admin.fetchval("SELECT count(*) FROM delivery") == 10_001


async def test_deliveries_are_filtered_and_show_their_error(client, admin, tenant):
    hook, ids = await add_hook(client), await add_contacts(admin, tenant, 3)
    await client.post(PATH, json={"destination_id": hook, "ids": ids})
    await admin.execute(
        "UPDATE delivery SET delivery_status = 'Skipped', delivery_error = 'suppressed' WHERE contact_id = $1",
        UUID(ids[0]),
    )
    first = (await client.get(PATH, params={"destination_id": hook, "limit": 2})).json()
    rest = (await client.get(PATH, params={"destination_id": hook, "limit": 2, "cursor": first["next_cursor"]})).json()
    assert (first["total"], len(first["items"]), len(rest["items"])) == (3, 2, 1)
    [skipped] = (await client.get(PATH, params={"delivery_status": "Skipped"})).json()["items"]
    assert (skipped["contact_id"], skipped["delivery_error"]) == (ids[0], "suppressed")
    assert len((await client.get(PATH, params={"contact_id": ids[1]})).json()["items"]) == 1
    detail = (await client.get(f"{PATH}/{skipped['id']}")).json()
    assert detail["queues"]["delivery"]["error"] == "suppressed"


async def test_queued_deliveries_are_cancelled_and_failed_ones_retried(client, admin, tenant):
    hook, ids = await add_hook(client), await add_contacts(admin, tenant, 4)
    await client.post(PATH, json={"destination_id": hook, "ids": ids})
    dead = await admin.fetchval(
        "UPDATE delivery SET delivery_status = 'Error' WHERE contact_id = $1 RETURNING id", UUID(ids[0])
    )
    one = await admin.fetchval("SELECT id FROM delivery WHERE contact_id = $1", UUID(ids[1]))
    assert (await client.post(f"{PATH}/cancel", json={"ids": [str(one)]})).json() == {"withdrawn": 1}
    wish = {"filter": {"destination_id": hook}}
    assert (await client.post(f"{PATH}/cancel", json=wish | {"preview": True})).json() == {"withdrawn": 2}
    assert (await client.post(f"{PATH}/cancel", json=wish)).json() == {"withdrawn": 2}
    retried = await client.post("/api/v3/workflows/delivery/retry", json={"ids": [str(dead)]})
    assert retried.json()["retried"] == 1
    rows = await admin.fetch("SELECT delivery_status, count(*) FROM delivery GROUP BY 1 ORDER BY 1")
    assert [tuple(row) for row in rows] == [("New", 3), ("Queued", 1)]


async def test_no_more_deliveries_are_cancelled_than_were_shown(client, admin, tenant):
    hook, ids = await add_hook(client), await add_contacts(admin, tenant, 30)
    await client.post(PATH, json={"destination_id": hook, "ids": ids[:3]})
    wish = {"filter": {"destination_id": hook}, "as_of": (await admin.fetchval("SELECT now()")).isoformat()}
    assert (await client.post(f"{PATH}/cancel", json=wish | {"preview": True})).json() == {"withdrawn": 3}
    await client.post(PATH, json={"destination_id": hook, "ids": ids[3:5]})  # created after they were shown
    late, kept = await admin.fetch("SELECT id FROM delivery WHERE delivery_status = 'Queued' ORDER BY id LIMIT 2")
    await admin.execute("UPDATE delivery SET updated_at = now() + interval '1 minute' WHERE id = $1", late["id"])
    body = wish | {"expected": 1, "except": [str(kept["id"])]}
    assert (await client.post(f"{PATH}/cancel", json=body)).json() == {"withdrawn": 1}  # two match, one was shown
    queued = {row["id"] for row in await admin.fetch("SELECT id FROM delivery WHERE delivery_status = 'Queued'")}
    assert {late["id"], kept["id"]} < queued
    assert len(queued) == 4
    await client.post(PATH, json={"destination_id": hook, "ids": ids})
    answer = await client.post(f"{PATH}/cancel", json={"filter": {"destination_id": hook}, "expected": 4})
    problem = is_problem(answer, 409)
    assert (problem["matched"], problem["expected"]) == (30, 4)
    assert await admin.fetchval("SELECT count(*) FROM delivery WHERE delivery_status = 'Queued'") == 30


async def test_destinations_and_contacts_of_another_tenant_are_not_found(client, app, admin, tenant, key_for):
    hook, ids = await add_hook(client), await add_contacts(admin, tenant, 2)
    await client.post(PATH, json={"destination_id": hook, "ids": ids})
    async with client_with(app, await key_for("admin", "other", "eve")) as other:
        is_problem(await other.post(PATH, json={"destination_id": hook, "ids": ids}), 404)
        own = await other.post(
            "/api/v3/destinations", json={"name": "x", "kind": "n8n", "url": "http://hooks.example/x"}
        )
        sent = (await other.post(PATH, json={"destination_id": own.json()["id"], "ids": ids})).json()
        assert (sent["queued"], sent["unknown"]) == (0, 2)
        everything = (await other.post(PATH, json={"destination_id": own.json()["id"], "filter": {}})).json()
        assert everything["matched"] == 0
        mine = await admin.fetchval("SELECT id FROM delivery LIMIT 1")
        is_problem(await other.get(f"{PATH}/{mine}"), 404)
        assert (await other.get(PATH)).json()["items"] == []
        assert (await other.post(f"{PATH}/cancel", json={"filter": {}})).json() == {"withdrawn": 0}
    assert await admin.fetchval("SELECT count(*) FROM delivery WHERE delivery_status = 'Queued'") == 2


async def test_selecting_delivers_by_rule_and_rejecting_withdraws(client, admin, tenant):
    await add_hook(client, rule={"auto": True})
    await add_hook(client, name="by hand")
    [good] = await add_contacts(admin, tenant, 1, verdict="deliverable", contact_verification_status="Completed")
    [risky] = await add_contacts(admin, tenant, 1, 1, verdict="risky", contact_verification_status="Completed")
    [unsure] = await add_contacts(
        admin, tenant, 1, 2, verdict="deliverable", contact_verification_status="Completed", confidence=0.2
    )
    decision = {"ids": [good, risky, unsure], "curation_status": "Selected"}
    assert (await client.post("/api/v3/contacts/curation", json=decision)).status_code == 200
    rows = await admin.fetch("SELECT contact_id, delivery_status FROM delivery")
    assert [(str(row["contact_id"]), row["delivery_status"]) for row in rows] == [(good, "Queued")]
    await client.post("/api/v3/contacts/curation", json=decision | {"curation_status": "Not a Fit"})
    assert await admin.fetchval("SELECT delivery_status FROM delivery") == "New"


async def test_a_contact_is_delivered_over_http(database_url, admin, tenant, sandbox):
    app = create_app(environment(database_url, **sandbox.environment()))
    receiver = sandbox.hooks.add("/leads", SECRET)
    receiver.behave("broken", "well")
    async with served(app) as client:
        hook, ids = await add_hook(client), await add_contacts(admin, tenant, 3)
        await client.post(PATH, json={"destination_id": hook, "ids": ids})
        async with asyncio.timeout(240):
            while len(receiver.effects) < 3:
                await asyncio.sleep(0.05)
            while await admin.fetchval("SELECT count(*) FROM delivery WHERE delivery_status = 'Completed'") < 3:
                await asyncio.sleep(0.05)
    assert len(receiver.seen) == 4  # one of them twice, with the same id
    assert len(set(receiver.seen)) == 3
