"""`destination` and `deliver`: a destination is added, tried out and removed, contacts are queued and handed over."""

import io
import json
import sys

import pytest

from scrapersky.sandbox.sandbox import Sandbox


@pytest.fixture
async def sandbox(monkeypatch, tmp_path):
    async with Sandbox(7, 10) as sandbox:
        for name, value in sandbox.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("SCRAPERSKY_DATA_DIR", str(tmp_path))
        yield sandbox


async def add_contacts(admin, tenant, count):
    await admin.execute(
        "INSERT INTO contact (tenant_id, identity, email) SELECT $1, n::text, 'a' || n || '@molar.fi' "
        "FROM generate_series(1, $2::int) n",
        tenant,
        count,
    )


async def test_contacts_are_delivered_from_the_command_line(line, sandbox, admin, tenant):
    added = await line(
        "destination", "add", "hook", "--kind", "webhook", "--url", "http://hooks.example/leads", "--json"
    )
    assert added.code == 0, added.err
    made = json.loads(added.out)
    receiver = sandbox.hooks.add("/leads", made["signing_secret"])
    assert (await line("destination", "test", "hook")).out == "hook: The destination responded with status 204.\n"
    await add_contacts(admin, tenant, 3)
    counted = await line("deliver", "hook", "--preview")
    assert (counted.code, counted.out) == (0, "3 contacts match.\n")
    queued = await line("deliver", "hook", "--where", "email=a1", "--json")
    assert (queued.code, json.loads(queued.out)["queued"]) == (0, 1)
    assert (await line("run", "delivery")).code == 0
    [_test, delivered] = receiver.effects.values()
    assert delivered["data"]["email"] == "a1@molar.fi"
    none = await line("deliver", "hook", "--where", "email=nobody")
    assert none.code == 1
    assert (await line("destination", "remove", "hook")).code == 0
    assert (await line("deliver", "hook")).code == 2


async def test_the_log_stays_out_of_the_terminal_unless_it_is_asked_for(line, sandbox):
    words = ("destination", "add", "hook", "--kind", "webhook", "--url", "http://hooks.example/leads")
    assert (await line(*words)).err == ""  # though the sandbox's private addresses are worth a warning
    assert (await line("deliver", "hook", "--preview")).err == ""
    asked = await line("destination", "list", SCRAPERSKY_LOG_LEVEL="info")
    assert "private_network_allowed" in asked.err


async def test_a_key_comes_by_standard_input_and_is_shown_to_nobody(line, sandbox, monkeypatch, admin):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{sandbox.hubspot.token}\n"))
    added = await line("destination", "add", "crm", "--kind", "hubspot", "--url", sandbox.hubspot_url, "--auto")
    assert (added.code, added.out) == (0, "crm was added.\n")
    listed = await line("destination", "list")
    assert "hubspot" in listed.out
    for said in (added, listed, await line("destination", "list", "--json")):
        assert sandbox.hubspot.token not in said.out + said.err
    assert (await line("destination", "test", "crm")).out == "crm: HubSpot accepts the access token.\n"
    assert json.loads(await admin.fetchval("SELECT rule FROM destination"))["auto"] is True
    sandbox.hubspot.token = "another"
    tried = await line("destination", "test", "crm")
    assert tried.code == 1
    assert "Set the access token" in tried.out


async def test_a_wrong_destination_gets_a_sentence(line, sandbox, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    private = await line("destination", "add", "x", "--kind", "n8n", "--url", "http://10.0.0.1/")
    assert private.code == 2
    assert "public internet" in private.sentence
    assert "DESTINATION_ALLOWED_PRIVATE_NETWORKS" in private.sentence
    keyless = await line("destination", "add", "x", "--kind", "brevo")
    assert keyless.code == 2
    assert "needs a `secret`" in keyless.sentence
    assert (await line("destination", "add", "x", "--kind", "fax")).code == 2
    unknown = await line("deliver", "nowhere")
    assert unknown.code == 2
    assert "no destination named" in unknown.sentence


async def test_a_webhook_can_get_alarms_and_a_crm_cannot(line, sandbox, monkeypatch, admin):
    url = f"{sandbox.hooks_url}/alarms"
    added = await line("destination", "add", "ops", "--kind", "webhook", "--url", url, "--alarms")
    assert added.code == 0
    rule = json.loads(await admin.fetchval("SELECT rule FROM destination WHERE name = 'ops'"))
    assert (rule["alarms"], rule["auto"]) == (True, False)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{sandbox.hubspot.token}\n"))
    refused = await line("destination", "add", "crm", "--kind", "hubspot", "--alarms")
    assert (refused.code, "For alarms and ends of runs use one of: webhook, n8n." in refused.sentence) == (2, True)
