"""Contacts over HTTP: written, changed, merged and deleted by hand; nobody overwrites anybody unseen."""

import json
from uuid import UUID, uuid4

from tests.factories.api_application import is_problem
from tests.factories.line_rows import add, add_line

CONTACTS = "/api/v3/contacts"


async def test_a_contact_is_created_once(client, admin, tenant):
    ids = await add_line(admin, tenant)
    new = {"email": "Bo@Molar.FI", "name": "Bo", "phone": "+358401234567", "domain_id": ids["domains"]}
    answer = await client.post(CONTACTS, json=new)
    assert answer.status_code == 201
    assert answer.json()["email"] == "bo@molar.fi"
    assert answer.headers["location"] == f"{CONTACTS}/{answer.json()['id']}"
    problem = is_problem(await client.post(CONTACTS, json={**new, "name": "Bob"}), 409)
    assert problem["id"] == answer.json()["id"]
    assert (await client.post(CONTACTS, json={"name": "No Domain"})).status_code == 201
    is_problem(await client.post(CONTACTS, json={"name": "no domain"}), 409)
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE action = 'create'") == 2


async def test_an_invalid_contact_is_refused(client, admin, tenant, other_tenant):
    theirs = await add_line(admin, other_tenant)
    for wrong in [
        {"email": "nonsense"},
        {"email": "a b@c.fi"},
        {"email": "a@localhost"},
        {"phone": "040 1234567"},
        {"phone": 358401234567},
        {"name": ""},
        {"name": "x", "curation_status": "Selected"},
        {"name": "x", "tenant_id": str(other_tenant)},
    ]:
        problem = is_problem(await client.post(CONTACTS, json=wrong), 422)
        assert problem["errors"][0]["field"].startswith("body.")
    problem = is_problem(await client.post(CONTACTS, json={"title": "nobody"}), 422)
    assert problem["title"].startswith("A contact needs an email address")
    for owner in ("domain_id", "page_id", "business_id"):
        for strange in (theirs[{"domain_id": "domains", "page_id": "pages"}.get(owner, "businesses")], str(uuid4())):
            problem = is_problem(await client.post(CONTACTS, json={"name": "x", owner: strange}), 422)
            assert problem["title"] == "The row that the contact should belong to does not exist."


async def test_a_change_keeps_other_fields_and_the_identity(client, admin, tenant):
    contact_id = (await add_line(admin, tenant))["contacts"]
    answer = await client.patch(f"{CONTACTS}/{contact_id}", json={"email": "anna.m@molar.fi", "title": "Dentist"})
    assert answer.status_code == 200
    contact = (await client.get(f"{CONTACTS}/{contact_id}")).json()
    assert (contact["email"], contact["title"], contact["name"]) == ("anna.m@molar.fi", "Dentist", "Anna Molar")
    assert contact["identity"] == "email:anna@molar.fi"
    assert (await client.patch(f"{CONTACTS}/{contact_id}", json={"title": None})).json()["title"] is None
    [first, _] = await admin.fetch("SELECT before, after FROM audit WHERE action = 'change' ORDER BY id")
    assert json.loads(first["before"])["email"] == "anna@molar.fi"
    assert json.loads(first["after"])["email"] == "anna.m@molar.fi"
    empty = {"email": None, "name": None}
    assert is_problem(await client.patch(f"{CONTACTS}/{contact_id}", json=empty), 422)["detail"] == (
        "Delete it instead."
    )
    is_problem(await client.patch(f"{CONTACTS}/{contact_id}", json={"identity": "x"}), 422)


async def test_a_change_of_an_outdated_version_is_a_conflict(client, admin, tenant):
    contact_id = (await add_line(admin, tenant))["contacts"]
    read = await client.get(f"{CONTACTS}/{contact_id}")
    seen = {"If-Match": read.headers["etag"]}
    first = await client.patch(f"{CONTACTS}/{contact_id}", json={"title": "CEO"}, headers=seen)
    assert first.status_code == 200
    is_problem(await client.patch(f"{CONTACTS}/{contact_id}", json={"title": "CFO"}, headers=seen), 409)
    stale = {"title": "CFO", "updated_at": read.json()["updated_at"]}
    is_problem(await client.patch(f"{CONTACTS}/{contact_id}", json=stale), 409)
    fresh = {"title": "CTO", "updated_at": first.json()["updated_at"]}
    assert (await client.patch(f"{CONTACTS}/{contact_id}", json=fresh)).json()["title"] == "CTO"
    wrong = {"If-Match": '"nonsense"'}
    is_problem(await client.patch(f"{CONTACTS}/{contact_id}", json={"title": "x"}, headers=wrong), 422)


