"""Hearing that a row was queued: LISTEN on a connection of its own, mended whenever it breaks."""

import asyncio
from collections.abc import Callable

import structlog

from scrapersky.core.cancellation import heed_cancel
from scrapersky.core.database import Database, is_connection_error
from scrapersky.engine.events import DatabaseAway, Events
from scrapersky.engine.queue_ddl import CHANNEL

log = structlog.get_logger(__name__)

PROBE_SECONDS = 15.0  # a broken line is silent: ask now and then whether it is still there


async def hear_wakeups(database: Database, hear: Callable[[str], None], events: Events) -> None:
    """Call `hear` with `table.queue` for every wake-up, for ever. A hint only: polling is the truth."""
    pause = 0.1
    while True:
        try:
            connection = await database.listen(CHANNEL, hear)
            try:
                log.debug("listen_started")
                pause = 0.1
                while True:
                    await asyncio.sleep(PROBE_SECONDS)
                    await connection.execute("SELECT 1", timeout=5)
            finally:
                connection.terminate()
        except Exception as error:
            heed_cancel(error)
            if not is_connection_error(error):
                log.exception("listen_failed")
            await events.publish(DatabaseAway("listen", f"{type(error).__name__}: {error}"))
            await asyncio.sleep(pause)
            pause = min(5.0, pause * 2)
