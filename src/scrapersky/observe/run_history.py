"""Records ended cycles in the run history; the idle cycles of a minute share one row."""

from dataclasses import dataclass
from datetime import datetime

import structlog

from scrapersky.core.database import Database, is_connection_error
from scrapersky.engine.events import CycleEnded, Listener
from scrapersky.store.operations import runs

log = structlog.get_logger(__name__)


@dataclass
class _IdleMinute:
    """The row of a minute's first idle cycle, and the further ones that are not counted in it yet."""

    run_id: int
    minute: datetime
    further: int = 0


def record_runs(database: Database) -> Listener:
    """Return a listener that stores ended cycles; a lost connection costs one record, not the cycle."""
    idle: dict[str, _IdleMinute] = {}

    async def record(event: object) -> None:
        if not isinstance(event, CycleEnded):
            return
        is_idle = not event.claimed and event.error is None and not any(event.counts.values())
        minute, last = event.started_at.replace(second=0, microsecond=0), idle.get(event.workflow)
        if is_idle and last is not None and last.minute == minute:
            last.further += 1
            return
        try:
            async with database.engine_connection() as connection:
                if last is not None and last.further:
                    await runs.add_idle(connection, last.run_id, last.further)
                    last.further = 0
                run_id = await runs.record(connection, event)
        except Exception as error:
            if not is_connection_error(error):
                raise
            log.debug("run_recording_failed", workflow=event.workflow, error=f"{type(error).__name__}: {error}")
            return
        if is_idle:
            idle[event.workflow] = _IdleMinute(run_id, minute)

    return record
