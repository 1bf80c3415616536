"""Suppressions over HTTP: added, looked up, taken back, imported and exported; and what they keep back."""

import csv
import io

import pytest

from scrapersky.observe.loop_watchdog import LoopWatchdog
from scrapersky.store.privacy import suppressions
from tests.factories.api_application import client_with, is_problem, make_key
from tests.factories.line_rows import add, add_line

HERE = "/api/v3/suppressions"
CSV = {"Content-Type": "text/csv"}
MAX_BLOCK_CPU_SECONDS = 0.25  # of a step of the event loop


async def import_table(client, noun: str, body: str):
    return (await client.post(f"/api/v3/imports/{noun}", content=body.encode(), headers=CSV)).json()


async def is_suppressed(client, contact_id: str) -> bool:
    return (await client.get(f"/api/v3/contacts/{contact_id}")).json()["suppressed_at"] is not None


async def test_values_are_added_once_and_invalid_ones_are_reported(client, admin, tenant):
    contact = (await add_line(admin, tenant))["contacts"]
    body = {"values": ["Anna@Molar.FI", "nonsense", "09 123 4567"], "reason": "asked us", "country": "FI"}
    answer = await client.post(HERE, json=body)
    assert answer.status_code == 200
    assert answer.json() == {
        "added": 2,
        "already": 0,
        "contacts": 1,
        "failed": 1,
        "errors": [{"line": 2, "message": "'nonsense' has no registrable domain"}],
    }
    assert await is_suppressed(client, contact)
    again = (await client.post(HERE, json=body)).json()
    assert (again["added"], again["already"], again["contacts"]) == (0, 2, 0)
    row = await admin.fetchrow(
        "SELECT s.*, u.name FROM suppression s JOIN \"user\" u ON u.id = created_by WHERE kind = 'email'"
    )
    assert (row["value"], row["reason"], row["origin"], row["name"]) == ("anna@molar.fi", "asked us", "person", "ada")


async def test_lists_are_filtered_and_paged(client):
    values = [f"{n}@molar.fi" for n in range(5)] + ["root.fi", "+35891234567"]
    await client.post(HERE, json={"values": values})
    first = (await client.get(HERE, params={"kind": "email", "limit": 3})).json()
    rest = (await client.get(HERE, params={"kind": "email", "limit": 3, "cursor": first["next_cursor"]})).json()
    assert first["total"] == 5
    assert {row["value"] for row in [*first["items"], *rest["items"]]} == set(values[:5])
    begins = (await client.get(HERE, params={"text": "roo"})).json()["items"]
    assert [row["value"] for row in begins] == ["root.fi"]
    one = (await client.get(f"{HERE}/{begins[0]['id']}")).json()
    assert one == begins[0]
    assert (await client.get(HERE, params={"origin": "import"})).json()["items"] == []
    is_problem(await client.get(HERE, params={"colour": "red"}), 422)


@pytest.mark.parametrize("path", [HERE, f"{HERE}/check"])
async def test_values_with_many_labels_do_not_block_the_event_loop(client, path):
    values = [f"{'ä.ö.å.' * 40}ä{n}.fi" for n in range(500)] + [f"{'x.' * 120}{n}.fi" for n in range(500)]
    await client.post(HERE, json={"values": ["molar.fi"]})
    watchdog = LoopWatchdog()
    watchdog.start()
    try:
        answer = await client.post(path, json={"values": values})
    finally:
        watchdog.stop()
    assert answer.status_code == 200
    assert watchdog.longest_cpu_seconds < MAX_BLOCK_CPU_SECONDS


