"""No file and no delivery holds anybody who is suppressed; lists show them, marked."""

from uuid import UUID

import pytest
from tests.factories.line_rows import add, add_line

from scrapersky.core.vocabularies import WebsiteHow
from scrapersky.extract.site_results import SiteFacts
from scrapersky.extract.site_search.proof import WantedBusiness, prove
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries import deliveries
from scrapersky.store.leads.read import Position, leads, page
from scrapersky.store.listing import export as exports
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.paginate import Sort
from scrapersky.store.listing.resources import BUSINESSES, CONTACTS, DOMAINS, PAGES, PLACES

BAD = ("anna@molar.fi", "+358401111111", "+358402222222")


@pytest.fixture
async def ids(admin, tenant):
    """A business whose every way is suppressed, and beside it one good address and one good number."""
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE local_business SET phone = '+358402222222'")
    await admin.execute("UPDATE contact SET profiles = $1, address = 'Hidden street 1'", '{"x": "https://x.com/anna"}')
    await admin.execute(
        "UPDATE domain SET facts = $1",
        '{"emails": ["anna@molar.fi"], "phones": ["+358401111111"], "https": true}',
    )
    for identity, column, value in (
        ("p", "phone", "+358401111111"),
        ("e", "email", "info@molar.fi"),
        ("q", "phone", "+358403333333"),
    ):
        row = await add(admin, "contact", tenant, domain_id=ids["domains"], identity=identity, **{column: value})
        ids[identity] = row
    for kind, value in (("email", BAD[0]), ("phone", BAD[1]), ("phone", BAD[2])):
        await admin.execute(
            "INSERT INTO suppression (tenant_id, kind, value, value_hash) "
            "VALUES ($1, $2, $3, encode(sha256(convert_to($3, 'UTF8')), 'hex'))",
            tenant,
            kind,
            value,
        )
    await admin.execute("UPDATE contact SET suppressed_at = suppressed_at")
    assert await admin.fetchval("SELECT count(*) FROM contact WHERE suppressed_at IS NOT NULL") == 2
    return ids


@pytest.mark.parametrize("per", ["business", "contact"])
async def test_leads_hold_nobody_who_is_suppressed(database, tenant, ids, per):
    async with database.session(tenant) as session:
        found = [row async for row in leads(session, ids["searches"], per)]
        listed = [row for row, _ in await page(session, ids["searches"], per, Position(), 100)]
    for rows in (found, listed):
        text = str(rows)
        assert not [way for way in (*BAD, "Anna Molar", "x.com/anna", "Hidden street") if way in text]
        assert "info@molar.fi" in text
        assert ("+358403333333" in text) == (per == "business"), "a bare number is not a contact of its own"


async def test_exports_hold_nobody_who_is_suppressed_and_lists_mark_them(database, tenant, ids):
    async with database.session(tenant) as session:
        contacts = [row async for row in exports.rows(session, CONTACTS, tenant, {})]
        asked_for = [row async for row in exports.rows(session, CONTACTS, tenant, {"suppressed": True})]
        domains = [row async for row in exports.rows(session, DOMAINS, tenant, {})]
        listed = await lists.page(session, CONTACTS, tenant, ["id", "email", "suppressed_at"], {}, sort=Sort())
    assert sorted(row["email"] or row["phone"] for row in contacts) == ["+358403333333", "info@molar.fi"]
    assert asked_for == []
    assert '"https": true' in domains[0]["facts"]
    assert not [way for way in BAD if way in str(contacts + domains)]
    assert sum(row.suppressed_at is not None for row, _ in listed) == 2


async def suppress_point(admin, tenant, kind: str, value: str) -> None:
    await admin.execute(
        "INSERT INTO suppression (tenant_id, kind, value, value_hash) VALUES ($1, $2, $3, sha256_hex($3))",
        *(tenant, kind, value),
    )


