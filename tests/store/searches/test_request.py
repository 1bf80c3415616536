"""Searches that start with web sites: a few statements add many domains; existing domains keep their status."""

from sqlalchemy import event

from scrapersky.extract.company_domain import CompanyDomain
from scrapersky.models import Search
from scrapersky.store.searches.request import add_domains


def site(name: str) -> CompanyDomain:
    return CompanyDomain(name, name, f"https://{name}/")


async def start(database, tenant, domains) -> Search:
    async with database.session(tenant) as session:
        search = Search(tenant_id=tenant, text="sites", provider="file")
        session.add(search)
        await session.flush()
        await add_domains(session, search, domains)
    return search


async def test_new_domains_are_queued_and_completed_ones_stay_completed(database, admin, tenant):
    await admin.execute(
        "INSERT INTO domain (tenant_id, name, domain_metadata_status) VALUES ($1, 'new.fi', 'New'), ($1, 'done.fi', "
        "'Completed')",
        tenant,
    )
    search = await start(database, tenant, [site("new.fi"), site("done.fi"), site("other.fi"), site("other.fi")])
    rows = await admin.fetch("SELECT name, domain_metadata_status, search_id FROM domain ORDER BY name")
    assert [tuple(row) for row in rows] == [
        ("done.fi", "Completed", search.id),
        ("new.fi", "Queued", search.id),
        ("other.fi", "Queued", search.id),
    ]


async def test_ten_thousand_domains_are_added_by_a_few_statements(database, admin, tenant):
    statements = []
    engine = database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", lambda *said: statements.append(said[2]))
    await start(database, tenant, [site(f"site-{n}.fi") for n in range(10_000)])
    assert await admin.fetchval("SELECT count(*) FROM domain WHERE domain_metadata_status = 'Queued'") == 10_000
    assert len(statements) < 10
