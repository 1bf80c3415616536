"""Ends runs of searches of which no work is left, with the numbers of what was new, gone and changed."""

import time

import structlog
from sqlalchemy.exc import DBAPIError

from scrapersky.core.database import Database, is_statement_timeout
from scrapersky.engine.maintenance import MaintenanceTask
from scrapersky.models import Search
from scrapersky.store.searches import changes, runs, snapshot
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
        ended, until = 0, time.monotonic() + MAX_SECONDS
        for run in open_runs:
            if time.monotonic() > until:
                break
            try:
                ended += await complete_run(database, run)
            except DBAPIError as error:
                if not is_statement_timeout(error):
                    raise
                # A large search costs the others nothing; the next look tries it again.
                log.warning("search_run_not_counted", search=str(run.search_id))
        return f"{len(open_runs)} runs under way, {ended} of them completed"


async def complete_run(database: Database, run: OpenRun) -> bool:
    """End a run if no work of its search is left; return whether it ended."""
    async with database.session(run.tenant_id) as session:
        locked = await runs.lock_open(session, run.run_id)
        if locked is None:
            return False
        search = await session.get_one(Search, run.search_id)
        counted = await snapshot.current(session, search)
        if not counted.is_done or counted.counted_at < locked.began_at:
            return False
        is_whole = await runs.is_whole(session, run.search_id)
        locked.is_whole = is_whole  # what is gone is known only then
        known = await runs.of_search(session, run.search_id, limit=10_000)
        former = next((one for one in known if one.number < locked.number), None)
        diff = await changes.between(session, run.search_id, former, locked, known) if former else None
        await runs.end(session, locked, is_whole, diff.counts if diff else None)
    log.info("search_run_completed", search=str(run.search_id), run=locked.number, whole=is_whole)
    return True