async def test_a_deleted_contact_is_removed_and_audited(client, admin, tenant, other_tenant):
    contact_id = (await add_line(admin, tenant))["contacts"]
    theirs = (await add_line(admin, other_tenant))["contacts"]
    assert (await client.delete(f"{CONTACTS}/{contact_id}")).status_code == 204
    is_problem(await client.delete(f"{CONTACTS}/{contact_id}"), 404)
    for ask in (client.delete(f"{CONTACTS}/{theirs}"), client.patch(f"{CONTACTS}/{theirs}", json={"title": "x"})):
        is_problem(await ask, 404)
    row = await admin.fetchrow("SELECT subject, before FROM audit WHERE action = 'delete'")
    assert row["subject"] == f"contact {contact_id}"
    assert json.loads(row["before"])["email"] == "anna@molar.fi"
    assert await admin.fetchval("SELECT count(*) FROM contact") == 1


async def test_two_contacts_are_merged_without_loss(client, admin, tenant, other_tenant):
    keep, other = (await add_line(admin, tenant))["contacts"], (await add_line(admin, tenant, "zahn"))["contacts"]
    await admin.execute("UPDATE contact SET curation_status = 'Selected', email = NULL WHERE id = $1", UUID(keep))
    await admin.execute(
        "UPDATE contact SET phone = '+358401234567', name = 'A. Molar', profiles = '{\"x\": \"https://x.example/a\"}' "
        "WHERE id = $1",
        UUID(other),
    )
    kept = (await client.post(f"{CONTACTS}/merge", json={"keep": keep, "merge": other})).json()
    assert (kept["name"], kept["email"], kept["phone"]) == ("Anna Molar", "anna@zahn.fi", "+358401234567")
    assert (kept["curation_status"], kept["profiles"]) == ("Selected", {"x": "https://x.example/a"})
    merged = (await client.get(f"{CONTACTS}/{other}")).json()
    assert (merged["curation_status"], merged["merged_into_id"], merged["name"]) == ("Archived", keep, "A. Molar")
    after = json.loads(await admin.fetchval("SELECT after FROM audit WHERE action = 'merge'"))
    assert after["merged"]["merged_into_id"] == keep
    is_problem(await client.post(f"{CONTACTS}/merge", json={"keep": keep, "merge": other}), 422)
    is_problem(await client.post(f"{CONTACTS}/merge", json={"keep": keep, "merge": keep}), 422)
    theirs = (await add_line(admin, other_tenant))["contacts"]
    is_problem(await client.post(f"{CONTACTS}/merge", json={"keep": keep, "merge": theirs}), 404)


async def test_a_contact_that_is_new_takes_the_curation_status_of_the_other(client, admin, tenant):
    keep, other = (await add_line(admin, tenant))["contacts"], (await add_line(admin, tenant, "zahn"))["contacts"]
    await admin.execute("UPDATE contact SET curation_status = 'Not a Fit' WHERE id = $1", UUID(other))
    kept = (await client.post(f"{CONTACTS}/merge", json={"keep": keep, "merge": other})).json()
    assert kept["curation_status"] == "Not a Fit"


async def test_duplicates_are_listed_in_groups(client, admin, tenant, other_tenant):
    for number in range(3):
        for name in ("molar", "zahn", "single")[: 3 if number == 0 else 2]:
            await add(
                admin,
                "contact",
                tenant,
                identity=f"{number}:{name}",
                email=f"{name}@example.com",
                phone="+358401234567",
            )
    await add(admin, "contact", other_tenant, identity="1", email="single@example.com")
    groups, cursor = [], ""
    while cursor is not None:
        page = (await client.get(f"{CONTACTS}/duplicates?limit=1{cursor and f'&cursor={cursor}'}")).json()
        groups += page["items"]
        cursor = page["next_cursor"]
    assert [(group["value"], group["contacts"]) for group in groups] == [
        ("molar@example.com", 3),
        ("zahn@example.com", 3),
    ]
    assert {contact["email"] for contact in groups[0]["items"]} == {"molar@example.com"}
    [group] = (await client.get(f"{CONTACTS}/duplicates?by=phone")).json()["items"]
    assert (group["value"], group["contacts"]) == ("+358401234567", 7)
    is_problem(await client.get(f"{CONTACTS}/duplicates?by=name"), 422)
    is_problem(await client.get(f"{CONTACTS}/duplicates?cursor=nonsense"), 400)


async def test_a_new_contact_can_be_queued_for_verification(client, admin):
    for wish, status in ((True, "Queued"), (False, "New")):
        new = {"email": f"{status.lower()}@molar.fi", "auto_queue": wish}
        assert (await client.post(CONTACTS, json=new)).json()["contact_verification_status"] == status


