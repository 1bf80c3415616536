"""Rescheduling after a change of a quota: the change itself reschedules the first rows, this task the rest."""

import time

from scrapersky.core.database import Database
from scrapersky.engine.maintenance import MaintenanceTask

CHUNK_ROWS = 20_000
MAX_SECONDS = 10.0  # of one run; the next run continues

_OPEN = "SELECT tenant_id, kind FROM quota_reschedule ORDER BY tenant_id, kind"
_RESCHEDULE = {"pages": "SELECT page_reschedule($1, $2)", "searches": "SELECT search_reschedule($1, $2)"}


class RescheduleQuotaRows(MaintenanceTask):
    """Continues every unfinished rescheduling; a process that dies loses one chunk, which is repeated."""

    name = "reschedule_quota_rows"
    interval_minutes = 0.05

    async def run_on(self, database: Database) -> str:
        """Reschedule one chunk of each tenant and kind in turn, for a few seconds."""
        async with database.engine_connection() as connection:
            rows = await connection.fetch(_OPEN)
        left, until = [(row["tenant_id"], row["kind"]) for row in rows], time.monotonic() + MAX_SECONDS
        while left and time.monotonic() < until:
            tenant_id, kind = left.pop(0)
            async with database.engine_connection() as connection:
                if not await connection.fetchval(_RESCHEDULE[kind], tenant_id, CHUNK_ROWS):
                    left.append((tenant_id, kind))
        return f"{len(rows)} tenants and kinds rescheduled, {len(left)} of them unfinished"
