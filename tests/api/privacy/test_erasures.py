"""Erasure and access over HTTP: what goes, what stays, who is told, and that nothing comes back."""

import json
from uuid import UUID

import pytest

from tests.factories.api_application import client_with, is_problem, make_key
from tests.factories.dump import dump, lines_with
from tests.factories.line_rows import add, add_line

HERE = "/api/v3/erasures"
SUBJECTS = "/api/v3/subjects"
ANNA, PHONE = "anna@molar.fi", "+358401234999"
CSV = {"Content-Type": "text/csv"}


async def plant(admin, tenant) -> dict[str, str]:
    """Anna in every place where the line, people or the program may write her."""
    line = await add_line(admin, tenant)  # a contact of her own
    domain, contact = UUID(line["domains"]), UUID(line["contacts"])
    await admin.execute("UPDATE contact SET phone = $1, snippet = 'Call Anna Molar' WHERE id = $2", PHONE, contact)
    await add(admin, "contact", tenant, domain_id=domain, identity="person:anna molar", name="Anna Molar", title="Boss")
    await add(
        admin,
        "contact",
        tenant,
        domain_id=domain,
        identity="email:info@molar.fi",
        email="info@molar.fi",
        email_kind="role",
        name="Anna Molar",
        phone="+35891234567",
    )
    await add(
        admin,
        "contact",
        tenant,
        domain_id=domain,
        identity="phone:+35891234567",
        phone="+35891234567",
        snippet=f"Anna Molar, 040 123 4999, {ANNA.title()}; bo@molar.fi",
    )
    facts = {"emails": [ANNA, "info@molar.fi"], "phones": [PHONE], "organisation": {"description": f"Mail {ANNA}!"}}
    await admin.execute(
        "UPDATE domain SET facts = $1, title = $2 WHERE id = $3", json.dumps(facts), f"<{ANNA}>", domain
    )
    await admin.execute("UPDATE place SET phone = $1, details = $2", PHONE, json.dumps({"extra": {"emails": [ANNA]}}))
    await admin.execute("UPDATE local_business SET details = $1", json.dumps({"emails": [ANNA]}))
    page = await add(admin, "page", tenant, domain_id=domain, url=f"https://molar.fi/u/{ANNA}")
    await add(admin, "job", tenant, kind="curation", parameters=json.dumps({"filter": {"email": ANNA}}))
    await admin.execute(
        "INSERT INTO idempotency_key (tenant_id, key, request_hash, status_code, response) "
        "VALUES ($1, 'k', 'h', 200, $2)",
        tenant,
        json.dumps({"name": ANNA}),
    )
    await admin.execute(
        "INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message) "
        "VALUES ($1, 'page.page_processing', $2, 3, 'Odd', $3)",
        tenant,
        UUID(line["pages"]),
        f"could not read {ANNA}",
    )
    for subject, shown in (
        (f"contact {contact}", {"name": "Anna Molar"}),
        ("suppressions", {"values": [ANNA, "b@c.fi"]}),
    ):
        await admin.execute(
            "INSERT INTO audit (tenant_id, actor, origin, action, subject, before) VALUES ($1, 'x', 'x', 'x', $2, $3)",
            tenant,
            subject,
            json.dumps(shown),
        )
    target = await add(admin, "destination", tenant, name="our CRM", kind="hubspot")
    await add(
        admin,
        "delivery",
        tenant,
        destination_id=UUID(target),
        contact_id=contact,
        external_id="hub-7",
        delivered_at=None,
    )
    return {**line, "bad_page": page}