async def test_contacts_are_read_and_suppressed_in_parts(client, admin, tenant, monkeypatch):
    monkeypatch.setattr(suppressions, "PART_ROWS", 2)
    monkeypatch.setattr(suppressions, "CHUNK_ROWS", 2)
    await admin.execute(
        "INSERT INTO contact (tenant_id, identity, email, phone) "
        "SELECT $1, 'email:p' || n || '@molar.fi', 'p' || n || '@molar.fi', '+35840' || (1000000 + n) "
        "FROM generate_series(1, 7) n",
        tenant,
    )
    body = {"filter": {}, "kinds": ["email", "phone"]}
    first, second = [(await client.post(f"{HERE}/contacts", json=body)).json() for _ in range(2)]
    assert (first["added"], first["already"], first["contacts"]) == (14, 0, 7)
    assert (second["added"], second["already"], second["contacts"]) == (0, 14, 0)


async def test_a_check_returns_the_suppression_of_each_value(client):
    await client.post(HERE, json={"values": ["molar.fi", "+35891234567"]})
    asked = ["bo@mail.molar.fi", "09 1234567", "c@root.fi", "?"]
    items = (await client.post(f"{HERE}/check", json={"values": asked, "country": "FI"})).json()["items"]
    assert [(item["value"], item["suppressed"], item["by"] and item["by"]["value"]) for item in items] == [
        ("bo@mail.molar.fi", True, "molar.fi"),
        ("09 1234567", True, "+35891234567"),
        ("c@root.fi", False, None),
        ("?", None, None),
    ]
    assert "no registrable domain" in items[3]["message"]


async def test_deleting_a_suppression_releases_its_contacts(client, admin, tenant):
    contact = (await add_line(admin, tenant))["contacts"]
    await client.post(HERE, json={"values": ["molar.fi"]})
    assert await is_suppressed(client, contact)
    row = (await client.get(HERE)).json()["items"][0]
    assert (await client.delete(f"{HERE}/{row['id']}")).status_code == 204
    assert not await is_suppressed(client, contact)
    is_problem(await client.delete(f"{HERE}/{row['id']}"), 404)
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE action = 'unsuppress'") == 1


async def test_the_contact_points_of_contacts_are_suppressed(client, admin, tenant):
    contact = (await add_line(admin, tenant))["contacts"]
    await add(admin, "contact", tenant, identity="2", email="anna@molar.fi", phone="+35891234567")
    preview = (await client.post(f"{HERE}/contacts", json={"filter": {"has_phone": True}, "preview": True})).json()
    assert (preview["matched"], preview["added"]) == (1, 0)
    done = (await client.post(f"{HERE}/contacts", json={"ids": [contact], "reason": "no"})).json()
    assert (done["added"], done["contacts"]) == (1, 2)
    done = (await client.post(f"{HERE}/contacts", json={"filter": {"has_phone": True}})).json()
    assert (done["added"], done["already"], done["contacts"]) == (1, 1, 0)


async def test_a_file_is_imported_and_exported(client, admin, tenant):
    contact = (await add_line(admin, tenant))["contacts"]
    body = (
        "email,domain,phone,reason\nanna@molar.fi,molar.fi,,opted out\n,müller.de,,\n,,+358 9 123 4567,\n"
        "x@y.fi,,+358 9 1,\nnobody,,,\n,,,why\n"
    )
    report = await import_table(client, "suppressions", body)
    assert (report["created"], report["failed"], report["search_id"]) == (3, 3, None)
    assert [error["line"] for error in report["errors"]] == [5, 6, 7]
    assert "a row of its own" in report["errors"][0]["message"]
    assert await is_suppressed(client, contact)
    assert await admin.fetchval("SELECT count(*) FROM search WHERE provider = 'import'") == 0
    again = await import_table(client, "suppressions", body)
    assert (again["created"], again["updated"], again["unchanged"]) == (0, 0, 3)
    exported = (await client.get("/api/v3/exports/suppressions.csv", params={"kind": "domain"})).text
    values = {row["value"] for row in csv.DictReader(io.StringIO(exported.removeprefix("\ufeff")))}
    assert values == {"müller.de", "xn--mller-kva.de"}
    is_problem(
        await client.post("/api/v3/imports/suppressions?auto_queue=true", content=b"email\na@b.fi\n", headers=CSV), 400
    )


