"""An installation that has been running: queues in every state, dead letters, runs, jobs, workers, spending."""

from typing import Any
from uuid import UUID

FAIL = """
WITH row AS (
    INSERT INTO page (tenant_id, domain_id, url, kind, page_processing_status, page_processing_error)
    SELECT $1, $2, $3 || gen_random_uuid(), 'contact', 'Error', $5 FROM generate_series(1, $4::int) n
    RETURNING id
)
INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message, failed_at)
SELECT $1, 'page.page_processing', id, 5, $6, $5, now() - (row_number() OVER ()) * interval '7 minutes' FROM row"""
QUEUE = """
INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status, deep_scan_due_at, deep_scan_attempts,
    deep_scan_error)
SELECT $1, 'fake', gen_random_uuid(), $3 || n, $4, CASE WHEN $5::text IS NULL THEN NULL
    ELSE now() + $5::text::interval + n * interval '1 second' END, 1, $6 FROM generate_series(1, $2::int) n"""
RUN = """
INSERT INTO run (workflow, host, pid, started_at, seconds, claimed, completed, skipped, postponed, retried, failed,
    returned, lost, histogram, error)
SELECT $1, $2, 4711, now() - n * interval '1 minute', 0.5 + n % 7, 10 + n % 40, 8 + n % 30, n % 4, n % 3, n % 2,
    CASE WHEN n % 9 = 0 THEN 2 ELSE 0 END, 0, 0, $3, CASE WHEN n % 50 = 7 THEN $4 END
FROM generate_series(0, $5::int) n"""
TEXTS = ("Kallio Dental ", "https://kallio.fi/", "site.fi did not answer in 55 s", "worker-1", "crm")


async def add_operations(admin: Any, tenant: UUID, search: str, domain: str, hostile: str = "") -> None:
    """Add rows of everything that operators look at; every free text ends with the hostile text."""
    name, url, message, host, _ = (text + hostile for text in TEXTS)
    for rows, error, kind in ((7, message, "TimedOut"), (3, f"a site answers 403 Forbidden{hostile}", "Refused")):
        await admin.execute(FAIL, tenant, UUID(domain), url, rows, error, kind)
    for rows, status, due in ((60, "Queued", None), (4, "Queued", "10 minutes"), (5, "Processing", "1 minute")):
        await admin.execute(QUEUE, tenant, rows, name, status, due, f"HTTP 503{hostile}" if due else None)
    await admin.execute(QUEUE, tenant, 3, name, "Skipped", None, f"closed{hostile}")
    histogram = [0] * 27
    histogram[12], histogram[15], histogram[17] = 60, 30, 10
    for workflow in ("deep_scan", "page_curation"):
        await admin.execute(RUN, workflow, host, histogram, f"connection was closed{hostile}", 240)
    await admin.execute(
        "INSERT INTO workflow_control (workflow, breaker, breaker_until, breaker_reason) "
        "VALUES ('delivery', 'open', now() + interval '5 minutes', $1) ON CONFLICT (workflow) DO UPDATE SET "
        "breaker = 'open', breaker_until = excluded.breaker_until, breaker_reason = excluded.breaker_reason",
        f"12 of 15 failed: 403 Forbidden{hostile}",
    )
    await admin.execute(
        "INSERT INTO workflow_control (workflow, paused_at, paused_by, pause_reason) VALUES ('sitemap_import', now(), "
        "'ada', $1) ON CONFLICT (workflow) DO UPDATE SET paused_at = now(), pause_reason = excluded.pause_reason",
        f"night{hostile}",
    )
    await admin.execute("INSERT INTO worker (id, host, pid, version) VALUES (gen_random_uuid(), $1, 4711, '1.0')", host)
    await admin.execute(
        "INSERT INTO host_limit (host, next_allowed_at) VALUES ($1, now() + interval '1 hour') ON CONFLICT DO NOTHING",
        f"kallio.fi{hostile}",
    )
    await admin.execute(
        "INSERT INTO provider_cooldown (name, until, reason) VALUES ('google:search', now() + interval '1 hour', $1) "
        "ON CONFLICT DO NOTHING",
        f"the quota is used up{hostile}",
    )
    await _add_jobs(admin, tenant, hostile)
    for months, micros in ((0, 123_450_000), (1, 80_000_000), (5, 55_000_000)):
        for provider, share in (("google_places", 1), ("openstreetmap", 0)):
            await admin.execute(
                "INSERT INTO spending (tenant_id, provider, method, month, calls, cents, micros) VALUES ($1, $2, "
                "'search', date_trunc('month', now() - $3 * interval '1 month'), 300, 0, $4)",
                tenant,
                provider,
                months,
                micros * share,
            )


async def _add_jobs(admin: Any, tenant: UUID, hostile: str) -> None:
    parameters = (
        '{"resource": "pages", "curation_status": "Selected", "matched": 12000, "cursor": null, "filter": {},'
        ' "actor": {"name": "ada", "role": "admin", "origin": "console"}}'
    )
    states = ("processing", "completed", "failed", "cancelled")
    for kind, state in (("curation", "processing"), ("retry", "completed"), ("drop", "failed"), ("undo", "cancelled")):
        await admin.execute(
            "INSERT INTO job (tenant_id, kind, state, progress, parameters, result, error, finished_at) "
            'VALUES ($1, $2, $3, $4, $5, \'{"found": 4000, "updated": 3990}\', $6, $7::text::timestamptz)',
            tenant,
            kind,
            state,
            1.0 if state == "completed" else 0.4,
            parameters,
            f"the database was restarted{hostile}" if state == "failed" else None,
            None if state == states[0] else "2026-11-15T14:03:20Z",
        )
    await admin.execute(
        "INSERT INTO curation_action (id, tenant_id, resource, curation_status, actor, row_count) "
        "VALUES (gen_random_uuid(), $1, 'places', 'Selected', $2, 120)",
        tenant,
        f"ada{hostile}",
    )
