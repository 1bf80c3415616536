"""Filters of leads choose rows and, where they are about contacts, the contacts of a row; each is declared once."""

import re
from uuid import UUID

import pytest
from tests.architecture.rules import ROOT
from tests.factories.line_rows import add, add_line

from scrapersky.store.leads.exported import recorded_leads
from scrapersky.store.leads.filters import LEAD_FILTERS
from scrapersky.store.leads.read import LeadQuery, Position, RepeatedColumn, chosen_columns, leads, page, parse_sort

DAY = "2026-11-15T00:00:00+00:00"


@pytest.fixture
async def search(admin, tenant):
    """Molar in Helsinki has an owner, a hygienist and a mailbox; Canine in Turku has a number of the provider only."""
    molar = await add_line(admin, tenant)
    await admin.execute("DELETE FROM contact")
    await admin.execute(
        "UPDATE local_business SET city = 'Helsinki', country = 'FI', rating = 4.6, categories = '{dental_clinic}'"
    )
    await admin.execute("UPDATE domain SET technologies = '{WordPress}', language = 'fi'")
    for name, values in {
        "Olga Owner": {"title": "Owner", "email": "olga@molar.fi", "verdict": "deliverable", "email_kind": "personal"},
        "Hanna Hygienist": {"title": "Hygienist", "email": "hanna@molar.fi", "verdict": "risky"},
        None: {"email": "info@molar.fi", "verdict": "unknown", "email_kind": "role"},
    }.items():
        row = {"domain_id": UUID(molar["domains"]), "identity": values["email"], "name": name, **values}
        await add(admin, "contact", tenant, **row)
    await add(admin, "contact", tenant, domain_id=UUID(molar["domains"]), identity="phone:1", phone="+358912345678")
    canine = await add(
        admin,
        "local_business",
        tenant,
        search_id=UUID(molar["searches"]),
        name="Canine",
        city="Turku",
        country="FI",
        categories=["amenity=dentist"],
        phone="+358222222222",
    )
    await add(admin, "contact", tenant, business_id=UUID(canine), identity="phone:2", phone="+358222222222")
    await admin.execute("UPDATE contact SET created_at = $1::text::timestamptz", "2026-11-14T12:00:00+00:00")
    await admin.execute(
        "UPDATE contact SET created_at = $1::text::timestamptz WHERE email = 'info@molar.fi'",
        "2026-11-16T12:00:00+00:00",
    )
    return UUID(molar["searches"])


@pytest.mark.parametrize(
    ("filters", "businesses", "contacts"),
    [
        ({}, ["Canine:None", "Molar Dental:olga"], ["hanna", "info", "olga"]),
        ({"has_email": True}, ["Molar Dental:olga"], ["hanna", "info", "olga"]),
        ({"has_email": False}, ["Canine:None"], []),
        ({"has_phone": True}, ["Canine:None", "Molar Dental:olga"], []),
        ({"verdict": ["risky"]}, ["Molar Dental:hanna"], ["hanna"]),
        ({"verdict": ["risky", "unknown"]}, ["Molar Dental:info"], ["hanna", "info"]),
        ({"email_kind": ["role"]}, ["Molar Dental:info"], ["info"]),
        ({"person": ["HYG", "nobody"]}, ["Molar Dental:hanna"], ["hanna"]),
        ({"person": ["%"]}, [], []),
        ({"title": ["hygien"]}, ["Molar Dental:hanna"], ["hanna"]),
        ({"title": ["owner"], "verdict": ["risky"]}, [], []),
        ({"found_since": DAY}, ["Molar Dental:info"], ["info"]),
        ({"country": ["SE", "fi"]}, ["Canine:None", "Molar Dental:olga"], ["hanna", "info", "olga"]),
        ({"city": ["turku"]}, ["Canine:None"], []),
        ({"city": ["HELSINKI"], "min_rating": 4.5}, ["Molar Dental:olga"], ["hanna", "info", "olga"]),
        ({"category": ["dentist"]}, ["Canine:None"], []),
        ({"category": ["dental clinic"]}, ["Molar Dental:olga"], ["hanna", "info", "olga"]),
        ({"min_rating": 4.7}, [], []),
        ({"min_rating": 4.6, "max_rating": 4.6}, ["Molar Dental:olga"], ["hanna", "info", "olga"]),
        ({"max_rating": 4.5}, [], []),
        ({"technology": ["wordpress"], "language": ["fi"]}, ["Molar Dental:olga"], ["hanna", "info", "olga"]),
        ({"language": ["sv"]}, [], []),
        ({"delivered": False}, ["Canine:None", "Molar Dental:olga"], ["hanna", "info", "olga"]),
        ({"delivered": True}, [], []),
    ],
)
async def test_a_filter_chooses_the_rows_of_files_and_lists(database, tenant, search, filters, businesses, contacts):
    assert await shown(database, tenant, LeadQuery((search,), filters=filters)) == businesses
    assert await shown(database, tenant, LeadQuery((search,), "contact", filters=filters)) == contacts


