"""Destinations over HTTP: made, tested, rotated, removed; secrets never come out, private addresses never get in."""

import json
from typing import Any
from uuid import uuid4

import pytest

from scrapersky.asgi import create_app
from scrapersky.destinations.http_sender import UNREACHABLE
from scrapersky.sandbox.sandbox import Sandbox
from tests.factories.api_application import client_with, environment, is_problem, served

PATH = "/api/v3/destinations"
TOKEN = "pat-eu1-do-not-show"


@pytest.fixture
async def sandbox():
    async with Sandbox(7, 10) as sandbox:
        yield sandbox


@pytest.fixture
def app(database_url, sandbox):
    return create_app(environment(database_url, **sandbox.environment()), run_engine=False)


async def make(client, **wanted):
    answer = await client.post(
        PATH, json={"name": "hook", "kind": "webhook", "url": "http://hooks.example/leads"} | wanted
    )
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_the_generated_secret_of_a_web_hook_is_returned_once(client, admin):
    made = await make(client)
    assert made["signing_secret"].startswith("whsec_")
    assert made["secret"] == "set"
    shown = (await client.get(f"{PATH}/{made['id']}")).text + (await client.get(PATH)).text
    assert made["signing_secret"] not in shown
    kept = await admin.fetchval("SELECT secret FROM destination")
    assert made["signing_secret"] not in kept
    assert "whsec_" not in str(await admin.fetch("SELECT before, after FROM audit"))


async def test_a_secret_is_never_returned(client, admin):
    made = await make(client, name="crm", kind="hubspot", url=None, secret=TOKEN)
    assert made["signing_secret"] is None
    changed = await client.patch(f"{PATH}/{made['id']}", json={"name": "crm 2"})
    rotated = await client.post(f"{PATH}/{made['id']}/rotate", json={"secret": f"{TOKEN}-2"})
    assert (changed.status_code, rotated.status_code) == (200, 200)
    listed = await client.get(PATH)
    everything = json.dumps(made) + changed.text + rotated.text + listed.text
    everything += str([tuple(row) for row in await admin.fetch("SELECT * FROM audit")])
    everything += str([tuple(row) for row in await admin.fetch("SELECT * FROM destination")])
    assert TOKEN not in everything


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://10.0.0.1/hook",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://user:password@hooks.example/",
        "http://hooks.example:22/",
        "http://hooks.example\\@127.0.0.1/",
    ],
)
async def test_every_url_that_is_not_public_gets_the_same_message(client, url):
    wanted = {"name": "hook", "kind": "webhook", "url": url}
    said = [is_problem(await client.post(PATH, json=wanted), 422)]
    made = await make(client)
    said.append(is_problem(await client.patch(f"{PATH}/{made['id']}", json={"url": url}), 422))
    assert {problem["title"] for problem in said} == {"The URL of the destination is not allowed."}
    assert len({problem["detail"] for problem in said}) == 1


async def test_a_name_of_an_internal_address_is_refused_like_an_unknown_name(database_url):
    app = create_app(environment(database_url, CRAWL_HOST_OVERRIDES="inside.example=10.0.0.1"), run_engine=False)
    said = []
    async with served(app) as client:
        for host in ("inside.example", "localhost", "nobody.invalid"):
            answer = await client.post(PATH, json={"name": "x", "kind": "n8n", "url": f"http://{host}/"})
            said.append(is_problem(answer, 422)["detail"])
    assert len(set(said)) == 1


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"kind": "webhook", "url": None}, "needs the `url`"),
        ({"kind": "hubspot", "url": None}, "needs a `secret`"),
        ({"kind": "brevo", "url": None}, "needs a `secret`"),
        ({"secret": "whsec_short"}, "24 to 64 bytes"),
        ({"kind": "hubspot", "secret": "line\nbreak"}, "characters that no key has"),
        ({"options": {"list_ids": [1]}}, "options.list_ids"),
        ({"kind": "brevo", "secret": "k", "options": {"list_ids": ["x"]}}, "options.list_ids.0"),
        ({"kind": "n8n", "options": {"header": "Host"}}, "options.header"),
        ({"kind": "hubspot", "secret": "k", "options": {"fields": {"email": "x"}}}, "options.fields"),
    ],
)
async def test_missing_fields_of_a_destination_are_named(client, wanted, words):
    base = {"name": "hook", "kind": "webhook", "url": "http://hooks.example/leads"}
    problem = is_problem(await client.post(PATH, json=base | wanted), 422)
    assert words in problem["detail"]


