"""What is kept for a time by setting: the audit, jobs that are over, answers that were remembered, old quotas."""

import asyncpg

from scrapersky.core.database import ACT_AS_TENANT
from scrapersky.core.settings import Settings
from scrapersky.engine.maintenance import Periodic

ROWS_AT_ONCE = 5_000

# Nobody but the engine may delete from the audit.
_AUDIT = """
DELETE FROM audit WHERE id IN (
    SELECT id FROM audit WHERE tenant_id = $1 AND at < now() - $2::int * interval '1 day' ORDER BY at, id LIMIT $3)"""
_AUDIT_OF_NOBODY = """
DELETE FROM audit WHERE id IN (
    SELECT id FROM audit WHERE tenant_id IS NULL AND at < now() - $1::int * interval '1 day' ORDER BY at LIMIT $2)"""
# A job that is over was written to for the last time when it ended.
_JOBS = """
DELETE FROM job WHERE id IN (
    SELECT id FROM job WHERE tenant_id = $1 AND updated_at < now() - $2::int * interval '1 day'
        AND state NOT IN ('pending', 'processing') ORDER BY updated_at LIMIT $3)"""
_ANSWERS = """
DELETE FROM remembered_answer WHERE (tenant_id, key) IN (
    SELECT tenant_id, key FROM remembered_answer WHERE tenant_id = $1 AND created_at < now() - interval '24 hours'
    LIMIT $2)"""
_BOOK = "DELETE FROM quota_book WHERE tenant_id = $1 AND day < now() - interval '400 days'"


class PruneAudit(Periodic):
    """The audit is kept for SCRAPERSKY_AUDIT_RETENTION_DAYS, and the book of quotas for a little more than a year."""

    name = "prune_audit"
    interval_minutes = 60

    def __init__(self, settings: Settings) -> None:
        self._days = settings.audit_retention_days

    async def run(self, connection: asyncpg.Connection) -> str:
        """Tenant by tenant, in bites."""
        pruned = 0
        for tenant in await connection.fetch("SELECT id FROM tenant"):
            while count := _count(await connection.execute(_AUDIT, tenant["id"], self._days, ROWS_AT_ONCE)):
                pruned += count
            await connection.execute(_BOOK, tenant["id"])
        while count := _count(await connection.execute(_AUDIT_OF_NOBODY, self._days, ROWS_AT_ONCE)):
            pruned += count
        return f"{pruned} changes older than {self._days} days forgotten"


class PruneJobs(Periodic):
    """Jobs that are over are kept for SCRAPERSKY_JOB_RETENTION_DAYS, answers to repeated requests for a day."""

    name = "prune_jobs"
    interval_minutes = 60

    def __init__(self, settings: Settings) -> None:
        self._days = settings.job_retention_days

    async def run(self, connection: asyncpg.Connection) -> str:
        """Tenant by tenant, as that tenant, in bites."""
        jobs = answers = 0
        for tenant in await connection.fetch("SELECT id FROM tenant"):
            while count := await _as_tenant(connection, tenant["id"], _JOBS, self._days, ROWS_AT_ONCE):
                jobs += count
            while count := await _as_tenant(connection, tenant["id"], _ANSWERS, ROWS_AT_ONCE):
                answers += count
        return f"{jobs} jobs older than {self._days} days and {answers} answers forgotten"


async def _as_tenant(connection: asyncpg.Connection, tenant_id: object, statement: str, *values: int) -> int:
    async with connection.transaction():
        await connection.execute(ACT_AS_TENANT, str(tenant_id))
        return _count(await connection.execute(statement, tenant_id, *values))


def _count(told: str) -> int:
    return int(told.split()[-1])