@pytest.fixture
async def people(admin, tenant):
    """A site with Anna, who is on two pages, Bo, who shares a number with her, and the numbers of both."""
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE contact SET name = 'Anna Molar', phone = '+358401111111'")
    for identity, columns in {
        "person:anna": {"name": "Dr. Anna Molar", "title": "Chief Dentist", "phone": "+358402222222"},
        "person:bo": {"name": "Bo Root", "phone": "+358401111111", "snippet": "Bo Root and Anna Molar"},
        "phone:shared": {"phone": "+358401111111"},
        "phone:hers": {"phone": "+358402222222"},
        "phone:free": {"phone": "+358403333333"},
    }.items():
        await add(admin, "contact", tenant, domain_id=ids["domains"], identity=identity, **columns)
    return ids


async def outputs(database, tenant, search) -> str:
    async with database.session(tenant) as session:
        rows = [row async for row in leads(session, search, "business")]
        rows += [row async for row in leads(session, search, "contact")]
        for resource in (CONTACTS, DOMAINS, BUSINESSES, PLACES, PAGES):
            rows += [row async for row in exports.rows(session, resource, tenant, {})]
    return str(rows)


async def test_a_suppressed_address_withholds_its_person_on_every_page_and_the_numbers_only_they_have(
    database, admin, tenant, people
):
    await suppress_point(admin, tenant, "email", "anna@molar.fi")
    text = await outputs(database, tenant, people["searches"])
    assert not [one for one in ("Anna Molar", "Chief Dentist", "+358402222222", "anna@molar.fi") if one in text]
    assert "Bo Root" in text
    assert "+358401111111" in text, "Bo has this number, too"
    assert "+358403333333" in text
    await admin.execute("DELETE FROM suppression")
    assert "Chief Dentist" in await outputs(database, tenant, people["searches"])


@pytest.mark.parametrize(
    ("name", "latin"),
    [
        ("Molar, Anna", None),
        ("Änna Mólar", None),
        ("Anna-Molar", None),
        ("A. Molar", None),
        ("Anna Maria Molar", None),
        ("Prof. Anna Molar", None),
        ("Анна Молар", "Anna Molar"),
    ],
)
async def test_a_suppressed_person_is_withheld_under_other_forms_of_the_name(
    database, admin, tenant, people, name, latin
):
    columns = {"name": name, "name_latin": latin, "phone": "+358405550000", "title": "Hygienist"}
    await add(admin, "contact", tenant, domain_id=people["domains"], identity="other", **columns)
    assert "Hygienist" in await outputs(database, tenant, people["searches"])
    await suppress_point(admin, tenant, "email", "anna@molar.fi")
    text = await outputs(database, tenant, people["searches"])
    assert not [one for one in ("Hygienist", "+358405550000") if one in text]


@pytest.mark.parametrize("name", ["Anna Root", "A. Root", "M. Root", "Bo Anna Root"])
async def test_people_who_share_a_word_of_their_name_with_a_suppressed_one_stay(database, admin, tenant, people, name):
    columns = {"name": name, "title": "Hygienist"}
    await add(admin, "contact", tenant, domain_id=people["domains"], identity="other", **columns)
    await suppress_point(admin, tenant, "email", "anna@molar.fi")
    assert "Hygienist" in await outputs(database, tenant, people["searches"])


@pytest.mark.parametrize("website", ["https://user@WWW.Molar.FI:8080/x?y", "molar.fi", "http://shop.molar.fi."])
async def test_a_suppressed_domain_withholds_places_and_businesses_whose_domain_is_not_known_yet(
    database, admin, tenant, people, website
):
    await admin.execute("DELETE FROM business_domain")
    await admin.execute("DELETE FROM contact")
    await admin.execute("UPDATE local_business SET name = 'Molar & Co', website = $1, phone = '+358402222222'", website)
    await admin.execute("UPDATE place SET name = 'Molar & Co', website = $1, phone = '+358402222222'", website)
    business = await admin.fetchval("SELECT id FROM local_business")
    contact = await add(admin, "contact", tenant, business_id=business, identity="phone:1", phone="+358402222222")
    await suppress_point(admin, tenant, "domain", "tmolar.fi")
    assert (await outputs(database, tenant, people["searches"])).count("Molar & Co") >= 3
    await suppress_point(admin, tenant, "domain", "molar.fi")
    text = await outputs(database, tenant, people["searches"])
    assert not [one for one in ("Molar & Co", "+358402222222") if one in text]
    destination = await add(admin, "destination", tenant, kind="webhook", name="CRM")
    async with database.session(tenant) as session:
        sent = await deliveries.send(session, Actor("ada", tenant, "admin", "test"), UUID(destination), [UUID(contact)])
    assert (sent.queued, sent.suppressed) == (0, 1)
    await admin.execute("DELETE FROM local_business")
    assert "Molar & Co" not in await outputs(database, tenant, people["searches"]), "a place without a business"