@pytest.mark.parametrize(
    "rule", [{"auto": "yes"}, {"verdicts": ["good"]}, {"min_confidence": 2}, {"curation": ["Chosen"]}, {"x": 1}]
)
async def test_an_empty_rule_is_refused(client, rule):
    base = {"name": "hook", "kind": "webhook", "url": "http://hooks.example/leads"}
    is_problem(await client.post(PATH, json=base | {"rule": rule}), 422)


async def test_a_name_is_unique(client):
    await make(client)
    is_problem(
        await client.post(PATH, json={"name": "hook", "kind": "webhook", "url": "http://hooks.example/other"}), 409
    )


async def test_a_test_reports_the_result_without_the_text_of_the_receiver(client, sandbox):
    made = await make(client)
    receiver = sandbox.hooks.add("/leads", made["signing_secret"])
    test = f"{PATH}/{made['id']}/test"
    assert (await client.post(test)).json() == {"ok": True, "said": "The destination responded with status 204."}
    receiver.behave("broken")
    answer = await client.post(test)
    assert answer.json() == {"ok": False, "said": "The destination responded with status 500."}
    assert "secret of the receiver" not in answer.text
    receiver.behave("hang_up")
    assert (await client.post(test)).json() == {"ok": False, "said": UNREACHABLE}
    crm = await make(client, name="crm", kind="hubspot", url=sandbox.hubspot_url, secret="wrong")
    said = (await client.post(f"{PATH}/{crm['id']}/test")).json()
    assert said["ok"] is False
    assert "Set the access token" in said["said"]


async def test_a_secret_is_rotated_with_an_overlap(client, sandbox):
    made = await make(client)
    rotated = (await client.post(f"{PATH}/{made['id']}/rotate", json={})).json()
    assert rotated["signing_secret"] not in (None, made["signing_secret"])
    assert rotated["previous_secret"] == "set"
    test = f"{PATH}/{made['id']}/test"
    for secret in (made["signing_secret"], rotated["signing_secret"]):
        sandbox.hooks.add("/leads", secret)
        assert (await client.post(test)).json()["ok"] is True
    assert (await client.post(f"{PATH}/{made['id']}/retire")).json()["previous_secret"] is None
    sandbox.hooks.add("/leads", made["signing_secret"])
    assert (await client.post(test)).json()["ok"] is False
    is_problem(await client.post(f"{PATH}/{made['id']}/retire"), 409)


async def test_enabling_queues_the_deliveries_that_were_skipped(client, admin, tenant):
    made = await make(client)
    await client.patch(f"{PATH}/{made['id']}", json={"enabled": False})
    disabled = (await client.get(f"{PATH}/{made['id']}")).json()
    assert disabled["disabled_reason"] == "a person disabled it"
    skipped = {"any text about a disabled destination": "now()", "suppressed": "now() - interval '1 minute'"}
    for n, (why, when) in enumerate(skipped.items()):
        await admin.execute(
            "WITH c AS (INSERT INTO contact (tenant_id, identity) VALUES ($1, $2) RETURNING id) "
            "INSERT INTO delivery (tenant_id, destination_id, contact_id, delivery_status, delivery_error, updated_at) "
            f"SELECT $1, $3, c.id, 'Skipped', $4, {when} FROM c",
            tenant,
            str(n),
            made["id"],
            why,
        )
    enabled = (await client.patch(f"{PATH}/{made['id']}", json={"enabled": True})).json()
    assert (enabled["disabled_at"], enabled["disabled_reason"]) == (None, None)
    rows = await admin.fetch("SELECT delivery_status, delivery_error FROM delivery ORDER BY delivery_status")
    assert [tuple(row) for row in rows] == [("Queued", None), ("Skipped", "suppressed")]


