"""Every cycle leaves a row: what charts, rates and the question "is it alive?" are answered from."""

import os
import socket
from typing import Any

import structlog

from scrapersky.core.database import Database, is_connection_error
from scrapersky.engine.events import CycleEnded, Listener
from scrapersky.engine.outcomes import Kind

log = structlog.get_logger(__name__)

_INSERT = """
INSERT INTO run (workflow, host, pid, started_at, seconds, claimed, completed, skipped, postponed, retried, failed,
    returned, lost, histogram, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"""


def record_runs(database: Database) -> Listener:
    """A listener that writes each ended cycle to the run table."""

    async def record(event: Any) -> None:
        if not isinstance(event, CycleEnded):
            return
        counts = [event.counts.get(kind, 0) for kind in Kind]
        try:
            async with database.engine_connection() as connection:
                await connection.execute(
                    _INSERT,
                    event.workflow,
                    socket.gethostname(),
                    os.getpid(),
                    event.started_at,
                    event.seconds,
                    event.claimed,
                    *counts,
                    event.lost,
                    event.histogram,
                    event.error,
                )
        except Exception as error:
            if not is_connection_error(error):
                raise
            log.warning("run_not_recorded", workflow=event.workflow, error=f"{type(error).__name__}: {error}")

    return record
