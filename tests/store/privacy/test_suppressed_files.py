"""No file and no delivery holds anybody who is suppressed; lists show them, marked."""

import pytest
from tests.factories.line_rows import add, add_line

from scrapersky.store.leads.read import Position, leads, page
from scrapersky.store.listing import export as exports
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.paginate import Sort
from scrapersky.store.listing.resources import CONTACTS, DOMAINS

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
        assert "+358403333333" in text


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
