"""Ends runs of searches of which no work is left, with the numbers of what was new, gone and changed."""

import time
from collections.abc import Sequence

import structlog
from sqlalchemy.exc import DBAPIError

from scrapersky.core.database import Database, is_statement_timeout
from scrapersky.engine.maintenance import MaintenanceTask
from scrapersky.store.searches import runs
from scrapersky.store.searches.runs import OpenRun

log = structlog.get_logger(__name__)

MAX_SECONDS = 5.0  # of one look; the next look continues


class CompleteRuns(MaintenanceTask):
    """Looks at open runs by the shared progress of their searches, which is counted seldom if counting takes long."""

    name = "complete_runs"
    interval_minutes = 0.25

    async def run_on(self, database: Database) -> str:
        """End the runs that are complete, for a few seconds."""
        async with database.engine_connection() as connection:
            open_runs = await runs.open_runs(connection)
        ended = await complete_runs(database, open_runs)
        return f"{len(open_runs)} runs under way, {ended} of them completed"


async def complete_runs(database: Database, open_runs: Sequence[OpenRun]) -> int:
    """End those runs of which no work is left, in this order and for a few seconds; return how many ended."""
    ended, until = 0, time.monotonic() + MAX_SECONDS
    for run in open_runs:
        if time.monotonic() > until:
            break
        try:
            ended += await _complete(database, run)
        except DBAPIError as error:
            if not is_statement_timeout(error):
                raise
            # A large search costs the others nothing; the next look tries it again.
            log.warning("search_run_not_counted", search=str(run.search_id))
    return ended


async def _complete(database: Database, run: OpenRun) -> bool:
    async with database.session(run.tenant_id) as session:
        ended = await runs.complete(session, run)
    if ended is not None:
        log.info("search_run_completed", search=str(run.search_id), run=ended.number, whole=ended.is_whole)
    return ended is not None
