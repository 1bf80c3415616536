"""What needs attention, for the line on top of every page of the operator tenant."""

from collections.abc import Sequence

from fastapi import Request

from scrapersky.api.dependencies import WebApplication
from scrapersky.console.fresh import fresh
from scrapersky.store.operations import alarms
from scrapersky.store.operations.alarms import ActiveAlarm

FRESH_SECONDS = 5.0


async def active_alarms(request: Request, application: WebApplication) -> Sequence[ActiveAlarm]:
    """Return the alarms that have not ended, the oldest first; read every few seconds at most."""

    async def read() -> Sequence[ActiveAlarm]:
        async with application.database.engine_connection() as connection:
            return [one for one in await alarms.unreported(connection) if one.resolved_at is None]

    return await fresh(request, "alarms", FRESH_SECONDS, read)
