"""Sites that show nothing to a plain reader: by their home page, else by most of their pages; never with a contact."""

from uuid import UUID

from tests.factories.line_rows import add, add_line

from scrapersky.store.leads.read import leads
from scrapersky.store.line import hidden_sites


async def read(database, tenant, ids):
    async with database.session(tenant) as session:
        [row] = [row async for row in leads(session, ids["searches"])]
        return row["hidden"], await hidden_sites.of_search(session, UUID(str(ids["searches"])))


async def test_the_home_page_gives_the_reason_else_most_pages(database, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("DELETE FROM contact")
    assert await read(database, tenant, ids) == (None, {})
    for number, reason in enumerate(("login", "consent", "consent")):
        url = f"https://molar.fi/{number}"
        await add(admin, "page", tenant, domain_id=UUID(ids["domains"]), url=url, hidden_reason=reason)
    assert await read(database, tenant, ids) == ("consent", {"consent": 1})
    await admin.execute("UPDATE domain SET hidden_reason = 'javascript'")
    assert await read(database, tenant, ids) == ("javascript", {"javascript": 1})


async def test_a_site_with_a_contact_of_its_own_is_not_hidden(database, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE domain SET hidden_reason = 'javascript'")
    await admin.execute("UPDATE contact SET found_by = 'provider'")
    assert (await read(database, tenant, ids))[0] == "javascript"
    await admin.execute("UPDATE contact SET found_by = 'mailto'")
    assert await read(database, tenant, ids) == (None, {})


async def test_all_tenants_are_counted_by_reason(database, admin, tenant):
    await add_line(admin, tenant)
    await admin.execute("UPDATE domain SET hidden_reason = 'parked'")
    async with database.engine_session() as session:
        counts = await hidden_sites.of_all_tenants(session)
    assert (counts["parked"], counts["login"]) == (1, 0)
