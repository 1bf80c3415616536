"""Records every ended cycle in the run history."""

import structlog

from scrapersky.core.database import Database, is_connection_error
from scrapersky.engine.events import CycleEnded, Listener
from scrapersky.store.operations import runs

log = structlog.get_logger(__name__)


def record_runs(database: Database) -> Listener:
    """Return a listener that stores each ended cycle; a lost connection costs one record, not the cycle."""

    async def record(event: object) -> None:
        if not isinstance(event, CycleEnded):
            return
        try:
            async with database.engine_connection() as connection:
                await runs.record(connection, event)
        except Exception as error:
            if not is_connection_error(error):
                raise
            log.warning("run_recording_failed", workflow=event.workflow, error=f"{type(error).__name__}: {error}")

    return record
