"""Engine events as log lines: a static name and its fields."""

import time
from typing import Any

import structlog

from scrapersky.engine.events import (
    BatchSettled,
    BreakerChanged,
    CycleEnded,
    DatabaseAvailable,
    DatabaseUnavailable,
    LeaseLost,
    Listener,
    RowFailed,
    RowsRescued,
    SchedulerJobEvent,
)

log = structlog.get_logger("scrapersky.engine")

NEVER = -1e9
POLLER = "pulse"  # its polls say whether the database responds; other parts notice an outage later than its end
LATE_SECONDS = 30.0  # how long after the end of an outage other parts still report it
SAME_OUTAGE_SECONDS = 60.0  # an outage that no poll has seen ends when no part reports it for so long


def log_events() -> Listener:
    """Return a listener that logs engine events; of an unavailable database it logs the first event and the end."""
    lost_at = available_at = NEVER

    async def log_new(event: Any) -> None:
        nonlocal lost_at, available_at
        now = time.monotonic()
        match event:
            case DatabaseUnavailable():
                is_late = event.where != POLLER and now - available_at < LATE_SECONDS
                is_new = not is_late and now - lost_at > SAME_OUTAGE_SECONDS
                lost_at = lost_at if is_late else now
                if is_new:
                    log.error("database_unavailable", where=event.where, error=event.error)
                else:
                    log.debug("database_still_unavailable", where=event.where, error=event.error)
            case DatabaseAvailable():
                lost_at, available_at = NEVER, now
                log.info("database_available", seconds=round(event.seconds, 1))
            case _:
                log_event(event)

    return log_new


def log_event(event: Any) -> None:
    """Log an engine event: what needs attention as a warning or error, routine at debug."""
    match event:
        case CycleEnded(error=None, claimed=0):
            log.debug("cycle_idle", workflow=event.workflow)
        case CycleEnded():
            log.info(
                "cycle_ended",
                workflow=event.workflow,
                seconds=round(event.seconds, 3),
                claimed=event.claimed,
                lost=event.lost,
                error=event.error,
                **{str(kind): count for kind, count in event.counts.items() if count},
            )
        case RowFailed():
            log.warning(
                "row_failed",
                workflow=event.workflow,
                row_id=event.row_id,
                tries=event.tries,
                outcome=str(event.kind),
                error=event.error,
            )
        case LeaseLost():
            log.warning("lease_lost", workflow=event.workflow, rows=len(event.row_ids), where=event.where)
        case RowsRescued():
            log.warning("rows_rescued", workflow=event.workflow, requeued=event.requeued, died=event.died)
        case BreakerChanged():
            log.warning(
                "breaker_changed",
                workflow=event.workflow,
                breaker=event.breaker,
                reason=event.reason,
                until=event.until and event.until.isoformat(timespec="seconds"),
            )
        case SchedulerJobEvent(what="error"):
            log.error("job_failed", job_id=event.job_id, error=event.error)
        case SchedulerJobEvent():
            log.debug("scheduler_job_event", job_id=event.job_id, job_event=event.what)
        case BatchSettled():
            log.debug("batch_settled", workflow=event.workflow)
