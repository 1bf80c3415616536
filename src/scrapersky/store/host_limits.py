"""Host limits that all workers share: permits leased from one row per host, by the database's clock."""

from datetime import timedelta
from uuid import uuid4

import asyncpg

from scrapersky.core.database import Database
from scrapersky.core.settings import Settings
from scrapersky.crawl.host_limits import NotYet, Permit
from scrapersky.engine.maintenance import Periodic

SHORTEST_WAIT = timedelta(milliseconds=100)

# One statement: a permit only if the host's time has come and a slot is free; lapsed permits are dropped on the way.
_ACQUIRE = """
INSERT INTO host_limit AS h (host, next_allowed_at, permits)
VALUES ($1, clock_timestamp() + $3, jsonb_build_object($2::text, extract(epoch FROM clock_timestamp() + $4)))
ON CONFLICT (host) DO UPDATE SET
    next_allowed_at = clock_timestamp() + $3,
    permits = (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(h.permits)
        WHERE value::text::float8 > extract(epoch FROM clock_timestamp())) || excluded.permits
WHERE h.next_allowed_at <= clock_timestamp()
    AND (SELECT count(*) FROM jsonb_each(h.permits)
        WHERE value::text::float8 > extract(epoch FROM clock_timestamp())) < $5
RETURNING true"""

_WAIT = """
SELECT greatest(0, extract(epoch FROM next_allowed_at - clock_timestamp()))::float8 AS until_allowed,
    (SELECT greatest(0, min(value::text::float8) - extract(epoch FROM clock_timestamp())) FROM jsonb_each(permits)
        WHERE value::text::float8 > extract(epoch FROM clock_timestamp()))::float8 AS until_free
FROM host_limit WHERE host = $1"""

_RELEASE = """
UPDATE host_limit SET permits = permits - $2::text,
    next_allowed_at = greatest(next_allowed_at, clock_timestamp() + $3)
WHERE host = $1"""

_FORGET = """
DELETE FROM host_limit WHERE host IN (
    SELECT host FROM host_limit WHERE next_allowed_at < now() - interval '1 hour' LIMIT 5000)"""


class SharedHostLimits:
    """The HostLimits of the crawler, kept in PostgreSQL: every process and host asks the same rows."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._slots = settings.crawl_host_slots
        self._delay = timedelta(seconds=settings.crawl_host_delay_seconds)
        self._lease = timedelta(seconds=settings.crawl_host_lease_seconds)

    async def acquire(self, host: str) -> Permit | NotYet:
        """A permit, or how long to stay away."""
        permit = Permit(host, uuid4())
        async with self._database.engine_connection() as connection:
            got = await connection.fetchval(_ACQUIRE, host, str(permit.id), self._delay, self._lease, self._slots)
            return permit if got else NotYet(self._wait(await connection.fetchrow(_WAIT, host)))

    async def release(self, permit: Permit, pause: timedelta = timedelta(0)) -> None:
        """Give the slot back, and keep everyone away for `pause`."""
        async with self._database.engine_connection() as connection:
            await connection.execute(_RELEASE, permit.host, str(permit.id), pause)

    def _wait(self, row: asyncpg.Record | None) -> timedelta:
        """Until the host's next time; with that over and all slots taken, a delay, but no longer than a lease."""
        if row is None:
            return SHORTEST_WAIT
        if row["until_allowed"] > 0:
            return timedelta(seconds=row["until_allowed"])
        until_free = timedelta(seconds=row["until_free"] or 0)
        return max(SHORTEST_WAIT, min(self._delay, until_free))


class ForgetHosts(Periodic):
    """Hosts that nobody has visited for an hour need no row."""

    name = "forget_hosts"
    interval_minutes = 30

    async def run(self, connection: asyncpg.Connection) -> str:
        """Delete in bites."""
        forgotten = 0
        while count := int((await connection.execute(_FORGET)).split()[-1]):
            forgotten += count
        return f"{forgotten} hosts forgotten"
