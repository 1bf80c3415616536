"""Pruning: rows past their retention are deleted in chunks, each chunk in its own transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import asyncpg

from scrapersky.core.database import ACT_AS_TENANT
from scrapersky.engine.maintenance import Periodic, retention_days

CHUNK_ROWS = 5_000
MAX_BODY_CACHE_BYTES = 256_000_000


@dataclass(frozen=True)
class Deletion:
    """A statement that deletes one chunk of rows; it is repeated until it deletes none.

    With `retention`, the days of that kind of rows are the first parameter after the tenant, and fill `{days}` in
    `rows`; 0 days keep the rows.
    """

    rows: str  # what is deleted, for the report
    statement: str
    values: tuple[Any, ...] = ()
    by_tenant: bool = False  # repeated for every tenant, whose id is the first parameter
    retention: str | None = None


class Prune(Periodic):
    """Deletes rows. `as_tenant` runs every statement with the privileges of its tenant instead of the engine's."""

    as_tenant: ClassVar[bool] = False

    def __init__(self, *deletions: Deletion) -> None:
        self._deletions = deletions

    async def run(self, connection: asyncpg.Connection) -> str:
        """Delete in chunks; return how many rows were deleted."""
        tenants = [row["id"] for row in await connection.fetch("SELECT id FROM tenant")]
        reports = []
        for deletion in self._deletions:
            days = await retention_days(connection, deletion.retention) if deletion.retention else None
            owners: Sequence[tuple[Any, ...]] = [(tenant_id,) for tenant_id in tenants] if deletion.by_tenant else [()]
            deleted = 0
            for owner in owners if days != 0 else ():
                values = (*owner, *(() if days is None else (days,)), *deletion.values)
                while count := await self._delete_chunk(connection, deletion.statement, values):
                    deleted += count
            reports.append(f"{deleted} {deletion.rows.format(days=days)}")
        return f"deleted {', '.join(reports)}"

    async def _delete_chunk(self, connection: asyncpg.Connection, statement: str, values: tuple[Any, ...]) -> int:
        async with connection.transaction():
            if self.as_tenant:
                await connection.execute(ACT_AS_TENANT, str(values[0]))
            status = await connection.execute(statement, *values)
        return int(status.split()[-1])


_HOST_LIMITS = """
DELETE FROM host_limit WHERE host IN (
    SELECT host FROM host_limit WHERE next_allowed_at < now() - interval '1 hour' LIMIT $1)"""
# A bucket that was not used for a day is full again, and so is a bucket without a row.
_RATE_LIMITS = """
DELETE FROM rate_limit WHERE key IN (
    SELECT key FROM rate_limit WHERE refilled_at < now() - interval '1 day' LIMIT $1)"""
_RESPONSES = """
DELETE FROM provider_response WHERE request_hash IN (
    SELECT request_hash FROM provider_response WHERE expires_at <= now() ORDER BY expires_at LIMIT 1000
    FOR UPDATE SKIP LOCKED)"""
# Expired bodies, and the oldest beyond the maximum size of all.
_BODIES = """
DELETE FROM fetched_body WHERE url_hash IN (
    SELECT url_hash FROM fetched_body WHERE url_hash IN (
        SELECT url_hash FROM (
            SELECT url_hash, expires_at, sum(size_bytes) OVER (ORDER BY expires_at DESC, url_hash) AS so_far
            FROM fetched_body) kept
        WHERE so_far > $1 OR expires_at <= now() LIMIT 1000)
    FOR UPDATE SKIP LOCKED)"""
_SESSIONS = """
DELETE FROM session WHERE id IN (
    SELECT id FROM session WHERE expires_at < now() - interval '30 days' LIMIT $1)"""
_INVITATIONS = "DELETE FROM invitation WHERE expires_at < now() - interval '30 days'"
_AUDIT = """
DELETE FROM audit WHERE id IN (
    SELECT id FROM audit WHERE tenant_id = $1 AND at < now() - $2::int * interval '1 day' ORDER BY at, id LIMIT $3)"""
_AUDIT_WITHOUT_TENANT = """
DELETE FROM audit WHERE id IN (
    SELECT id FROM audit WHERE tenant_id IS NULL AND at < now() - $1::int * interval '1 day' ORDER BY at LIMIT $2)"""
