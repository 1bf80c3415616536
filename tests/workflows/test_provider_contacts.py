"""What a provider knows of ways to reach a business is a contact of it, once, whoever says it again."""

import json
from dataclasses import replace
from typing import Any

import pytest

from scrapersky.core import clock
from scrapersky.engine.loop import run_job_loop
from scrapersky.extract.results import Contacts, Email
from scrapersky.maintenance.expire_provider_data import ExpireProviderData
from scrapersky.models import Page
from scrapersky.pipeline import build_pipeline
from scrapersky.providers.base import PlaceDetails
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts import upsert as contacts
from scrapersky.store.contacts.upsert import PageContacts
from scrapersky.store.deliveries import deliveries
from scrapersky.store.deliveries.rules import checked_rule
from scrapersky.store.leads.read import Position, leads, page
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.lineage import related_rows
from scrapersky.store.listing.paginate import Sort
from scrapersky.store.listing.resources import CONTACTS
from scrapersky.store.searches import progress, results
from tests.conftest import processors_of
from tests.factories.line_rows import add
from tests.workflows.test_deep_scan import FakeProvider

KNOWN = {
    "emails": ["info@molar.fi"],
    "phones": ["+358401234567"],
    "socials": ["https://www.facebook.com/molar"],
}
MOLAR = PlaceDetails("fake", "p1", "Molar", country="FI", phone="+358961314720", licence="ODbL", extra=KNOWN)
WITH_SITE = replace(MOLAR, website="https://molar.fi/")


@pytest.fixture
def walk(database, settings, admin, tenant):
    """Scan the places of one search; further steps of the line by name."""

    async def walked(*found: PlaceDetails, steps: tuple[str, ...] = ("deep_scan",)) -> str:
        search = await admin.fetchval("SELECT id FROM search") or await add(
            admin, "search", tenant, text="x", provider="fake"
        )
        for details in found:
            await admin.execute(
                "INSERT INTO place (tenant_id, search_id, provider, provider_id, name, deep_scan_status) "
                "VALUES ($1, $2, 'fake', $3, 'n', 'Queued') "
                "ON CONFLICT (tenant_id, provider, provider_id) DO UPDATE SET deep_scan_status = 'Queued'",
                *(tenant, search, details.provider_id),
            )
            fake: Any = {"fake": FakeProvider(details)}
            line = build_pipeline(fake)
            await run_job_loop(processors_of(line, database, settings)["deep_scan"])
        for step in steps[1:]:
            await run_job_loop(processors_of(line, database, settings)[step])
        return search

    return walked


async def the_file(database, tenant, search, per="business"):
    async with database.session(tenant) as session:
        found = [row async for row in leads(session, search, per)]
        listed = [row for row, _ in await page(session, search, per, Position(), 100)]
    assert sorted(map(str, listed)) == sorted(map(str, found))
    return found


async def test_a_business_without_a_web_site_can_be_written_to(walk, database, admin, tenant):
    search = await walk(MOLAR, steps=("deep_scan", "domain_extraction"))
    [row] = await the_file(database, tenant, search)
    assert (row["email"], row["source"], row["state"]) == ("info@molar.fi", "fake:p1", None)
    assert (row["phone"], row["other_phones"]) == ("+358961314720", "+358401234567")
    assert (row["socials"], row["person"]) == ("https://www.facebook.com/molar", None)
    each = await the_file(database, tenant, search, "contact")
    assert {(one["business"], one["found_by"], one["snippet"]) for one in each} == {
        ("Molar", "provider", "named by fake (ODbL)")
    }
    assert len(each) == 1, "a number and a profile are no rows of their own"
    statuses = await admin.fetch("SELECT contact_verification_status AS s FROM contact ORDER BY email")
    assert [row["s"] for row in statuses] == ["Queued", "New", "New", "New"], "an address is verified like any other"


