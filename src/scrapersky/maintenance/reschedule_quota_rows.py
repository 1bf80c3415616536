"""Rescheduling after a change of a quota: the change itself reschedules the first rows, this task the rest."""

import time

import asyncpg

from scrapersky.core.database import Database
from scrapersky.engine.maintenance import Periodic

CHUNK_ROWS = 20_000
MAX_SECONDS = 10.0  # of one run; the next run continues

_OPEN = "SELECT tenant_id, kind FROM quota_reschedule ORDER BY tenant_id, kind"
_RESCHEDULE = {"pages": "SELECT page_reschedule($1, $2)", "searches": "SELECT search_reschedule($1, $2)"}


class RescheduleQuotaRows(Periodic):
    """Continues every unfinished rescheduling; a process that dies loses one chunk, which is repeated."""

    name = "reschedule_quota_rows"
    interval_minutes = 0.05

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, connection: asyncpg.Connection) -> str:
        """Reschedule one chunk of each tenant and kind in turn, for a few seconds."""
        rows = await connection.fetch(_OPEN)
        left, until = [(row["tenant_id"], row["kind"]) for row in rows], time.monotonic() + MAX_SECONDS
        while left and time.monotonic() < until:
            tenant_id, kind = left.pop(0)
            async with self._database.engine_connection() as chunk:
                if not await chunk.fetchval(_RESCHEDULE[kind], tenant_id, CHUNK_ROWS):
                    left.append((tenant_id, kind))
        return f"{len(rows)} tenants and kinds rescheduled, {len(left)} of them unfinished"
