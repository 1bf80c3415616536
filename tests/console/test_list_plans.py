"""The lists of deliveries, jobs, suppressions and changes stay quick when there is much: each is read from an index."""

import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.dialects import postgresql

from scrapersky.models import Audit
from scrapersky.store.audit.log import AuditSelection
from scrapersky.store.audit.log import matching as matching_changes
from scrapersky.store.listing.paginate import matching
from scrapersky.store.listing.resources import DELIVERIES, JOBS, PAGES, SUPPRESSIONS
from tests.api.line.test_list_plans import rows_read
from tests.factories.line_rows import add, add_line

ROWS = 20_000
SERIES = f"FROM generate_series(1, {ROWS}) n"
TIME = "now() - n * interval '1 second'"
FILL = (
    f"INSERT INTO contact (tenant_id, identity, updated_at) SELECT $1, n::text, {TIME} {SERIES}",
    "INSERT INTO delivery (tenant_id, destination_id, contact_id, delivery_status, updated_at) "
    "SELECT $1, (SELECT id FROM destination WHERE name = CASE WHEN identity::int % 5000 = 1 THEN 'rare' ELSE 'crm' "
    "END), id, CASE identity::int % 4000 WHEN 1 THEN 'Queued' WHEN 2 THEN 'Error' ELSE 'Completed' END, updated_at "
    "FROM contact",
    "INSERT INTO job (tenant_id, kind, parameters, updated_at) "
    f"SELECT $1, CASE WHEN n % 5000 = 0 THEN 'import' ELSE 'sitemap_scan' END, '{{}}', {TIME} {SERIES}",
    "INSERT INTO suppression (tenant_id, kind, value, value_hash, origin, updated_at) "
    f"SELECT $1, CASE WHEN n % 5000 = 0 THEN 'phone' ELSE 'email' END, n::text, n::text, 'person', {TIME} {SERIES}",
    "INSERT INTO audit (tenant_id, actor, origin, action, subject, at) SELECT $1, CASE WHEN n % 5000 = 0 THEN 'eve' "
    "ELSE 'ada' END, CASE WHEN n % 5000 = 1 THEN 'cli' ELSE 'console x' END, CASE WHEN n % 5000 = 2 THEN 'erase' "
    f"ELSE 'curate' END, CASE WHEN n % 5000 = 3 THEN 'rare' ELSE 'places' END, {TIME} {SERIES}",
)
LISTS: tuple[Any, ...] = (
    (DELIVERIES, {}, "delivery_by_update"),
    (DELIVERIES, {"delivery_status": "Queued"}, "delivery_queued"),
    (DELIVERIES, {"delivery_status": "Error"}, "delivery_delivery_outcome"),
    (DELIVERIES, {"destination_id": "rare"}, "destination"),
    (JOBS, {}, "job_by_update"),
    (JOBS, {"kind": "import"}, "job_by_kind"),
    (SUPPRESSIONS, {}, "suppression_by_update"),
    (SUPPRESSIONS, {"kind": "phone"}, "suppression_by_kind"),
    (SUPPRESSIONS, {"text": "1999"}, "suppression_by_prefix"),
)
NOW = datetime(2020, 1, 1, tzinfo=UTC)
CHANGES = (
    (AuditSelection(), "audit_by_time"),
    (AuditSelection(actor="eve"), "audit_by_actor"),
    (AuditSelection(actions=["erase"]), "audit_by_action"),
    (AuditSelection(subject="rare"), "audit_by_subject"),
    (AuditSelection(channel="cli"), "audit_by_channel"),
    (AuditSelection(actor="ada", until=NOW), "audit_by_actor"),
)


@pytest.fixture
async def filled(admin, tenant):
    """Many rows of each; the id of a destination that is seldom used."""
    made = [await add(admin, "destination", tenant, name=name, kind="webhook") for name in ("crm", "rare")]
    for statement in FILL:
        await admin.execute(statement, tenant)
    await admin.execute("VACUUM ANALYZE delivery, job, suppression, audit")
    return made[1]


async def test_every_list_and_sparse_filter_is_read_from_its_index(database, tenant, filled):
    asked = []
    for noun, filters, index in LISTS:
        chosen = {name: filled if value == "rare" else value for name, value in filters.items()}
        rows = matching(select(noun.model.id), noun, tenant, chosen)
        asked.append((rows.order_by(noun.model.updated_at.desc(), noun.model.id.desc()), index))
    for selection, index in CHANGES:
        rows = matching_changes(select(Audit.id), tenant, selection)
        asked.append((rows.order_by(Audit.at.desc(), Audit.id.desc()), index))
    async with database.session(tenant) as session:
        connection = await session.connection()
        for wanted, index in asked:
            compiled = wanted.limit(51).compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
            statement = str(compiled)
            found = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {statement}")
            plan = "\n".join(row[0] for row in found)
            assert index in plan, f"{statement}\n{plan}"
            assert "Seq Scan" not in plan, plan
            assert rows_read(plan) < 200, plan


OTHERS = """
WITH site AS (INSERT INTO domain (tenant_id, name) VALUES ($1, 'others.fi') RETURNING id)
INSERT INTO page (tenant_id, domain_id, url, page_processing_status, page_processing_error)
SELECT $1, site.id, 'https://others.fi/' || n, 'Skipped', 'others.fi answers 403 Forbidden.'
FROM site, generate_series(1, 20000) n"""
OWN = """
INSERT INTO page (tenant_id, domain_id, url, page_processing_status, page_processing_error)
SELECT $1, $2, 'https://molar.fi/' || n, 'Skipped', 'molar.fi answers 403 Forbidden.' FROM generate_series(1, 20) n"""


async def test_the_rows_of_a_reason_cost_what_the_rows_of_their_search_do(database, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute(OTHERS, tenant)
    await admin.execute(OWN, tenant, UUID(ids["domains"]))
    await admin.execute("VACUUM ANALYZE page, domain, search_domain")
    chosen = {"search_id": ids["searches"], "page_processing_error": "a site answers 403 Forbidden."}
    rows = matching(select(PAGES.model.id), PAGES, tenant, chosen)
    statement = str(rows.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True}))
    async with database.session(tenant) as session:
        found = await (await session.connection()).exec_driver_sql(
            f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {statement.replace('%%', '%')}"
        )
        plan = "\n".join(row[0] for row in found)
    assert "Seq Scan on page" not in plan, plan
    assert rows_read(plan) < 200, plan
    assert re.search(r"rows=20(\.00)? ", plan.splitlines()[0]), plan
