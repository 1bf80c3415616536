"""LISTEN for queued rows on a dedicated connection that is reopened when it breaks."""

import asyncio
from collections.abc import Callable

import structlog

from scrapersky.core.cancellation import raise_if_cancelled
from scrapersky.core.database import Database, is_connection_error
from scrapersky.engine.events import DatabaseUnavailable, Events
from scrapersky.engine.queue_sql import CHANNEL

log = structlog.get_logger(__name__)

PROBE_SECONDS = 15.0  # a broken connection is silent: probe it


async def listen_for_wakeups(database: Database, on_wakeup: Callable[[str], None], events: Events) -> None:
    """Call `on_wakeup` with `table.queue` for every NOTIFY, until cancelled. Polling finds what NOTIFY misses."""
    pause = 0.1
    while True:
        try:
            connection = await database.listen(CHANNEL, on_wakeup)
            try:
                log.debug("listen_started")
                pause = 0.1
                while True:
                    await asyncio.sleep(PROBE_SECONDS)
                    await connection.execute("SELECT 1", timeout=5)
            finally:
                connection.terminate()
        except Exception as error:
            raise_if_cancelled(error)
            if not is_connection_error(error):
                log.exception("listen_failed")
            await events.publish(DatabaseUnavailable("listen", f"{type(error).__name__}: {error}"))
            await asyncio.sleep(pause)
            pause = min(5.0, pause * 2)