async def test_contacts_of_a_provider_are_in_lists_counts_and_provenance(walk, database, admin, tenant):
    search = await walk(MOLAR)
    business = await admin.fetchval("SELECT id FROM local_business")
    async with database.session(tenant) as session:
        listed = await lists.page(session, CONTACTS, tenant, ["id"], {"search_id": search}, sort=Sort())
        counts = await results.contact_counts(session, search)
        steps = {step.workflow: step for step in await progress.progress(session, search)}
        kin = await related_rows(session, "businesses", business)
        verdicts = await results.verdicts(session, search)
    assert (len(listed), counts["contacts"], counts["emails"], len(kin["contacts"].rows)) == (4, 4, 1, 4)
    assert (counts["phones"], counts["people"]) == (2, 0)
    assert steps["contact_verification"].waiting == 1
    assert verdicts == {"info@molar.fi": None}


async def test_a_business_with_a_phone_number_alone_is_delivered(walk, database, admin, tenant):
    destination = await admin.fetchval(
        "INSERT INTO destination (tenant_id, kind, name, rule) VALUES ($1, 'webhook', 'CRM', $2) RETURNING id",
        *(tenant, json.dumps(checked_rule({"auto": True, "phone_only": True, "curation": ["New"]}))),
    )
    search = await walk(replace(MOLAR, extra={}), steps=("deep_scan",))
    [row] = await the_file(database, tenant, search)
    assert (row["phone"], row["source"], row["state"]) == (MOLAR.phone, "fake:p1", "no web site yet")
    assert await the_file(database, tenant, search, "contact") == [], "a number alone is not a row"
    [queued] = await admin.fetch("SELECT destination_id, contact_id FROM delivery WHERE delivery_status = 'Queued'")
    assert (queued["destination_id"], str(queued["contact_id"])) == (destination, row["contact_id"])
    async with database.session(tenant) as session:
        counts = await deliveries.send(
            session, Actor("test", tenant, "admin", "test"), destination, [row["contact_id"]]
        )
    assert (counts.found, counts.already, counts.unreachable) == (1, 1, 0)


async def test_a_number_of_the_provider_hides_no_reason_for_a_site_without_contacts(walk, database, admin, tenant):
    search = await walk(replace(WITH_SITE, extra={}), steps=("deep_scan", "domain_extraction"))
    await admin.execute("UPDATE domain SET domain_metadata_status = 'Skipped', domain_metadata_error = 'refused'")
    await admin.execute("UPDATE contact SET curation_status = 'Not a Fit'")
    [row] = await the_file(database, tenant, search)
    assert (row["phone"], row["state"]) == (MOLAR.phone, "refused")


async def test_two_businesses_may_have_the_same_address(walk, database, tenant):
    search = await walk(MOLAR, replace(MOLAR, provider_id="p2", name="Incisor"))
    assert {(row["business"], row["email"]) for row in await the_file(database, tenant, search)} == {
        ("Molar", "info@molar.fi"),
        ("Incisor", "info@molar.fi"),
    }


async def test_contacts_of_a_provider_get_their_domain_when_it_is_known(walk, database, admin, tenant):
    search = await walk(WITH_SITE, steps=("deep_scan", "domain_extraction"))
    domain = await admin.fetchval("SELECT id FROM domain")
    found = await admin.fetch("SELECT domain_id, identity, email_kind FROM contact ORDER BY identity")
    assert {row["domain_id"] for row in found} == {domain}
    assert [row["identity"] for row in found] == [
        "email:info@molar.fi",
        "phone:+358401234567",
        "phone:+358961314720",
        "social:https://www.facebook.com/molar",
    ]
    assert found[0]["email_kind"] == "role"
    [row] = await the_file(database, tenant, search)
    assert (row["email"], row["domain"]) == ("info@molar.fi", "molar.fi")


async def test_branches_that_share_a_site_share_an_address_and_prefer_their_own(walk, database, admin, tenant):
    branches = [
        replace(WITH_SITE, provider_id=name, name=name, extra={"emails": ["info@molar.fi", f"{name}@molar.fi"]})
        for name in ("espoo", "vantaa")
    ]
    search = await walk(*branches, steps=("deep_scan", "domain_extraction"))
    await admin.execute("UPDATE contact SET confidence = 0.1 WHERE email = 'info@molar.fi'")
    rows = {row["business"]: row for row in await the_file(database, tenant, search)}
    assert {name: row["email"] for name, row in rows.items()} == {
        "espoo": "espoo@molar.fi",
        "vantaa": "vantaa@molar.fi",
    }
    assert await admin.fetchval("SELECT count(*) FROM contact WHERE curation_status = 'New'") == 4
    assert {row["phone"] for row in rows.values()} == {MOLAR.phone}


