"""Calendars of many rows are dealt out anew in bites: the first by whoever changes the quota, the rest from here."""

import time

import asyncpg

from scrapersky.core.database import Database
from scrapersky.engine.maintenance import Periodic

BITE = 20_000
SECONDS = 10.0  # then others want their turn; the next run goes on

_OPEN = "SELECT tenant_id, kind FROM rebooking ORDER BY tenant_id, kind"
_DEAL = {"pages": "SELECT page_rebook($1, $2)", "searches": "SELECT search_rebook($1, $2)"}


class RescheduleQuotaRows(Periodic):
    """Goes on with every calendar that is being written anew; who dies loses one bite, which is done again."""

    name = "rebook"
    interval_minutes = 0.05

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, connection: asyncpg.Connection) -> str:
        """A bite of each in turn, for a few seconds."""
        rows = await connection.fetch(_OPEN)
        left, until = [(row["tenant_id"], row["kind"]) for row in rows], time.monotonic() + SECONDS
        while left and time.monotonic() < until:
            tenant_id, kind = left.pop(0)
            async with self._database.engine_connection() as one:
                if not await one.fetchval(_DEAL[kind], tenant_id, BITE):
                    left.append((tenant_id, kind))
        return f"{len(rows)} calendars looked after, {len(left)} to go on with"