async def test_a_suppressed_contact_is_listed_but_not_exported(client, admin, tenant):
    line = await add_line(admin, tenant)
    people = "email,name,domain\nanna@molar.fi,Anna,molar.fi\nbo@molar.fi,Bo,molar.fi\n"
    await import_table(client, "contacts", people)
    await client.post(HERE, json={"values": ["anna@molar.fi"]})
    report = await import_table(client, "contacts", people)  # the file comes again
    assert report["failed"] == 0
    assert await is_suppressed(client, line["contacts"])
    listed = (await client.get("/api/v3/contacts", params={"suppressed": "true"})).json()["items"]
    assert [row["email"] for row in listed] == ["anna@molar.fi"]
    results = f"/api/v3/searches/{line['searches']}/results"
    for path in ("/api/v3/exports/contacts.csv", "/api/v3/exports/contacts.jsonl"):
        text = (await client.get(path)).text
        assert "bo@molar.fi" in text
        assert "anna@molar.fi" not in text
    for per in ("business", "contact"):
        text = (await client.get(results, params={"per": per})).text
        assert "bo@molar.fi" in text
        assert "anna@molar.fi" not in text


async def test_suppressions_apply_to_their_tenant_only(app, client, admin, tenant, other_tenant):
    mine, theirs = (await add_line(admin, tenant))["contacts"], (await add_line(admin, other_tenant))["contacts"]
    async with client_with(app, await make_key(app.state.application.database, tenant="other", name="eve")) as other:
        await other.post(HERE, json={"values": ["anna@molar.fi"]})
        row = (await other.get(HERE)).json()["items"][0]
        assert await is_suppressed(other, theirs)
    assert not await is_suppressed(client, mine)
    assert (await client.get(HERE)).json()["items"] == []
    checked = (await client.post(f"{HERE}/check", json={"values": ["anna@molar.fi"]})).json()["items"]
    assert checked[0]["suppressed"] is False
    is_problem(await client.delete(f"{HERE}/{row['id']}"), 404)


@pytest.mark.parametrize(
    ("method", "path", "roles"),
    [
        ("GET", HERE, ("viewer", "curator", "operator", "admin")),
        ("POST", HERE, ("curator", "operator", "admin")),
        ("DELETE", f"{HERE}/00000000-0000-0000-0000-000000000000", ("operator", "admin")),
    ],
)
async def test_each_operation_needs_its_role(app, client, method, path, roles):
    for role in ("viewer", "curator", "operator", "admin"):
        async with client_with(app, await make_key(app.state.application.database, role, name=role)) as asker:
            answer = await asker.request(method, path, json={"values": ["a@b.fi"]} if method == "POST" else None)
        assert (answer.status_code != 403) == (role in roles), role


async def test_only_an_admin_deletes_the_suppression_of_an_erasure(app, client, admin, tenant):
    await client.post(HERE, json={"values": ["a@b.fi"]})
    row = await admin.fetchval("UPDATE suppression SET origin = 'erasure', value = NULL RETURNING id")
    for role, status in (("operator", 403), ("admin", 204)):
        async with client_with(app, await make_key(app.state.application.database, role, name=role)) as asker:
            assert (await asker.delete(f"{HERE}/{row}")).status_code == status


@pytest.mark.parametrize("email", ["1@0.1", "a@localhost", "a@xn--zzzzzzzz.fi"])
async def test_a_suppressed_contact_with_an_unusual_host_is_unsuppressed(client, admin, tenant, email):
    contact = await add(admin, "contact", tenant, identity=f"email:{email}", email=email)
    await client.post(f"{HERE}/contacts", json={"ids": [contact]})
    [row] = (await client.get(HERE)).json()["items"]
    assert await is_suppressed(client, contact)
    assert (await client.delete(f"{HERE}/{row['id']}")).status_code == 204
    assert not await is_suppressed(client, contact)
