"""A client that openapi-python-client generates runs the whole story against a real server: log in, search, wait, list,
curate, page, export. `.ci/run` installs the generator in an environment of its own."""

import asyncio
import csv
import io
import json
from importlib import import_module

import pytest

from scrapersky.api.openapi import openapi_document
from scrapersky.asgi import create_app
from scrapersky.core.secrets.passwords import Passwords
from scrapersky.sandbox.sandbox import Sandbox
from tests.api.test_serving import listening
from tests.deploy.tools import run_tool
from tests.factories.api_application import environment

PASSWORD = "correct horse battery"
# The generator knows JSON, forms and bytes only: a client sends other tables with a client of HTTP.
UNSUPPORTED = ("text/csv", "application/x-ndjson", "text/plain")  # bodies of both operations that take a table
CONFIG = "post_hooks: []\npackage_name_override: scrapersky_client\n"


@pytest.fixture
def generated(tmp_path, monkeypatch):
    """Generate the client; yield its operations and models by name, or None if the generator is not installed."""
    (tmp_path / "openapi.json").write_text(json.dumps(openapi_document(create_app())))
    (tmp_path / "config.yml").write_text(CONFIG)
    words = ("--path", "openapi.json", "--config", "config.yml", "--meta", "none", "--output-path", "scrapersky_client")
    said = run_tool("openapi-python-client", "generate", *words, cwd=tmp_path)
    if said is None:
        return None
    assert "Unable to process schema" not in said, said
    assert "Cannot parse" not in said, said
    assert said.count("WARNING") == 2 * len(UNSUPPORTED), said
    monkeypatch.syspath_prepend(tmp_path)
    return Generated()


class Generated:
    """The generated package."""

    def __init__(self) -> None:
        self.models = import_module("scrapersky_client.models")
        self.package = import_module("scrapersky_client")

    def operation(self, tag, name):
        return import_module(f"scrapersky_client.api.{tag}.{name}").asyncio_detailed


@pytest.fixture
async def port(generated, database_url, admin, tenant):
    """The port of a server that runs the pipeline on a sandbox, with the user `story`."""
    if generated is None:
        yield None
        return
    passwords = Passwords()
    hashed = await passwords.hash(PASSWORD)
    passwords.close()
    await admin.execute(
        'INSERT INTO "user" (tenant_id, name, role, password_hash) VALUES ($1, $2, $3, $4)',
        *(tenant, "story", "admin", hashed),
    )
    async with Sandbox(seed=31, businesses=120) as sandbox:
        variables = {**sandbox.environment(), "CRAWL_PARSER_PROCESSES": "1"}
        async with listening(create_app(environment(database_url, **variables))) as port:
            yield port


async def test_a_generated_client_runs_the_whole_story(generated, port):
    if generated is None:
        return
    address = f"http://127.0.0.1:{port}"
    client = await logged_in(generated, address)
    async with client:
        search = await finished_search(generated, client)
        assert search.found["contacts"] > 3
        contacts = await all_contacts(generated, client)
        assert len(contacts) == len({contact.id for contact in contacts}) > 3
        await curate(generated, client, contacts[:2])
        leads = await generated.operation("searches", "list_results")(search.id, client=client, limit=100)
        assert {lead.per for lead in leads.parsed.items} == {"business"}
        await export(generated, client, contacts)


async def logged_in(generated, address):
    models = generated.models
    login = generated.operation("auth", "login")
    wrong = models.LoginRequest(name="story", password="not the password")
    refused = await login(client=generated.package.Client(address), body=wrong)
    assert (refused.status_code, refused.parsed.detail) == (401, "The name or the password is wrong.")
    body = models.LoginRequest(name="story", password=PASSWORD)
    tokens = (await login(client=generated.package.Client(address), body=body)).parsed
    return generated.package.AuthenticatedClient(address, tokens.access_token)


async def finished_search(generated, client):
    """Request a search, and follow it until no work is left."""
    models = generated.models
    rules = models.RequestedRules(pages_per_site=2)
    body = models.NewSearch(text="dentists", area="Helsinki", limit=4, rules=rules)
    created = await generated.operation("searches", "create_search")(client=client, body=body)
    assert created.status_code == 201
    async with asyncio.timeout(240):
        while True:
            found = await generated.operation("searches", "get_search")(created.parsed.search.id, client=client)
            if found.parsed.is_done:
                return found.parsed
            await asyncio.sleep(0.3)  # a client has no other way to wait


async def all_contacts(generated, client):
    """Read the list page by page; a page that the client has is not sent again."""
    found, cursor, pages = [], generated.package.types.UNSET, 0
    list_contacts = generated.operation("contacts", "list_contacts")
    while cursor is not None:
        asked = {"client": client, "limit": 3, "cursor": cursor, "sort": generated.models.ListContactsSort.ID}
        page = await list_contacts(**asked)
        again = await list_contacts(**asked, if_none_match=page.headers["etag"])
        assert (page.status_code, again.status_code, again.content) == (200, 304, b"")
        found += page.parsed.items
        cursor, pages = page.parsed.next_cursor, pages + 1
    assert pages > 1
    return found


async def curate(generated, client, contacts):
    models = generated.models
    body = models.CurateIds(ids=[contact.id for contact in contacts], curation_status=models.Curation.MAYBE)
    curated = await generated.operation("contacts", "curate_contacts")(client=client, body=body)
    assert (curated.parsed.matched, curated.parsed.updated) == (2, 2)
    one = await generated.operation("contacts", "get_contact")(contacts[0].id, client=client)
    assert one.parsed.curation_status is models.Curation.MAYBE


async def export(generated, client, contacts):
    ending = generated.models.ExportContactsEnding.CSV
    file = await generated.operation("exports", "export_contacts")(ending, client=client)
    rows = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))
    assert {row["id"] for row in rows} <= {str(contact.id) for contact in contacts}
    assert [row["curation_status"] for row in rows].count("Maybe") == 2
    document = openapi_document(create_app())
    content = document["paths"]["/api/v3/exports/contacts.{ending}"]["get"]["responses"]["200"]["content"]
    assert list(rows[0]) == content["text/csv"]["schema"]["x-columns"]["contacts"]