async def shown(database, tenant, query):
    """The rows of a file, which are those of the list page by page."""
    async with database.session(tenant) as session:
        file = [row async for row in leads(session, query)]
        listed, after = [], Position()
        while found := await page(session, query, query.per, after, 1):
            listed.append(found[0][0])
            after = found[0][1]
    named = [sorted(_name(row, query.per) for row in rows) for rows in (file, listed)]
    assert named[0] == named[1]
    return named[0]


def _name(row, per):
    address = str(row["email"]).partition("@")[0]
    return address if per == "contact" else f"{row['business']}:{address}"


async def test_a_filter_of_contacts_keeps_the_numbers_of_the_business(database, tenant, search):
    async with database.session(tenant) as session:
        [row] = [row async for row in leads(session, LeadQuery((search,), filters={"title": ["owner"]}))]
    assert (row["email"], row["phone"], row["other_emails"]) == ("olga@molar.fi", "+358912345678", "")


async def test_the_best_contact_matches_the_filters_also_without_an_address(database, admin, tenant, search):
    await admin.execute("UPDATE contact SET email = NULL, verdict = NULL WHERE email LIKE 'hanna%'")
    async with database.session(tenant) as session:
        [row] = [row async for row in leads(session, LeadQuery((search,), filters={"title": ["hygien"]}))]
    assert (row["person"], row["title"], row["email"]) == ("Hanna Hygienist", "Hygienist", None)
    assert (row["phone"], row["other_people"]) == ("+358912345678", None), "the number of the business stays"
    assert row["why"] == "No address is known. Main number."


async def test_several_searches_give_each_business_once(database, admin, tenant, search):
    again = UUID(await add(admin, "search", tenant, text="teeth", provider="fake"))
    await admin.execute(
        "INSERT INTO search_business (search_id, business_id, tenant_id) "
        "SELECT $1, business_id, tenant_id FROM search_business",
        again,
    )
    both, filters = (search, again), {"city": ["Helsinki"]}
    assert len(await shown(database, tenant, LeadQuery(both))) == 2
    assert len(await shown(database, tenant, LeadQuery(both, filters=filters))) == 1
    assert len(await shown(database, tenant, LeadQuery(both, "contact"))) == 3
    assert len(await shown(database, tenant, LeadQuery(both, "contact", filters=filters))) == 3


async def test_leads_that_were_in_a_file_can_be_left_out(database, tenant, search):
    only_new = LeadQuery((search,), filters={"exported": False})
    for query in (only_new, LeadQuery((search,), "contact", filters={"exported": False})):
        async with database.session(tenant) as session:
            taken = [row async for row in recorded_leads(session, query, "leads.csv")]
        assert taken
        assert await shown(database, tenant, query) == []
    assert len(await shown(database, tenant, LeadQuery((search,), filters={"exported": True}))) == 2


async def test_what_was_delivered_can_be_left_out(database, admin, tenant, search):
    destination = UUID(await add(admin, "destination", tenant, kind="webhook", name="CRM"))
    contact = await admin.fetchval("SELECT id FROM contact WHERE email = 'info@molar.fi'")
    await admin.execute(
        "INSERT INTO delivery (tenant_id, destination_id, contact_id, delivered_at) VALUES ($1, $2, $3, now())",
        *(tenant, destination, contact),
    )
    filters = {"delivered": False}
    assert await shown(database, tenant, LeadQuery((search,), filters=filters)) == ["Canine:None"]
    assert await shown(database, tenant, LeadQuery((search,), "contact", filters=filters)) == ["hanna", "olga"]


async def test_a_file_can_be_sorted(database, tenant, search):
    for sort, first in ((("-city",), "Canine"), (("city",), "Molar Dental"), (("-rating", "city"), "Molar Dental")):
        async with database.session(tenant) as session:
            rows = [row async for row in leads(session, LeadQuery((search,), sort=sort))]
        assert rows[0]["business"] == first, sort
    async with database.session(tenant) as session:
        query = LeadQuery((search,), "contact", sort=("-email",))
        assert [row["email"][:4] async for row in leads(session, query)] == ["olga", "info", "hann"]


def test_columns_are_named_in_any_case():
    assert chosen_columns("business", "Email, CITY,own_Website", ["own_Website"]) == ["email", "city", "own_Website"]
    assert chosen_columns("business", "website,Website", ["Website"]) == ["website", "Website"]
    assert parse_sort("business", "-Rating,City") == ("-rating", "city")
    with pytest.raises(RepeatedColumn, match="'city' is named twice"):
        parse_sort("business", "City,-city")


def test_the_page_about_leads_lists_every_filter():
    page = (ROOT / "docs" / "leads.md").read_text()
    for each in LEAD_FILTERS.values():
        option = each.options.partition("/")[2] or f"--{each.name.replace('_', '-')}"
        assert re.search(rf"\| `{option}`[^|]*\| `{each.name}` \|", page), each.name