async def test_a_person_is_previewed_and_then_erased_everywhere(client, admin, tenant, other_tenant):
    await plant(admin, tenant)
    await client.post("/api/v3/suppressions", json={"values": [ANNA], "reason": "Anna asked"})
    await add_line(admin, other_tenant)
    elsewhere = await add(admin, "domain", tenant, name="root.fi")
    same_name = await add(
        admin, "contact", tenant, domain_id=UUID(elsewhere), identity="person:anna molar", name="Anna Molar"
    )
    whom = {"email": ANNA, "phone": PHONE}  # the number is the business's, too, so it must be asked for
    seen = (await client.post(HERE, json=whom)).json()
    assert (seen["preview"], seen["contacts"], seen["stripped"], seen["deliveries"]) == (True, 2, 1, 1)
    assert seen["receivers"] == [
        {"destination": "our CRM", "kind": "hubspot", "external_id": "hub-7", "delivered_at": None}
    ]
    assert lines_with(await dump(admin), ANNA)

    done = (await client.post(HERE, json={**whom, "preview": False})).json()
    assert {**done, "preview": True, "mentions": 0} == {**seen, "mentions": 0}
    assert done["mentions"] == {
        "audit": 3, "contact": 1, "dead_letter": 1, "domain": 1, "job": 1, "local_business": 1, "page": 1, "place": 1,
        "idempotency_key": 1,
    }  # fmt: skip
    assert done["mentions"] == seen["mentions"]
    await admin.execute("DELETE FROM contact WHERE id = $1", UUID(same_name))
    assert await admin.fetchval("SELECT count(*) FROM contact WHERE tenant_id = $1", other_tenant) == 1
    await admin.execute("DELETE FROM tenant WHERE id = $1", other_tenant)  # so that only this one's rows are looked at
    dumped = await dump(admin)
    for gone in (ANNA, PHONE, "040 123 4999"):
        assert lines_with(dumped, gone) == []
    named = lines_with(dumped, "anna molar")
    assert [line for line in named if not line.startswith("public.audit")] == [], "the name went with its contacts"
    assert named == []
    kept = {row["identity"]: row for row in await admin.fetch("SELECT * FROM contact")}
    assert set(kept) == {"email:info@molar.fi", "phone:+35891234567"}
    assert kept["email:info@molar.fi"]["phone"] == "+35891234567", "a number of the business stays"
    assert kept["phone:+35891234567"]["snippet"] == "[erased], [erased], [erased]; bo@molar.fi"
    facts = json.loads(await admin.fetchval("SELECT facts FROM domain WHERE name = 'molar.fi'"))
    assert (facts["emails"], facts["phones"]) == (["info@molar.fi"], [])
    told = await admin.fetchrow("SELECT before, after FROM audit WHERE action = 'erase'")
    assert told["before"] is None
    assert set(json.loads(told["after"])) == {"hashes", "contacts", "stripped", "mentions", "receivers"}


async def test_another_person_of_the_same_name_stays(client, admin, tenant):
    for name in ("molar", "root"):
        await add_line(admin, tenant, name)
    done = (await client.post(HERE, json={"name": "anna MOLAR", "domain": "www.molar.fi", "preview": False})).json()
    assert done["contacts"] == 1
    left = await admin.fetch("SELECT email, name FROM contact")
    assert [tuple(row) for row in left] == [("anna@root.fi", "Anna Molar")]


async def test_merged_contacts_are_erased_as_one_person(client, admin, tenant):
    mine = [
        await add(admin, "contact", tenant, identity=f"email:{mail}", email=mail) for mail in (ANNA, "ann@gmail.com")
    ]
    merged = await client.post("/api/v3/contacts/merge", json={"keep": mine[1], "merge": mine[0]})
    assert merged.status_code == 200
    done = (await client.post(HERE, json={"email": ANNA, "preview": False})).json()
    assert (done["contacts"], len(done["hashes"])) == (2, 2)
    assert lines_with(await dump(admin), "ann@gmail.com") == []


