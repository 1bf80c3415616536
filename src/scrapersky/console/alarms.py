"""What needs attention, for the line on top of every page of the operator tenant."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request

from scrapersky.api.dependencies import WebApplication
from scrapersky.store.operations import alarms
from scrapersky.store.operations.alarms import ActiveAlarm

FRESH_SECONDS = 5.0  # pages of one process share what was read


@dataclass(frozen=True)
class _Read:
    at: float
    found: Sequence[ActiveAlarm]


async def active_alarms(request: Request, application: WebApplication) -> Sequence[ActiveAlarm]:
    """Return the alarms that have not ended, the oldest first; read every few seconds at most."""
    read: _Read | None = getattr(request.app.state, "alarms_read", None)
    if read is None or time.monotonic() - read.at > FRESH_SECONDS:
        async with application.database.engine_connection() as connection:
            found = [one for one in await alarms.unreported(connection) if one.resolved_at is None]
        read = request.app.state.alarms_read = _Read(time.monotonic(), found)
    return read.found