async def say(database, tenant, admin, address: str) -> None:
    """A page of the site says an address."""
    page_id = await add(
        admin, "page", tenant, domain_id=await admin.fetchval("SELECT id FROM domain"), url="https://molar.fi/team"
    )
    said = Contacts(emails=(Email(address, "role", "text", "Write to us", 0.3),))
    async with database.session(tenant) as session:
        await contacts.upsert(session, [PageContacts(await session.get(Page, page_id), "https://molar.fi/team", said)])


async def test_an_address_that_the_site_says_too_is_one_contact_with_the_sites_evidence(walk, database, admin, tenant):
    await walk(WITH_SITE, steps=("deep_scan", "domain_extraction"))
    await say(database, tenant, admin, "info@molar.fi")
    await walk(WITH_SITE)
    [found] = await admin.fetch("SELECT * FROM contact WHERE email = 'info@molar.fi'")
    assert (found["source_url"], found["found_by"], found["snippet"]) == (
        "https://molar.fi/team",
        "text",
        "Write to us",
    )
    assert found["business_id"] == await admin.fetchval("SELECT id FROM local_business")


async def test_a_contact_that_the_site_named_first_is_not_added_by_the_provider(walk, database, admin, tenant):
    await add(admin, "domain", tenant, name="molar.fi")
    await say(database, tenant, admin, "info@molar.fi")
    await walk(WITH_SITE, steps=("deep_scan", "domain_extraction"))
    shown = await admin.fetch("SELECT found_by FROM contact WHERE email = 'info@molar.fi' AND curation_status = 'New'")
    assert [row["found_by"] for row in shown] == ["text"]


async def test_a_second_scan_adds_no_contact_twice(walk, admin):
    await walk(MOLAR)
    await admin.execute("UPDATE contact SET seen_at = now() - interval '400 days', curation_status = 'Maybe'")
    await walk(MOLAR)
    found = await admin.fetch("SELECT seen_at, curation_status FROM contact")
    assert {row["curation_status"] for row in found} == {"Maybe"}
    assert len(found) == 4
    assert all((clock.now() - row["seen_at"]).days == 0 for row in found)


async def test_suppressed_and_erased_contacts_of_a_provider_are_withheld(walk, database, admin, tenant):
    for value, origin in (("info@molar.fi", "person"), ("+358401234567", "erasure"), ("+358961314720", "erasure")):
        await admin.execute(
            "INSERT INTO suppression (tenant_id, kind, value_hash, origin) VALUES ($1, $2, sha256_hex($3), $4)",
            *(tenant, "email" if "@" in value else "phone", value, origin),
        )
    search = await walk(MOLAR)
    assert await admin.fetchval("SELECT count(*) FROM contact WHERE phone IS NOT NULL OR identity LIKE 'phone:%'") == 0
    mail = await admin.fetchrow("SELECT * FROM contact WHERE email IS NOT NULL")
    assert mail["suppressed_at"] is not None
    assert mail["contact_verification_status"] == "New"
    for per in ("business", "contact"):
        assert "info@molar.fi" not in str(await the_file(database, tenant, search, per))


async def test_contacts_of_a_provider_expire_by_its_terms_and_those_of_the_site_stay(walk, database, admin, tenant):
    await walk(WITH_SITE, steps=("deep_scan", "domain_extraction"))
    await say(database, tenant, admin, "info@molar.fi")
    await admin.execute("UPDATE place SET expires_at = now() - interval '1 day'")
    async with database.engine_connection() as connection:
        await ExpireProviderData().run(connection)
    assert [row["identity"] for row in await admin.fetch("SELECT identity FROM contact")] == ["email:info@molar.fi"]


async def test_a_permanently_closed_business_gets_no_contacts(walk, admin):
    await walk(replace(MOLAR, business_status="CLOSED_PERMANENTLY"))
    assert await admin.fetchval("SELECT count(*) FROM contact") == 0
