"""Reconnection of `scrapersky find` to a database that is unavailable for a while; an embedded one is restarted."""

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from scrapersky.bootstrap import Application
from scrapersky.core.cancellation import raise_if_cancelled
from scrapersky.core.database import is_connection_error
from scrapersky.core.embedded.server import DidNotStart
from scrapersky.core.errors import Unavailable
from scrapersky.engine.orphans import is_only_process, release_orphans
from scrapersky.store.shared import host_limits

TIMEOUT_SECONDS = 60.0
PAUSE_SECONDS = 0.5
HIDDEN_EVENTS = ("database_unavailable", "job_failed")  # APScheduler logs a failed job itself, with its error

T = TypeVar("T")


class DatabaseLost(Unavailable):
    """The database is unavailable."""

    def __init__(self, error: BaseException) -> None:
        reason = str(error) if isinstance(error, DidNotStart) else type(error).__name__
        super().__init__(f"No result is lost: the same command continues when the database is back ({reason}).")


async def with_reconnect(
    application: Application,
    query: Callable[[], Awaitable[T]],
    notify: Callable[[str], None],
    seconds: float = TIMEOUT_SECONDS,
) -> T:
    """Return the result of a query, retried while the database is unavailable. Raises DatabaseLost after so long."""
    lost_at: float | None = None
    while True:
        try:
            result = await query()
        except Exception as error:
            raise_if_cancelled(error)
            if not is_connection_error(error):
                raise
            if lost_at is None:
                lost_at = time.monotonic()
                notify(f"The database is unavailable; waiting up to {seconds:.0f} s for it.")
            reason = await _restart_embedded(application)
            if time.monotonic() - lost_at > seconds:
                raise DatabaseLost(reason or error) from None
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        if lost_at is not None:
            notify("The database is available again.")
        return result


async def _restart_embedded(application: Application) -> DidNotStart | None:
    """Start an embedded server that has died; return why it did not start, for processes of the former may lock it."""
    if application.database.embedded is None:
        return None
    try:
        await asyncio.to_thread(application.database.embedded.revive)
    except DidNotStart as error:
        return error
    return None


def hide_connection_errors() -> None:
    """Hide lost connections in the log: every part of the engine logs them, and `with_reconnect` reports them once."""
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_no_connection_error)


def _is_no_connection_error(record: logging.LogRecord) -> bool:
    if record.name.startswith("sqlalchemy.pool"):  # logs how it discards a dead connection
        return False
    fields = record.msg if isinstance(record.msg, dict) else {}
    exc_info = record.exc_info or fields.get("exc_info")
    error = sys.exc_info()[1] if exc_info is True else exc_info[1] if isinstance(exc_info, tuple) else exc_info
    is_lost = isinstance(error, BaseException) and is_connection_error(error)
    return fields.get("event") not in HIDDEN_EVENTS and not is_lost


async def release_abandoned_rows(application: Application) -> int:
    """Release the rows and host permits of killed processes if this process is the only one; return how many rows."""
    async with application.database.engine_connection() as connection:
        if not await is_only_process(connection):
            return 0
        await host_limits.release_all(connection)
        return await release_orphans(connection, application.pipeline)
