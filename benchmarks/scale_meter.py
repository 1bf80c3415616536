"""Meters of `make bench-scale`: CPU of this process and of the server processes of a database, and touched blocks."""

import resource
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psutil

from scrapersky.core.database import Database

_BACKENDS = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""
_BLOCKS = "SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()"
_CLEAR = "SELECT pg_stat_clear_snapshot()"
_FLUSH = "SELECT pg_stat_force_next_flush()"


@dataclass(frozen=True)
class Used:
    """What was used until a moment."""

    cpu_seconds: float
    blocks: int

    def __sub__(self, before: "Used") -> "Used":
        return Used(self.cpu_seconds - before.cpu_seconds, self.blocks - before.blocks)


class Meter:
    """Reads what one database has used so far, over a connection of its own, which is not counted."""

    def __init__(self, connection: asyncpg.Connection, database: Database, postmaster: int) -> None:
        self._connection, self._database, self._postmaster = connection, database, psutil.Process(postmaster)

    async def read(self) -> Used:
        """Return the CPU and the blocks so far; the pool has one connection, which reports its blocks first."""
        async with self._database.engine_connection() as pooled:
            await pooled.execute(_FLUSH)
        await self._connection.execute(_CLEAR)
        blocks = int(await self._connection.fetchval(_BLOCKS))
        pids = [row["pid"] for row in await self._connection.fetch(_BACKENDS)]
        ended = self._postmaster.cpu_times()  # of parallel workers, which have ended
        server = sum(map(_seconds, pids)) + ended.children_user + ended.children_system
        own = resource.getrusage(resource.RUSAGE_SELF)
        return Used(server + own.ru_utime + own.ru_stime, blocks)


def _seconds(pid: int) -> float:
    """Return the CPU seconds of a process, to the nanosecond."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
