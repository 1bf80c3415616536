"""The start of a process at its PostgreSQL: wait until it is available, and tell how many connections are needed."""

import asyncio
import math
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import asyncpg
import structlog

from scrapersky.core.cancellation import raise_if_cancelled
from scrapersky.core.database import Database, ServerAway, is_connection_error
from scrapersky.core.errors import Unavailable

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 0.5
PROGRESS_SECONDS = 10.0
PEOPLE = 5  # connections that should be left for people with psql, and for backups

T = TypeVar("T")


@dataclass(frozen=True)
class StartWait:
    """How long a process waits for its PostgreSQL at the start, and what prints the progress."""

    seconds: float = 0
    notify: Callable[[str], object] = str


async def when_available(check: Callable[[], Awaitable[T]], wait: StartWait) -> T:
    """Return the result of `check`, repeated while the server is unavailable, starting or full. Raises Unavailable."""
    started = time.monotonic()
    told_at: float | None = None
    while True:
        try:
            return await check()
        except Exception as error:
            raise_if_cancelled(error)
            if not isinstance(error, ServerAway) and not is_connection_error(error):
                raise
            now = time.monotonic()
            if now - started >= wait.seconds:
                raise _gave_up(error, wait) from error
            if told_at is None:
                wait.notify(f"{error} Waiting up to {wait.seconds:g} seconds for it.")
            elif now - told_at >= PROGRESS_SECONDS:
                wait.notify(f"Still waiting for PostgreSQL ({math.floor(now - started)} of {wait.seconds:g} seconds).")
            told_at = now if told_at is None or now - told_at >= PROGRESS_SECONDS else told_at
            await asyncio.sleep(min(PAUSE_SECONDS, wait.seconds))


def _gave_up(error: Exception, wait: StartWait) -> Unavailable:
    told = (
        str(error) if isinstance(error, ServerAway) else f"The connection was lost ({type(error).__name__}: {error})."
    )
    return Unavailable(f"{told} Waited {wait.seconds:g} seconds." if wait.seconds else told)


@dataclass(frozen=True)
class ConnectionNeeds:
    """The connections that all processes of a server may open, and those that it offers."""

    processes: int
    needed: int
    max_connections: int
    reserved: int

    @property
    def offered(self) -> int:
        """The connections for users who are not superusers."""
        return self.max_connections - self.reserved

    def __str__(self) -> str:
        """Say what is needed, what is offered, and the cure if it is not enough."""
        processes = "1 process" if self.processes == 1 else f"{self.processes} processes"
        told = (
            f"Connections: {processes} may open up to {self.needed} of the {self.offered} that PostgreSQL offers "
            f"(max_connections {self.max_connections}, {self.reserved} of them reserved)."
        )
        if self.is_enough:
            return told
        return f"{told} That leaves fewer than {PEOPLE} for people: raise max_connections, or lower " + (
            "SCRAPERSKY_DATABASE_POOL_SIZE or the number of processes."
        )

    @property
    def is_enough(self) -> bool:
        """Whether all processes together leave room for people."""
        return self.needed + PEOPLE <= self.offered


async def measure_connection_needs(database: Database) -> ConnectionNeeds | None:
    """Sum what the processes on the server may open, this one included; None behind a pooler, which hides them."""
    if database.is_pooled:
        return None
    connection = await asyncpg.connect(dsn=database.dsn, timeout=5)
    try:
        row = await connection.fetchrow(_LIMITS)
        others = await connection.fetch(_PROCESSES, database.application_name)
    finally:
        await connection.close()
    names = [database.application_name, *(row["application_name"] for row in others)]
    budgets = [int(found[1]) for name in names if (found := re.search(r" max (\d{1,4})$", name))]
    needs = ConnectionNeeds(len(budgets), sum(budgets), row["max_connections"], row["reserved"])
    if not needs.is_enough:
        log.warning("connections_scarce", processes=needs.processes, needed=needs.needed, offered=needs.offered)
    return needs


_LIMITS = """
SELECT current_setting('max_connections')::int AS max_connections,
    current_setting('superuser_reserved_connections')::int
        + coalesce(nullif(current_setting('reserved_connections', true), '')::int, 0) AS reserved"""
# The host tells processes of the same number on two machines apart.
_PROCESSES = """
SELECT DISTINCT application_name, client_addr FROM pg_stat_activity WHERE application_name LIKE 'scrapersky % max %'
    AND NOT (application_name = $1 AND client_addr IS NOT DISTINCT FROM inet_client_addr())"""