async def test_an_erased_person_cannot_be_created_again(client, admin, tenant):
    line = await add_line(admin, tenant)
    other = await add(admin, "contact", tenant, identity="email:bo@molar.fi", email="bo@molar.fi")
    await client.post(HERE, json={"email": ANNA, "preview": False})
    assert "erased" in is_problem(await client.post("/api/v3/contacts", json={"email": ANNA}), 409)["title"]
    is_problem(await client.patch(f"/api/v3/contacts/{other}", json={"email": ANNA}), 409)
    body = f"email,name,domain\n{ANNA},Anna,molar.fi\ncarl@molar.fi,Carl,molar.fi\n"
    report = (await client.post("/api/v3/imports/contacts", content=body, headers=CSV)).json()
    assert (report["created"], report["failed"]) == (1, 1)
    assert report["errors"] == [{"line": 2, "message": "this person was erased and is not stored again"}]
    await admin.execute(
        "INSERT INTO contact (tenant_id, domain_id, identity, name) VALUES ($1, $2, 'person:anna molar', 'ANNA Molar')",
        tenant,
        UUID(line["domains"]),
    )
    assert lines_with(await dump(admin), ANNA) == []
    assert await admin.fetchval("SELECT count(*) FROM contact") == 2
    checked = (await client.post("/api/v3/suppressions/check", json={"values": [ANNA]})).json()["items"][0]
    assert (checked["suppressed"], checked["by"]["origin"], checked["by"]["value"]) == (True, "erasure", None)
    gone = await client.delete(f"/api/v3/suppressions/{checked['by']['id']}")
    assert gone.status_code == 204
    assert (await client.post("/api/v3/contacts", json={"email": ANNA})).status_code == 201, "they came back to us"


async def test_the_erasure_of_an_unknown_person_prevents_storing_them(client, admin):
    done = (await client.post(HERE, json={"email": "eve@free.fi", "preview": False})).json()
    assert (done["contacts"], done["mentions"], len(done["hashes"])) == (0, {}, 1)
    is_problem(await client.post("/api/v3/contacts", json={"email": "eve@free.fi"}), 409)
    again = (await client.post(HERE, json={"email": "eve@free.fi", "preview": False})).json()
    assert again["hashes"] == done["hashes"]


async def test_subject_access_returns_everything_stored(client, admin, tenant, other_tenant):
    line = await plant(admin, tenant)
    await plant(admin, other_tenant)
    await client.post("/api/v3/suppressions", json={"values": ["molar.fi"]})
    told = (await client.get(SUBJECTS, params={"email": ANNA})).json()
    assert {contact["id"] for contact in told["contacts"]} >= {line["contacts"]}
    assert len(told["contacts"]) == 3
    assert all(contact["created_at"] and contact["seen_at"] for contact in told["contacts"])
    assert {copy["table"] for copy in told["copies"]} == {
        "contact", "dead_letter", "domain", "job", "local_business", "page", "place", "idempotency_key",
    }  # fmt: skip
    assert [(sent["destination"], sent["external_id"]) for sent in told["deliveries"]] == [("our CRM", "hub-7")]
    assert [row["kind"] for row in told["suppressions"]] == ["domain"]
    kept = await admin.fetchval("SELECT after FROM audit WHERE action = 'look up'")
    assert ANNA not in kept


@pytest.mark.parametrize(
    "whom",
    [{}, {"email": "anna"}, {"name": "Anna"}, {"domain": "molar.fi"}, {"phone": "12"}, {"colour": "red"}],
)
async def test_an_erasure_without_a_person_is_a_problem(client, whom):
    is_problem(await client.post(HERE, json=whom), 422)
    is_problem(await client.get(SUBJECTS, params=whom), 422)


async def test_only_admins_may_erase_and_read_subjects(app, client):
    for role in ("viewer", "curator", "operator"):
        async with client_with(app, await make_key(app.state.application.database, role, name=role)) as asker:
            is_problem(await asker.post(HERE, json={"email": ANNA}), 403)
            is_problem(await asker.get(SUBJECTS, params={"email": ANNA}), 403)
