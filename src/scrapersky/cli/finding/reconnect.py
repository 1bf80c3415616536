"""The database of a long command: when it is away it is waited for, with a word; our own is started again."""

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from scrapersky.bootstrap import Application
from scrapersky.core.cancellation import raise_if_cancelled
from scrapersky.core.database import is_connection_error
from scrapersky.core.embedded_postgres import revive
from scrapersky.core.errors import Unavailable
from scrapersky.engine.orphans import is_only_process, release_orphans
from scrapersky.store.shared import host_limits

AWAY_SECONDS = 60.0
PAUSE_SECONDS = 0.5
TOLD_ANYWAY = ("database_unavailable", "job_failed")  # the scheduler logs a failed job by itself, with its error

T = TypeVar("T")


class DatabaseGone(Unavailable):
    """The database is away, and did not come back."""


async def patiently(
    application: Application, ask: Callable[[], Awaitable[T]], say: Callable[[str], None], seconds: float = AWAY_SECONDS
) -> T:
    """What the database answers, now or when it is back; DatabaseGone after so long."""
    away_since: float | None = None
    while True:
        try:
            answer = await ask()
        except Exception as error:
            raise_if_cancelled(error)
            if not is_connection_error(error):
                raise
            if away_since is None:
                away_since = time.monotonic()
                say(f"The database is away; waiting up to {seconds:.0f} s for it.")
            elif time.monotonic() - away_since > seconds:
                raise gone(error) from None
            await _help(application)
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        if away_since is not None:
            say("The database is back.")
        return answer


def gone(error: BaseException) -> DatabaseGone:
    """The sentence about it: what was done is kept."""
    return DatabaseGone(
        f"Nothing that was found is lost: the same command goes on when it is back ({type(error).__name__})."
    )


def say_it_once() -> None:
    """The engine logs a lost database from every corner; whoever sits at the terminal is told by `patiently`."""
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    if record.name.startswith("sqlalchemy.pool"):  # it tells how a dead connection was thrown away
        return False
    fields = record.msg if isinstance(record.msg, dict) else {}
    told = record.exc_info or fields.get("exc_info")
    error = sys.exc_info()[1] if told is True else told[1] if isinstance(told, tuple) else told
    is_loss = isinstance(error, BaseException) and is_connection_error(error)
    return fields.get("event") not in TOLD_ANYWAY and not is_loss


async def _help(application: Application) -> None:
    if not application.database.is_embedded:
        return
    try:
        await asyncio.to_thread(revive, application.settings.data_dir)
    except Unavailable:
        return  # its last children may still hold the directory: it is tried again


async def take_over(application: Application) -> int:
    """If nobody else is at work, free what killed processes held; how many rows it was."""
    async with application.database.engine_connection() as connection:
        if not await is_only_process(connection):
            return 0
        await host_limits.release_all(connection)
        return await release_orphans(connection, application.pipeline)
