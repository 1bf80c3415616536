"""Contacts that were not confirmed for a long time are deleted; contacts that are seen again stay."""

import json
from uuid import UUID

from scrapersky.actions.imports import run as imports
from scrapersky.actions.imports.run import ImportRequest
from scrapersky.engine.maintenance import run_periodic
from scrapersky.extract.results import Contacts, Email
from scrapersky.extract.tabular.rows import read_objects
from scrapersky.maintenance.expire_contacts import ExpireContacts
from scrapersky.models import Page
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts import edit as contact_edits
from scrapersky.store.contacts import upsert as contacts
from tests.factories.line_rows import add, add_line

OLD = "UPDATE contact SET seen_at = now() - interval '100 days'"
NINETY_DAYS = "UPDATE retention SET days = 90 WHERE name = 'contacts'"


async def left(admin) -> list[str]:
    return sorted(row["email"] for row in await admin.fetch("SELECT email FROM contact"))


async def test_by_default_contacts_are_kept(database, admin, tenant):
    await add_line(admin, tenant)
    await admin.execute(OLD)
    await run_periodic(ExpireContacts(), database)
    assert await left(admin) == ["anna@molar.fi"]


async def test_old_contacts_and_their_copies_on_the_domain_are_deleted(database, admin, tenant, other_tenant):
    line = await add_line(admin, tenant)
    await add_line(admin, other_tenant, "root")
    facts = {"emails": ["anna@molar.fi", "bo@molar.fi"], "phones": ["+35891234567"], "https": True}
    await admin.execute("UPDATE domain SET facts = $1 WHERE id = $2", json.dumps(facts), UUID(line["domains"]))
    await admin.execute(
        "INSERT INTO contact (tenant_id, identity, email) "
        "SELECT $1, n::text, n || '@x.fi' FROM generate_series(1, 700) n",
        tenant,
    )
    await admin.execute(OLD)
    await add(admin, "contact", tenant, identity="new", email="new@molar.fi")
    held = await add(admin, "contact", tenant, identity="held", email="held@molar.fi")
    await admin.execute(
        "UPDATE contact SET seen_at = '2020-01-01', contact_verification_status = 'Processing', "
        "contact_verification_due_at = now() + interval '1 hour' WHERE id = $1",
        UUID(held),
    )
    await admin.execute(NINETY_DAYS)
    await run_periodic(ExpireContacts(), database)
    assert await left(admin) == ["held@molar.fi", "new@molar.fi"], "a row in flight is left for the next run"
    kept = json.loads(await admin.fetchval("SELECT facts FROM domain WHERE id = $1", UUID(line["domains"])))
    assert kept == {"emails": ["bo@molar.fi"], "phones": ["+35891234567"], "https": True}
    result = await admin.fetchval("SELECT result FROM maintenance WHERE name = 'expire_contacts'")
    assert result == "deleted 702 contacts not seen for 90 days"


async def test_a_contact_that_is_seen_again_is_confirmed(database, admin, tenant):
    line, actor = await add_line(admin, tenant), Actor("tester", tenant, "admin", "test")
    contact_id = UUID(line["contacts"])

    async def is_fresh() -> bool:
        fresh = await admin.fetchval("SELECT seen_at > now() - interval '1 day' FROM contact WHERE id = $1", contact_id)
        await admin.execute(OLD)
        return bool(fresh)

    await admin.execute(OLD)
    async with database.session(tenant) as session:
        page = await session.get(Page, UUID(line["pages"]))
        found = Contacts(emails=(Email("anna@molar.fi", "personal", "text", "", 0.9),))
        await contacts.upsert(session, [contacts.PageContacts(page, page.url, found)])
    assert await is_fresh(), "on a page"
    async with database.session(tenant) as session:
        await contacts.confirm(session, [UUID(line["pages"])])
    assert await is_fresh(), "on a page that has not changed"
    rows = read_objects([{"email": "anna@molar.fi", "domain": "molar.fi"}])
    await imports.run(database, actor, ImportRequest("contacts", "people.csv"), rows)
    assert await is_fresh(), "in a file"
    async with database.session(tenant) as session:
        await contact_edits.change(session, actor, contact_id, {"title": "Boss"}, None)
    assert await is_fresh(), "by a person"
    await admin.execute("UPDATE contact SET curation_status = 'Maybe', updated_at = now()")
    assert not await is_fresh(), "a curation decision does not confirm"
