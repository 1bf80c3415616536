"""The best address of a business: one that takes mail before one that does not, then a person's before a role's."""

import json
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.dialects.postgresql.asyncpg import AsyncAdapt_asyncpg_ss_cursor
from tests.factories.line_rows import add as add_row
from tests.factories.line_rows import add_line

from scrapersky.store.leads import read
from scrapersky.store.leads.read import Position, leads, page
from scrapersky.store.searches.results import contact_counts


async def rows(database, tenant, search_id, per="business"):
    async with database.session(tenant) as session:
        return [row async for row in leads(session, search_id, per)]


@pytest.fixture
async def search_id(admin, tenant):
    return (await add_line(admin, tenant))["searches"]


async def add(admin, tenant, email: str, verdict: str | None, **more) -> None:
    told = json.dumps({"reasons": ["first", "second"]}) if verdict else None
    columns = {"identity": email, "email": email, "verdict": verdict, "verification": told, "confidence": 0.5, **more}
    places = ", ".join(f"${n}" for n in range(2, len(columns) + 2))
    await admin.execute(
        f"INSERT INTO contact (tenant_id, domain_id, {', '.join(columns)}) "
        f"VALUES ($1, (SELECT id FROM domain LIMIT 1), {places})",
        tenant,
        *columns.values(),
    )


@pytest.mark.parametrize(
    ("verdicts", "best"),
    [
        (("undeliverable", "deliverable"), "deliverable"),
        (("risky", "deliverable"), "deliverable"),
        (("risky", None), None),
        (("undeliverable", "risky"), "risky"),
        (("unknown", "risky"), "unknown"),
    ],
)
async def test_the_better_verdict_wins_over_the_surer_find(database, admin, tenant, search_id, verdicts, best):
    await admin.execute("DELETE FROM contact")
    for number, verdict in enumerate(verdicts):
        await add(admin, tenant, f"{verdict}@molar.fi", verdict, confidence=0.9 - number / 2)
    [row] = await rows(database, tenant, search_id)
    assert (row["email"], row["verdict"]) == (f"{best}@molar.fi", best)
    assert row["verdict_reasons"] == ("first; second" if best else None)
    [other] = {f"{verdict}@molar.fi" for verdict in verdicts} - {row["email"]}
    assert row["other_emails"] == other


async def test_among_equals_a_person_comes_before_a_role(database, admin, tenant, search_id):
    await admin.execute("DELETE FROM contact")
    await add(admin, tenant, "info@molar.fi", "deliverable", confidence=0.9)
    await add(admin, tenant, "eva@molar.fi", "deliverable", name="Eva")
    [row] = await rows(database, tenant, search_id)
    assert row["email"] == "eva@molar.fi"


async def test_a_row_per_contact_has_its_verdict(database, admin, tenant, search_id):
    await admin.execute("DELETE FROM contact")
    await add(admin, tenant, "info@molar.fi", "risky")
    [row] = await rows(database, tenant, search_id, "contact")
    assert (row["email"], row["verdict"], row["verdict_reasons"]) == ("info@molar.fi", "risky", "first; second")


async def test_a_row_per_contact_is_a_person_or_a_mailbox_and_no_fact(database, admin, tenant, search_id):
    await admin.execute("DELETE FROM contact")
    await add(admin, tenant, "info@molar.fi", "deliverable")
    await add(admin, tenant, "old@molar.fi", "deliverable", curation_status="Not a Fit")
    domain_id = await admin.fetchval("SELECT id FROM domain")
    facts = {"phone": "+358961234567", "fax": "+358961234568", "address": "Kaivokatu 1", "name": "Eva Molar"}
    for column, value in facts.items():
        await add_row(admin, "contact", tenant, domain_id=domain_id, identity=f"{column}:1", **{column: value})
    await add_row(
        admin, "contact", tenant, domain_id=domain_id, identity="social:1", profiles='{"x": "https://x.com/m"}'
    )
    found = await rows(database, tenant, search_id, "contact")
    assert {(row["name"], row["email"]) for row in found} == {(None, "info@molar.fi"), ("Eva Molar", None)}
    async with database.session(tenant) as session:
        assert len(await page(session, search_id, "contact", Position(), 50)) == len(found)
        counts = await contact_counts(session, search_id)
    assert counts["emails"] == sum(row["email"] is not None for row in found)
    assert counts["people"] == sum(row["name"] is not None for row in found)


