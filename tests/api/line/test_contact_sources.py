"""Where each value of a contact was found: in the API, in files, and after a person was suppressed or erased."""

import json
from uuid import UUID

import pytest

from tests.factories.api_application import is_problem
from tests.factories.line_rows import add, add_line

CONTACTS = "/api/v3/contacts"
IMPRINT = {"url": "https://molar.fi/imprint", "snippet": "Eva Virtanen, CEO", "found_by": "card", "confidence": 0.9}


@pytest.fixture
async def eva(admin, tenant):
    """A contact from the team page, with the title of the imprint."""
    line = await add_line(admin, tenant)
    return await add(
        admin,
        "contact",
        tenant,
        domain_id=UUID(line["domains"]),
        identity="email:eva@molar.fi",
        name="Eva Virtanen",
        first_name="Eva",
        last_name="Virtanen",
        title="CEO",
        email="eva@molar.fi",
        source_url="https://molar.fi/team",
        snippet="Eva Virtanen",
        found_by="mailto",
        confidence=0.8,
        sources=json.dumps({"title": IMPRINT}),
    )


async def test_a_contact_names_the_source_of_each_value(client, eva):
    contact = (await client.get(f"{CONTACTS}/{eva}")).json()
    team = {"url": "https://molar.fi/team", "snippet": "Eva Virtanen", "found_by": "mailto", "confidence": 0.8}
    assert contact["sources"] == {"name": team, "title": IMPRINT, "email": team}


async def test_what_a_person_wrote_is_its_own_source(client, eva):
    changed = (await client.patch(f"{CONTACTS}/{eva}", json={"title": "Owner", "name": "Virtanen Eva"})).json()
    assert (changed["first_name"], changed["last_name"]) == ("Eva", "Virtanen")
    sources = (await client.get(f"{CONTACTS}/{eva}")).json()["sources"]
    assert [sources[name]["found_by"] for name in ("title", "name", "email")] == ["written by hand"] * 2 + ["mailto"]


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (
            {"name": "Kovács Eszter", "first_name": "Eszter", "last_name": "Kovács"},
            ("Kovács Eszter", "Eszter", "Kovács"),
        ),
        ({"first_name": "Eszter", "last_name": "Kovács"}, ("Eszter Kovács", "Eszter", "Kovács")),
        ({"name": "Isabel Garcia"}, ("Isabel Garcia", "Isabel", "Garcia")),
        ({"name": "Li Wei"}, ("Li Wei", None, None)),
        ({"name": "Li Wei", "last_name": "Li"}, ("Li Wei", None, "Li")),
    ],
)
async def test_a_new_contact_has_the_parts_of_its_name(client, body, parts):
    created = (await client.post(CONTACTS, json={**body, "email": "new@gmail.com"})).json()
    assert (created["name"], created["first_name"], created["last_name"]) == parts


async def test_a_contact_of_several_pages_is_split_once(client, admin, eva):
    kept, part = (await client.post(f"{CONTACTS}/{eva}/split")).json()
    assert (kept["id"], kept["title"], kept["email"]) == (eva, None, "eva@molar.fi")
    assert (part["title"], part["email"], part["source_url"]) == ("CEO", None, "https://molar.fi/imprint")
    after = json.loads(await admin.fetchval("SELECT after FROM audit WHERE action = 'split'"))
    assert after["parts"] == [part["id"]]
    problem = is_problem(await client.post(f"{CONTACTS}/{eva}/split"), 422)
    assert problem["title"] == "This contact was not put together from several pages."


async def test_a_file_has_the_page_of_each_address_and_title(client, admin, tenant, eva):
    search = await admin.fetchval("SELECT id FROM search")
    await admin.execute(
        "INSERT INTO search_domain (search_id, domain_id, tenant_id) "
        "SELECT $1, domain_id, $2 FROM contact WHERE id = $3 ON CONFLICT DO NOTHING",
        search,
        tenant,
        UUID(eva),
    )
    file = (await client.get(f"/api/v3/searches/{search}/leads.jsonl", params={"per": "contact"})).text
    rows = [json.loads(line) for line in file.splitlines()]
    (row,) = [row for row in rows if row["email"] == "eva@molar.fi"]
    assert (row["first_name"], row["last_name"]) == ("Eva", "Virtanen")
    assert (row["email_source_url"], row["title_source_url"]) == ("https://molar.fi/team", IMPRINT["url"])


async def test_snippets_beside_a_suppressed_person_are_in_no_file(client, eva):
    lines = (await client.get("/api/v3/exports/contacts.jsonl")).text
    assert "Eva Virtanen, CEO" in lines
    await client.post("/api/v3/suppressions", json={"values": ["anna@molar.fi"]})
    rows = [json.loads(line) for line in (await client.get("/api/v3/exports/contacts.jsonl")).text.splitlines()]
    (row,) = [row for row in rows if row["id"] == eva]
    assert row["sources"] == {"title": {name: value for name, value in IMPRINT.items() if name != "snippet"}}


async def test_nothing_of_an_erased_person_remains_in_the_sources(client, admin, eva):
    await admin.execute(
        "UPDATE contact SET sources = jsonb_set(sources, '{title,snippet}', '\"Eva Virtanen, Anna Molar\"'), "
        "fact_ranks = jsonb_build_object('title', '0 00100 003 00020 https://molar.fi/u/anna@molar.fi')"
    )
    assert (await client.post("/api/v3/erasures", json={"email": "anna@molar.fi", "preview": False})).status_code < 300
    left = await admin.fetchval("SELECT string_agg(concat(sources, fact_ranks), ' ') FROM contact")
    assert "Eva" in left
    assert "anna" not in left.lower()


async def test_a_shared_mailbox_keeps_no_source_of_an_erased_person(client, admin, tenant, eva):
    await admin.execute(
        "UPDATE contact SET email = 'office@molar.fi', email_kind = 'role', identity = 'person:eva virtanen' "
        "WHERE id = $1",
        UUID(eva),
    )
    asked = {"name": "Eva Virtanen", "domain": "molar.fi", "preview": False}
    assert (await client.post("/api/v3/erasures", json=asked)).status_code < 300
    row = await admin.fetchrow(
        "SELECT name, first_name, last_name, title, email, sources FROM contact WHERE id = $1", UUID(eva)
    )
    assert tuple(row) == (None, None, None, None, "office@molar.fi", None)