async def test_contacts_are_listed_by_their_verdict(client, admin, tenant):
    contact_id = (await add_line(admin, tenant))["contacts"]
    await add(admin, "contact", tenant, identity="b", email="b@molar.fi", verdict="risky")
    found = {"verdict": "deliverable", "reasons": ["its domain takes mail"]}
    judge = "UPDATE contact SET verdict = 'deliverable', verification = $2 WHERE id = $1"
    await admin.execute(judge, UUID(contact_id), json.dumps(found))
    listed = (await client.get(CONTACTS, params={"verdict": "deliverable"})).json()["items"]
    assert [(row["id"], row["verdict"]) for row in listed] == [(contact_id, "deliverable")]
    assert (await client.get(f"{CONTACTS}/{contact_id}")).json()["verification"] == found
    is_problem(await client.get(CONTACTS, params={"verdict": "perhaps"}), 422)


async def test_a_changed_email_address_clears_the_verdict_and_is_verified_again(client, admin, tenant):
    contact_id = (await add_line(admin, tenant))["contacts"]
    verified = "UPDATE contact SET verdict = 'risky', verification = '{}', contact_verification_status = 'Completed'"
    await admin.execute(verified)
    kept = (await client.patch(f"{CONTACTS}/{contact_id}", json={"title": "Dentist"})).json()
    assert (kept["verdict"], kept["contact_verification_status"]) == ("risky", "Completed")
    changed = (await client.patch(f"{CONTACTS}/{contact_id}", json={"email": "new@molar.fi"})).json()
    assert (changed["verdict"], changed["contact_verification_status"]) == (None, "Queued")


async def test_a_merged_email_address_keeps_its_verdict(client, admin, tenant):
    keep = (await client.post(CONTACTS, json={"name": "Eva"})).json()["id"]
    other = (await client.post(CONTACTS, json={"email": "eva@molar.fi"})).json()["id"]
    await admin.execute("UPDATE contact SET verdict = 'deliverable', verification = '{}' WHERE email IS NOT NULL")
    merged = (await client.post(f"{CONTACTS}/merge", json={"keep": keep, "merge": other})).json()
    assert (merged["email"], merged["verdict"]) == ("eva@molar.fi", "deliverable")


async def test_imported_contacts_can_be_queued_for_verification(client, admin):
    table = b"email\neva@molar.fi\nbo@molar.fi\n"
    told = await client.post(
        "/api/v3/imports/contacts",
        content=table,
        headers={"content-type": "text/csv"},
        params={"auto_queue": "true", "name": "list.csv"},
    )
    assert told.json()["queued"] == 2
    assert await admin.fetchval("SELECT count(*) FROM contact WHERE contact_verification_status = 'Queued'") == 2


async def test_a_created_contact_equals_one_found_on_a_page_or_in_a_file(client, admin, tenant):
    ids = await add_line(admin, tenant)
    made = (await client.post(CONTACTS, json={"email": "info@molar.fi"})).json()
    assert (made["domain_id"], made["email_kind"]) == (ids["domains"], "role")
    new = (await client.post(CONTACTS, json={"email": "eva@www.tandem-clinic.fi"})).json()
    assert (await client.get(f"/api/v3/domains/{new['domain_id']}")).json()["name"] == "tandem-clinic.fi"
    assert new["email_kind"] == "personal"
    report = (await client.post(f"{CONTACTS}/submit", json={"items": [{"email": "eva@www.tandem-clinic.fi"}]})).json()
    assert (report["created"], report["failed"]) == (0, 0)
    free = (await client.post(CONTACTS, json={"email": "eva@gmail.com"})).json()
    assert (free["domain_id"], free["email_kind"]) == (None, "free-mail")
    of_page = (await client.post(CONTACTS, json={"email": "bo@elsewhere.fi", "page_id": ids["pages"]})).json()
    assert (of_page["domain_id"], of_page["email_kind"]) == (ids["domains"], "other-domain")


async def test_an_email_address_that_the_domain_has_already_is_a_conflict(client, admin, tenant):
    anna = (await add_line(admin, tenant))["contacts"]
    bo = (await client.post(CONTACTS, json={"email": "bo@molar.fi"})).json()["id"]
    problem = is_problem(await client.patch(f"{CONTACTS}/{bo}", json={"email": "anna@molar.fi"}), 409)
    assert (problem["id"], problem["detail"]) == (anna, "Merge the two, or give another address.")
    changed = (await client.patch(f"{CONTACTS}/{bo}", json={"email": "office@gmail.com"})).json()
    assert changed["email_kind"] == "free-mail"
