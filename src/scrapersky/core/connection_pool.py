"""The connection pool of a process: it grows with the load up to its maximum, and shrinks when it is idle."""

import time

from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry

IDLE_SECONDS = 30.0  # how long a connection may be unused before one is closed


class ShrinkingPool(AsyncAdaptedQueuePool):
    """A pool that closes as many connections as were idle during the whole last period.

    It counts the idle connections at every checkout. The least count of a period is the number of connections that the
    load of the period did not need; so many are closed instead of being kept when they are returned.
    """

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
        if not self._surplus or not self.checkedin():
            return super()._do_return_conn(record)
        self._surplus -= 1
        try:
            record.close()
        finally:
            self._dec_overflow()