async def test_a_destination_is_deleted_with_its_deliveries(client, admin):
    made = await make(client)
    assert (await client.delete(f"{PATH}/{made['id']}")).status_code == 204
    is_problem(await client.get(f"{PATH}/{made['id']}"), 404)
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE action = 'remove'") == 1


async def test_a_destination_of_another_tenant_is_not_found(client, app, key_for):
    made = await make(client)
    async with client_with(app, await key_for("admin", "other", "eve")) as other:
        for method, path in [
            ("GET", ""),
            ("PATCH", ""),
            ("DELETE", ""),
            ("POST", "/test"),
            ("POST", "/rotate"),
            ("POST", "/retire"),
        ]:
            body: dict[str, Any] = {"json": {}} if method == "PATCH" or path == "/rotate" else {}
            is_problem(await other.request(method, f"{PATH}/{made['id']}{path}", **body), 404)
        assert (await other.get(PATH)).json()["items"] == []
    assert (await client.get(f"{PATH}/{made['id']}")).status_code == 200


async def test_only_admins_touch_secrets_and_operators_may_test(client, app, key_for):
    made = await make(client)
    async with client_with(app, await key_for("operator", name="otto")) as operator:
        is_problem(await operator.post(PATH, json={"name": "x", "kind": "n8n", "url": "http://hooks.example/"}), 403)
        is_problem(await operator.post(f"{PATH}/{made['id']}/rotate", json={}), 403)
        assert (await operator.post(f"{PATH}/{made['id']}/test")).status_code == 200
    async with client_with(app, await key_for("viewer", name="vera")) as viewer:
        is_problem(await viewer.post(f"{PATH}/{made['id']}/test"), 403)
        assert (await viewer.get(PATH)).status_code == 200
    is_problem(await client.get(f"{PATH}/{uuid4()}"), 404)


@pytest.mark.parametrize(
    ("kind", "url"), [("hubspot", None), ("brevo", None), ("n8n", "https://hooks.example/webhook/1")]
)
async def test_a_secret_is_not_sent_to_another_server(client, admin, kind, url):
    """Secrets go in and never come out, not by way of a server that somebody names afterwards either."""
    made = await make(client, name="crm", kind=kind, url=url, secret=TOKEN)
    path = f"{PATH}/{made['id']}"
    for elsewhere in ("http://hooks.example/webhook/1", "https://hooks.example:8443/webhook/1"):
        said = is_problem(await client.patch(path, json={"url": elsewhere}), 422)
        assert "Give the `secret` with the" in said["detail"]
    assert await admin.fetchval("SELECT url FROM destination") == url
    if url is not None:
        same = {"url": "https://hooks.example/webhook/2"}
        assert (await client.patch(path, json=same)).status_code == 200
    moved = await client.patch(path, json={"url": "http://hooks.example/", "secret": "another-key-of-ours"})
    assert (moved.status_code, moved.json()["secret"]) == (200, "set")
    assert "another-key-of-ours" not in str(await admin.fetch("SELECT before, after FROM audit"))


@pytest.mark.parametrize(("role", "shown"), [("viewer", "/…"), ("curator", "/…"), ("operator", "/leads?k=s3cret")])
async def test_the_path_of_a_web_hook_is_shown_to_those_who_may_deliver(app, client, key_for, role, shown):
    made = await make(client, url="http://hooks.example/leads?k=s3cret")
    async with client_with(app, await key_for(role)) as reader:
        one, listed = await reader.get(f"{PATH}/{made['id']}"), await reader.get(PATH)
    assert one.json()["url"] == listed.json()["items"][0]["url"] == f"http://hooks.example{shown}"
    assert role == "operator" or "s3cret" not in one.text + listed.text
