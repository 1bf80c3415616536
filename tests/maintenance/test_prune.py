"""Pruning: what is kept for a limited time is deleted in chunks after it."""

import pytest

from scrapersky.engine.maintenance import run_periodic
from scrapersky.maintenance import prune
from scrapersky.maintenance.prune import PruneAudit, PruneJobs

ADD_AUDIT = (
    "INSERT INTO audit (tenant_id, at, actor, origin, action, subject) "
    "SELECT $1, now() - $2::int * interval '1 day', 'ada', 'test', 'change', 'x' FROM generate_series(1, $3::int)"
)
ADD_JOB = (
    "INSERT INTO job (tenant_id, kind, state, parameters, updated_at, finished_at) "
    "SELECT $1, 'curation', $2, '{}', now() - $3::int * interval '1 day', now() FROM generate_series(1, $4::int)"
)
ADD_ANSWER = (
    "INSERT INTO idempotency_key (tenant_id, key, request_hash, status_code, response, created_at) "
    "VALUES ($1, $2, 'x', 200, '{}', now() - $3::int * interval '1 hour')"
)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(prune, "CHUNK_ROWS", 3)


async def test_the_audit_is_kept_as_long_as_the_setting_says(database, admin, tenant, other_tenant):
    for owner in (tenant, other_tenant, None):
        await admin.execute(ADD_AUDIT, owner, 11, 7)
        await admin.execute(ADD_AUDIT, owner, 9, 2)
    await admin.execute("UPDATE retention SET days = 10 WHERE name = 'audit'")
    assert await run_periodic(PruneAudit(), database)
    kept = await admin.fetch("SELECT tenant_id, count(*) FROM audit GROUP BY 1")
    assert {tuple(row) for row in kept} == {(tenant, 2), (other_tenant, 2), (None, 2)}
    assert await admin.fetchval("SELECT result FROM maintenance WHERE name = 'prune_audit'") == (
        "deleted 14 audit entries older than 10 days, 7 audit entries without a tenant, 0 days of quota usage"
    )


async def test_finished_jobs_are_deleted_and_open_ones_stay(database, admin, tenant, other_tenant):
    for owner in (tenant, other_tenant):
        for state in ("completed", "failed", "cancelled", "pending", "processing"):
            await admin.execute(ADD_JOB, owner, state, 31, 2)
        await admin.execute(ADD_JOB, owner, "completed", 29, 1)
    assert await run_periodic(PruneJobs(), database)
    kept = await admin.fetch("SELECT state, count(*) FROM job GROUP BY 1")
    assert dict(kept) == {"pending": 4, "processing": 4, "completed": 2}


async def test_responses_of_idempotency_keys_are_kept_for_a_day(database, admin, tenant, other_tenant):
    for owner in (tenant, other_tenant):
        for number in range(5):
            await admin.execute(ADD_ANSWER, owner, f"old {number}", 25)
        await admin.execute(ADD_ANSWER, owner, "new", 23)
    assert await run_periodic(PruneJobs(), database)
    assert [row["key"] for row in await admin.fetch("SELECT key FROM idempotency_key")] == ["new", "new"]


async def test_the_usage_of_quotas_is_kept_for_400_days(database, admin, tenant):
    for days in (0, 390, 410):
        await admin.execute(
            "INSERT INTO quota_usage (tenant_id, kind, day, used) VALUES ($1, 'pages', now()::date - $2::int, 1)",
            tenant,
            days,
        )
    assert await run_periodic(PruneAudit(), database)
    assert await admin.fetchval("SELECT count(*) FROM quota_usage") == 2