async def test_an_address_of_a_person_is_no_second_row_as_a_mailbox(database, admin, tenant, search_id):
    await admin.execute("DELETE FROM contact")
    await add(admin, tenant, "info@molar.fi", "deliverable")
    await add(admin, tenant, "info@molar.fi", "deliverable", identity="name:eva", name="Eva Molar")
    [row] = await rows(database, tenant, search_id, "contact")
    assert (row["name"], row["email"]) == ("Eva Molar", "info@molar.fi")
    await admin.execute("UPDATE contact SET curation_status = 'Not a Fit' WHERE name IS NOT NULL")
    [row] = await rows(database, tenant, search_id, "contact")
    assert (row["name"], row["email"]) == (None, "info@molar.fi"), "a rejected person does not hide the mailbox"


@pytest.mark.parametrize("per", ["business", "contact"])
async def test_a_file_is_read_in_parts(database, admin, tenant, search_id, monkeypatch, per):
    for number in range(3):
        await add(admin, tenant, f"{number}@molar.fi", "deliverable", name=f"P {number}")
        await add_row(admin, "local_business", tenant, search_id=UUID(search_id), name=f"B {number}")
    sizes = []
    fetch = AsyncAdapt_asyncpg_ss_cursor.fetchmany

    def fetched(self, size=None):
        rows = fetch(self, size)
        sizes.append(len(rows))
        return rows

    def fetch_all(self):
        raise AssertionError("all rows of a file were read at once")

    monkeypatch.setattr(AsyncAdapt_asyncpg_ss_cursor, "fetchmany", fetched)
    monkeypatch.setattr(AsyncAdapt_asyncpg_ss_cursor, "fetchall", fetch_all)
    monkeypatch.setattr(read, "ROWS_PER_FETCH", 2)
    assert len(await rows(database, tenant, search_id, per)) == 4
    assert 0 < max(sizes) <= 2


async def test_a_file_may_take_longer_than_other_statements_of_its_session(database, tenant, search_id):
    setting = text("SELECT current_setting('statement_timeout')")
    async with database.session(tenant) as session:
        before = await session.scalar(setting)
        found = leads(session, search_id)
        await anext(found)
        assert await session.scalar(setting) == "5min" != before
        assert [row async for row in found] == []
        assert await session.scalar(setting) == before


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("OPERATIONAL", "open"),
        ("CLOSED_TEMPORARILY", "temporarily closed"),
        ("CLOSED_PERMANENTLY", "permanently closed"),
        ("Permanently closed", "permanently closed"),
        ("FUTURE_OPENING", "future opening"),
        (None, None),
    ],
)
async def test_a_row_says_whether_the_business_is_open(database, admin, tenant, search_id, said, shown):
    await admin.execute("UPDATE local_business SET business_status = $1", said)
    [row] = await rows(database, tenant, search_id)
    assert row["status"] == shown


async def test_categories_are_in_words(database, admin, tenant, search_id):
    await admin.execute("UPDATE local_business SET categories = '{amenity=dentist,healthcare=dentist,shop=wine}'")
    [row] = await rows(database, tenant, search_id)
    assert row["categories"] == "dentist, wine shop"


async def test_further_numbers_can_be_told_apart_when_they_have_spaces(database, admin, tenant, search_id):
    for number in ("+358961234567", "+358961234568", "+358961234569"):
        await add(admin, tenant, number, None, phone=number)
    [row] = await rows(database, tenant, search_id)
    assert (row["phone"], row["other_phones"]) == ("+358961234567", "+358961234568; +358961234569")


async def test_the_person_is_the_one_whose_address_it_is(database, admin, tenant, search_id):
    await admin.execute("DELETE FROM contact")
    await add(admin, tenant, "eva@molar.fi", "deliverable", name="Eva Molar", title="Dentist")
    await add(admin, tenant, "olli@molar.fi", "risky", name="Olli Oras", title="Hygienist", confidence=0.9)
    await add(admin, tenant, "person:pia", None, name="Pia Puro", confidence=0.9)
    await admin.execute("UPDATE contact SET email = NULL WHERE identity = 'person:pia'")
    [row] = await rows(database, tenant, search_id)
    assert (row["email"], row["person"], row["title"]) == ("eva@molar.fi", "Eva Molar", "Dentist")
    assert row["other_people"] == "Olli Oras (Hygienist) <olli@molar.fi>; Pia Puro"


async def test_nobodys_name_stands_beside_an_address_that_is_not_theirs(database, admin, tenant, search_id):
    await admin.execute("DELETE FROM contact")
    await add(admin, tenant, "info@molar.fi", "deliverable")
    await add(admin, tenant, "eva@molar.fi", "undeliverable", name="Eva Molar", title="Dentist")
    [row] = await rows(database, tenant, search_id)
    assert (row["email"], row["person"], row["title"]) == ("info@molar.fi", None, None)
    assert row["other_people"] == "Eva Molar (Dentist) <eva@molar.fi>"