_QUOTA_USAGE = "DELETE FROM quota_usage WHERE tenant_id = $1 AND day < now() - interval '400 days'"
# The last write to a finished job was its end.
_JOBS = """
DELETE FROM job WHERE id IN (
    SELECT id FROM job WHERE tenant_id = $1 AND updated_at < now() - $2::int * interval '1 day'
        AND state NOT IN ('pending', 'processing') ORDER BY updated_at LIMIT $3)"""
_IDEMPOTENT_RESPONSES = """
DELETE FROM idempotency_key WHERE (tenant_id, key) IN (
    SELECT tenant_id, key FROM idempotency_key WHERE tenant_id = $1 AND created_at < now() - interval '24 hours'
    LIMIT $2)"""

_CURATION_CHANGES = """
DELETE FROM curation_change WHERE id IN (
    SELECT c.id FROM curation_action a JOIN curation_change c ON c.action_id = a.id
    WHERE a.tenant_id = $1 AND a.created_at < now() - interval '24 hours' LIMIT $2)"""
_CURATION_ACTIONS = """
DELETE FROM curation_action WHERE id IN (
    SELECT id FROM curation_action WHERE tenant_id = $1 AND created_at < now() - interval '24 hours' LIMIT $2)"""


class PruneHostLimits(Prune):
    """Deletes the limits of hosts that were not visited for an hour."""

    name = "prune_host_limits"
    interval_minutes = 30

    def __init__(self) -> None:
        super().__init__(Deletion("host limits", _HOST_LIMITS, (CHUNK_ROWS,)))


class PruneRateLimits(Prune):
    """Deletes the rate limits of callers that were idle for a day."""

    name = "prune_rate_limits"
    interval_minutes = 30

    def __init__(self) -> None:
        super().__init__(Deletion("rate limits", _RATE_LIMITS, (CHUNK_ROWS,)))


class PruneResponseCache(Prune):
    """Deletes cached responses of providers that are too old to be used."""

    name = "prune_response_cache"
    interval_minutes = 30

    def __init__(self) -> None:
        super().__init__(Deletion("responses", _RESPONSES))


class PruneBodyCache(Prune):
    """Deletes response bodies that have expired, and the oldest of too many."""

    name = "prune_body_cache"
    interval_minutes = 1

    def __init__(self) -> None:
        super().__init__(Deletion("bodies", _BODIES, (MAX_BODY_CACHE_BYTES,)))


class PruneSessions(Prune):
    """Deletes sessions and invitations that ended a month ago."""

    name = "prune_sessions"
    interval_minutes = 60

    def __init__(self) -> None:
        super().__init__(Deletion("sessions", _SESSIONS, (CHUNK_ROWS,)), Deletion("invitations", _INVITATIONS))


class PruneAudit(Prune):
    """Deletes audit entries after the retention of the database, and the usage of quotas after 400 days.

    Only the engine may delete them.
    """

    name = "prune_audit"
    interval_minutes = 60

    def __init__(self) -> None:
        super().__init__(
            Deletion("audit entries older than {days} days", _AUDIT, (CHUNK_ROWS,), by_tenant=True, retention="audit"),
            Deletion("audit entries without a tenant", _AUDIT_WITHOUT_TENANT, (CHUNK_ROWS,), retention="audit"),
            Deletion("days of quota usage", _QUOTA_USAGE, by_tenant=True),
        )


class PruneJobs(Prune):
    """Deletes finished jobs after the retention of the database, idempotent responses and old curations after a day."""

    name = "prune_jobs"
    interval_minutes = 60
    as_tenant = True

    def __init__(self) -> None:
        super().__init__(
            Deletion("jobs older than {days} days", _JOBS, (CHUNK_ROWS,), by_tenant=True, retention="jobs"),
            Deletion("idempotent responses", _IDEMPOTENT_RESPONSES, (CHUNK_ROWS,), by_tenant=True),
            Deletion("changes of curations", _CURATION_CHANGES, (CHUNK_ROWS,), by_tenant=True),
            Deletion("curations that can be undone", _CURATION_ACTIONS, (CHUNK_ROWS,), by_tenant=True),
        )
