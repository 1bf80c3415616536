"""Lists stay quick when there is much: each sort and each sparse filter is read from an index."""

import re

from sqlalchemy import select
from sqlalchemy.dialects import postgresql

from scrapersky.store.listing.paginate import Sort, column_of, matching
from scrapersky.store.listing.resources import RESOURCES
from tests.factories.line_rows import add_line

PLACES, OTHERS = 100_000, 30_000

FILL = [
    """INSERT INTO place (tenant_id, provider, provider_id, name, updated_at)
    SELECT $1, 'fake', n::text, md5(n::text), now() - n * interval '1 second' FROM generate_series(1, {rows}) n""",
    """INSERT INTO page (tenant_id, domain_id, url, kind, page_processing_status, updated_at)
    SELECT $1, (SELECT id FROM domain LIMIT 1), 'https://molar.fi/' || md5(n::text),
        CASE WHEN n % 500 = 0 THEN 'team' ELSE 'blog' END, CASE WHEN n % 9 = 0 THEN 'Completed' ELSE 'New' END,
        now() - n * interval '1 second'
    FROM generate_series(1, {rows}) n""",
    """INSERT INTO contact (tenant_id, identity, email, name, verdict, updated_at)
    SELECT $1, n::text, md5(n::text) || '@example.com', md5((n + 1)::text),
        CASE WHEN n % 500 = 0 THEN 'risky' ELSE 'deliverable' END, now() - n * interval '1 second'
    FROM generate_series(1, {rows}) n""",
    """INSERT INTO local_business (tenant_id, name, city, country, rating, updated_at)
    SELECT $1, md5(n::text), CASE WHEN n % 500 = 0 THEN 'Espoo' ELSE 'Helsinki' END,
        CASE WHEN n % 500 = 1 THEN 'SE' ELSE 'FI' END, CASE WHEN n % 500 = 2 THEN 4.9 ELSE 3 END,
        now() - n * interval '1 second'
    FROM generate_series(1, {rows}) n""",
    """INSERT INTO domain (tenant_id, name, country, updated_at)
    SELECT $1, md5(n::text) || '.fi', CASE WHEN n % 500 = 0 THEN 'SE' ELSE 'FI' END, now() - n * interval '1 second'
    FROM generate_series(1, {rows}) n""",
]
SOON = "2200-01-01T00:00:00+00:00"
PLANS = [
    ("places", {}, "-updated_at", "place_by_update"),
    ("places", {}, "updated_at", "place_by_update"),
    ("places", {}, "id", "place_pkey"),
    ("places", {}, "-id", "place_pkey"),
    ("places", {}, "name", "place_by_name"),
    ("places", {}, "-name", "place_by_name"),
    ("places", {"text": "abcd"}, "-updated_at", "place_by_name"),
    ("places", {"curation_status": "Maybe"}, "-updated_at", "place_by_curation"),
    ("places", {"deep_scan_status": "Error"}, "-updated_at", "place_deep_scan_outcome"),
    ("pages", {}, "-updated_at", "page_by_update"),
    ("pages", {"kind": "team"}, "-updated_at", "page_by_kind"),
    ("pages", {"text": "https://molar.fi/abcd"}, "-updated_at", "page_by_prefix"),
    ("pages", {"hidden_reason": "login"}, "-updated_at", "page_by_hidden_reason"),
    ("domains", {"hidden_reason": ["login", "javascript"]}, "-updated_at", "domain_by_hidden_reason"),
    ("pages", {"page_processing_status": "Skipped"}, "-updated_at", "page_page_processing_outcome"),
    ("contacts", {}, "-updated_at", "contact_by_update"),
    ("contacts", {"email": "abcd"}, "-updated_at", "contact_by_prefix"),
    ("contacts", {"text": "abcd"}, "-updated_at", "contact_by_name"),
    ("contacts", {"text": "abcd"}, "-updated_at", "contact_by_last_name"),
    ("contacts", {}, "email", "contact_sorted_by_email"),
    ("contacts", {}, "-email", "contact_sorted_by_email"),
    ("contacts", {}, "name", "contact_by_name"),
    ("places", {"created_since": SOON}, "-updated_at", "place_by_update"),
    ("contacts", {"verdict": "risky"}, "-updated_at", "contact_by_verdict"),
    ("contacts", {"verdict": "deliverable"}, "updated_at", "contact_by_"),
    ("contacts", {"verdict": ["risky", "undeliverable"]}, "-updated_at", "contact_by_verdict"),
    ("contacts", {"updated_since": SOON}, "-updated_at", "contact_by_update"),
    ("places", {"curation_status": ["Maybe", "Archived"]}, "-updated_at", "place_by_curation"),
    ("places", {"deep_scan_status": ["Error", "Skipped"]}, "-updated_at", "place_deep_scan_outcome"),
    ("places", {"min_rating": 4.8}, "-updated_at", "place_by_rating"),
    ("places", {"updated_since": SOON}, "-updated_at", "place_by_update"),
    ("pages", {"kind": ["team", "imprint"]}, "-updated_at", "page_by_kind"),
    ("businesses", {"city": "ESPOO"}, "-updated_at", "local_business_by_city"),
    ("businesses", {"city": ["espoo", "Vantaa"]}, "-updated_at", "local_business_by_city"),
    ("businesses", {"city": "Helsinki"}, "-updated_at", "local_business_by_"),
    ("businesses", {"country": "SE"}, "-updated_at", "local_business_by_country"),
    ("businesses", {"country": ["SE", "NO"]}, "-updated_at", "local_business_by_country"),
    ("businesses", {"min_rating": 4.8}, "-updated_at", "local_business_by_rating"),
    ("domains", {"country": "SE"}, "-updated_at", "domain_by_country"),
]


async def test_every_sort_and_sparse_filter_is_read_from_its_index(database, admin, tenant):
    await add_line(admin, tenant)
    for statement in FILL:
        rows = PLACES if "INTO place" in statement else OTHERS
        await admin.execute(statement.format(rows=rows), tenant)
    await admin.execute("VACUUM ANALYZE place, page, contact, local_business, domain")
    for name, filters, sort, index in PLANS:
        plan = await explain(database, tenant, name, filters, sort)
        assert index in plan, f"{name} {filters} {sort}\n{plan}"
        assert "Seq Scan" not in plan, plan
        assert rows_read(plan) < 500, plan


async def explain(database, tenant, name, filters, sort):
    """The plan of a page in the middle of the list, as the tenant."""
    noun, order = RESOURCES[name], Sort(sort.removeprefix("-"), sort.startswith("-"))
    key = getattr(noun.model, column_of(noun, order))
    wanted = matching(select(noun.model.id, key), noun, tenant, filters)
    columns = (key.desc(), noun.model.id.desc()) if order.descending else (key, noun.model.id)
    statement = (
        wanted.order_by(*columns)
        .limit(51)
        .compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
    )
    async with database.session(tenant) as session:
        connection = await session.connection()
        rows = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {statement}")
        return "\n".join(row[0] for row in rows)


def rows_read(plan):
    """Rows that the scans touched: those they gave and those they threw away."""
    given = [float(number) for number in re.findall(r"actual rows=([\d.]+)", plan)]
    thrown = [int(number) for number in re.findall(r"Rows Removed by (?:Filter|Index Recheck): (\d+)", plan)]
    return max(given) + sum(thrown)
