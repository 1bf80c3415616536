"""The connection pool of a process: it grows with the load up to its maximum, and shrinks when it is idle."""

import asyncio
import time
from bisect import insort

from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry
from sqlalchemy.util import memoized_property
from sqlalchemy.util.queue import AsyncAdaptedQueue

IDLE_SECONDS = 30.0  # how long a connection may be unused before one is closed


class _ByAge(asyncio.Queue[ConnectionPoolEntry]):
    """Idle connections, the oldest first."""

    def _init(self, maxsize: int) -> None:
        self._queue: list[ConnectionPoolEntry] = []  # the attribute that asyncio.Queue counts

    def _put(self, item: ConnectionPoolEntry) -> None:
        insort(self._queue, item, key=_age)

    def _get(self) -> ConnectionPoolEntry:
        return self._queue.pop(0)

    def take_youngest(self) -> ConnectionPoolEntry:
        """Remove and return the youngest idle connection."""
        return self._queue.pop()


def _age(entry: ConnectionPoolEntry) -> float:
    return float(entry.starttime)  # type: ignore[attr-defined]


class _IdleConnections(AsyncAdaptedQueue[ConnectionPoolEntry]):
    """The queue of the pool."""

    @memoized_property
    def _queue(self) -> _ByAge:
        return _ByAge(self.maxsize)


class ShrinkingPool(AsyncAdaptedQueuePool):
    """A pool that uses its oldest connections, and closes as many as were idle during the whole last period.

    A connection parses and plans each of its statements once, and the long ones take milliseconds: the oldest has done
    so for most of them. A younger one is used only while the older ones are busy.

    The pool counts the idle connections at every checkout. The least count of a period is the number of connections
    that the load of the period did not need; so many are closed, the youngest first, when others are returned.
    """

    _queue_class = _IdleConnections
    _least_idle = 0
    _surplus = 0
    _period_started_at = 0.0

    def _do_get(self) -> ConnectionPoolEntry:
        connection = super()._do_get()
        self._least_idle = min(self._least_idle, self.checkedin())
        return connection

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        now = time.monotonic()
        if now - self._period_started_at >= IDLE_SECONDS:
            self._surplus, self._least_idle, self._period_started_at = self._least_idle, self.checkedin(), now
        close_one = self._surplus and self.checkedin()
        super()._do_return_conn(record)
        if close_one:
            self._surplus -= 1
            self._close_youngest()

    def _close_youngest(self) -> None:
        record = self._pool._queue.take_youngest()  # type: ignore[attr-defined]
        try:
            record.close()
        finally:
            self._dec_overflow()
