"""LISTEN for queued rows on a dedicated connection that is reopened when it breaks."""

import asyncio
from collections.abc import Callable

import asyncpg
import structlog

from scrapersky.core.cancellation import raise_if_cancelled
from scrapersky.core.database import Database, is_connection_error
from scrapersky.engine.events import DatabaseUnavailable, Events
from scrapersky.engine.queue_sql import CHANNEL

log = structlog.get_logger(__name__)

PROBE_SECONDS = 15.0  # a connection that broke without a word looks idle: probe it
MAX_PAUSE_SECONDS = 5.0  # between two attempts to open it


async def listen_for_wakeups(database: Database, on_wakeup: Callable[[str], None], events: Events) -> None:
    """Call `on_wakeup` with `table.queue` for every NOTIFY, until cancelled. Polling finds what NOTIFY misses."""
    pause = 0.1
    while True:
        try:
            connection = await database.listen(CHANNEL, on_wakeup)
        except Exception as error:
            raise_if_cancelled(error)
            if not is_connection_error(error):
                log.exception("listen_failed")
            await events.publish(DatabaseUnavailable("listen", f"{type(error).__name__}: {error}"))
            await asyncio.sleep(pause)
            pause = min(MAX_PAUSE_SECONDS, pause * 2)
            continue
        pause = 0.1
        try:
            log.debug("listen_started")
            await _until_broken(connection)
        finally:
            connection.terminate()
        await asyncio.sleep(pause)


async def _until_broken(connection: asyncpg.Connection) -> None:
    """Wait until the connection is closed, or does not respond. It is opened again: whether that works is news."""
    closed = asyncio.Event()
    connection.add_termination_listener(lambda _: closed.set())
    while not connection.is_closed():
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await closed.wait()
        except TimeoutError:
            try:
                await connection.execute("SELECT 1", timeout=5)
            except Exception as error:  # noqa: BLE001 - the connection is opened again, whatever it is
                raise_if_cancelled(error)
                log.debug("listen_broken", error=f"{type(error).__name__}: {error}")
                return
