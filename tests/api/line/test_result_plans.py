"""The results of a large search are read page by page from an index: the last page costs what the first one does."""

import re
from uuid import UUID

from scrapersky.store.leads.statements import page_statements
from tests.api.line.test_list_plans import rows_read
from tests.factories.line_rows import add

ROWS = 20_000
MIDDLE = UUID(int=2**128 // 3)

FILL = """
WITH business AS (
    INSERT INTO local_business (id, tenant_id, search_id, name)
    SELECT gen_random_uuid(), $1, $2, 'b' || n FROM generate_series(1, {rows}) n RETURNING id, name
), site AS (
    INSERT INTO domain (id, tenant_id, search_id, name)
    SELECT gen_random_uuid(), $1, $2, name || '.fi' FROM business RETURNING id, name
), link AS (
    INSERT INTO business_domain (business_id, domain_id, tenant_id)
    SELECT b.id, s.id, $1 FROM business b JOIN site s ON s.name = b.name || '.fi'
), alone AS (
    INSERT INTO contact (tenant_id, business_id, identity, phone) SELECT $1, id, 'phone:' || name, name FROM business
)
INSERT INTO contact (tenant_id, domain_id, identity, email)
SELECT $1, id, 'email:' || n, n || '@' || name FROM site, generate_series(1, 2) n"""
SITES = """
INSERT INTO domain (id, tenant_id, search_id, name)
SELECT gen_random_uuid(), $1, $2, 'alone' || n || '.fi' FROM generate_series(1, {rows}) n"""

PARTS = [
    ("of businesses", "business", 0),
    ("of sites", "business", 1),
    ("of businesses", "contact", 0),
    ("of businesses", "contact", 1),
]


async def test_a_later_page_reads_only_its_own_rows(database, admin, tenant):
    searches = {name: await add(admin, "search", tenant, text=name, provider="fake") for name, *_ in PARTS[:2]}
    for name, fill in (("of businesses", FILL), ("of sites", SITES)):
        await admin.execute(fill.format(rows=ROWS), tenant, UUID(searches[name]))
    await admin.execute("VACUUM ANALYZE place, local_business, domain, business_domain, contact")
    await admin.execute("VACUUM ANALYZE search_business, search_domain")
    for name, per, part in PARTS:
        plan = await explain(database, tenant, page_statements(per)[part], searches[name])
        assert not re.search("Seq Scan on (search_\\w+|local_business|domain|business_domain|contact)", plan), plan
        assert rows_read(plan) < 500, plan


async def explain(database, tenant, statement, search):
    """The plan of a page in the middle of the list, as the tenant."""
    written = str(statement)
    for name, value in {"key": MIDDLE, "subkey": MIDDLE}.items():
        written = written.replace(f":{name}", f"'{value}'::uuid")
    written = written.replace(":searches", f"'{{{search}}}'")
    async with database.session(tenant) as session:
        connection = await session.connection()
        rows = await connection.exec_driver_sql(
            f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {written.replace(':max_rows', '51')}"
        )
        return "\n".join(row[0] for row in rows)