async def test_the_number_of_a_business_is_withheld_if_only_suppressed_people_have_it(database, admin, tenant, people):
    await admin.execute("UPDATE local_business SET phone = '+358402222222'")
    assert "'phone': '+358402222222'" in await outputs(database, tenant, people["searches"])
    await suppress_point(admin, tenant, "email", "anna@molar.fi")
    assert "+358402222222" not in await outputs(database, tenant, people["searches"])


async def test_a_suppressed_domain_withholds_its_people_its_numbers_and_its_business(database, admin, tenant, people):
    await admin.execute("UPDATE local_business SET phone = '+35891234567'")
    await suppress_point(admin, tenant, "domain", "molar.fi")
    assert await admin.fetchval("SELECT bool_and(suppressed_at IS NOT NULL) FROM contact")
    text = await outputs(database, tenant, people["searches"])
    assert not [one for one in ("Anna", "Bo Root", "+358", "molar.fi") if one in text]
    await add(admin, "contact", tenant, domain_id=people["domains"], identity="new", name="New Person")
    assert "New Person" not in await outputs(database, tenant, people["searches"]), "a page that is read later"
    await admin.execute("DELETE FROM suppression")
    assert "New Person" in await outputs(database, tenant, people["searches"])


async def test_contacts_that_get_a_suppressed_domain_later_are_suppressed(database, admin, tenant, people):
    await suppress_point(admin, tenant, "domain", "molar.fi")
    lone = await add(admin, "contact", tenant, identity="phone:lone", phone="+358409999999")
    await admin.execute("UPDATE contact SET domain_id = $2 WHERE id = $1", UUID(lone), UUID(people["domains"]))
    assert await admin.fetchval("SELECT suppressed_at FROM contact WHERE id = $1", UUID(lone))


async def test_a_person_is_withheld_if_an_address_of_a_merged_contact_is_suppressed(database, admin, tenant, people):
    mailbox = await add(
        admin, "contact", tenant, domain_id=people["domains"], identity="second", email="second@molar.fi"
    )
    free = UUID(await admin.fetchval("SELECT id::text FROM contact WHERE identity = 'person:bo'"))
    await admin.execute(
        "UPDATE contact SET merged_into_id = $2, curation_status = 'Archived' WHERE id = $1", UUID(mailbox), free
    )
    await admin.execute("UPDATE contact SET phone = '+358405555555' WHERE id = $1", free)
    await admin.execute("UPDATE local_business SET phone = '+358405555555'")
    assert "Bo Root" in await outputs(database, tenant, people["searches"])
    await suppress_point(admin, tenant, "email", "second@molar.fi")
    text = await outputs(database, tenant, people["searches"])
    assert not [one for one in ("Bo Root", "+358405555555") if one in text]
    assert "Anna Molar" in text


async def test_the_proof_of_a_web_site_and_rejected_sites_name_nothing_that_is_suppressed(
    database, admin, tenant, people
):
    facts = SiteFacts("https://molar.fi/", ("molar",), frozenset({"+358402222222"}))
    proof = prove(facts, WantedBusiness("Molar", "+358402222222"), "molar.fi", WebsiteHow.NAME)
    assert proof is not None
    await admin.execute(
        "UPDATE local_business SET phone = '+358402222222', website_proof = $1, rejected_websites = $2",
        proof.reason,
        ["https://www.root.fi/x", "root.fi", "kept.fi"],
    )
    await suppress_point(admin, tenant, "phone", "+358402222222")
    await suppress_point(admin, tenant, "domain", "root.fi")
    text = await outputs(database, tenant, people["searches"])
    assert not [one for one in ("+358402222222", "root.fi") if one in text]
    assert "kept.fi" in text
