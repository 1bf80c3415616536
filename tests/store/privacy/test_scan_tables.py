"""The scan of all tables for a person: it reads every row of the tenant, however long that takes."""

from uuid import UUID

from sqlalchemy import text
from tests.factories.line_rows import add_line

from scrapersky.store.privacy import scan_tables
from scrapersky.store.privacy.identify import PersonQuery, identify


async def test_the_time_limit_of_requests_does_not_end_a_scan(database, tenant):
    async with database.session(tenant) as session:
        subject = await identify(session, tenant, PersonQuery(email="anna@molar.fi"))
        before = await session.scalar(text("SHOW statement_timeout"))
        assert await scan_tables.mentions(session, tenant, subject) == []
        after = await session.scalar(text("SHOW statement_timeout"))
    assert before != "0"
    assert after == "0"
    async with database.session(tenant) as session:
        assert await session.scalar(text("SHOW statement_timeout")) == before


async def test_a_table_is_read_in_parts_and_every_row_once(database, admin, tenant, monkeypatch):
    monkeypatch.setattr(scan_tables, "CHUNK_ROWS", 3)
    line = await add_line(admin, tenant)
    await admin.execute(
        "INSERT INTO page (tenant_id, domain_id, url) SELECT $1, $2, 'https://molar.fi/anna@molar.fi/' || n "
        "FROM generate_series(1, 10) n",
        *(tenant, UUID(line["domains"])),
    )
    async with database.session(tenant) as session:
        subject = await identify(session, tenant, PersonQuery(email="anna@molar.fi"))
        found = [one.key for one in await scan_tables.mentions(session, tenant, subject) if one.table == "page"]
    assert len(found) == len(set(found)) == 10
