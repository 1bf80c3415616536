"""Host limits that all workers share: permits leased from one row per host, by the database's clock."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg

from scrapersky.core.batcher import Batcher
from scrapersky.core.database import Database
from scrapersky.core.settings import Settings
from scrapersky.crawl.politeness.host_limits import HostPolicy, NotYet, Permit

MIN_WAIT = timedelta(milliseconds=100)

# One statement: a permit only if the delay of the host is over and a slot is free; expired permits are removed.
# Hosts are locked by name, here and below, so that two processes never deadlock.
_ACQUIRE = """
INSERT INTO host_limit AS h (host, next_allowed_at, permits)
SELECT a.host, clock_timestamp() + $3, jsonb_build_object(a.permit, extract(epoch FROM clock_timestamp() + $4))
FROM unnest($1::text[], $2::text[]) AS a(host, permit) ORDER BY a.host
ON CONFLICT (host) DO UPDATE SET
    next_allowed_at = clock_timestamp() + $3,
    permits = (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(h.permits)
        WHERE value::text::float8 > extract(epoch FROM clock_timestamp())) || excluded.permits
WHERE h.next_allowed_at <= clock_timestamp()
    AND (SELECT count(*) FROM jsonb_each(h.permits)
        WHERE value::text::float8 > extract(epoch FROM clock_timestamp())) < $5
RETURNING host"""

_WAIT = """
SELECT host, greatest(0, extract(epoch FROM next_allowed_at - clock_timestamp()))::float8 AS until_allowed,
    (SELECT greatest(0, min(value::text::float8) - extract(epoch FROM clock_timestamp())) FROM jsonb_each(permits)
        WHERE value::text::float8 > extract(epoch FROM clock_timestamp()))::float8 AS until_free
FROM host_limit WHERE host = ANY ($1::text[])"""

_RELEASE = """
WITH returned AS (
    SELECT host, array_agg(permit) AS permits, max(pause) AS pause
    FROM unnest($1::text[], $2::text[], $3::interval[]) AS b(host, permit, pause) GROUP BY host
), locked AS (
    SELECT h.host FROM host_limit h JOIN returned USING (host) ORDER BY h.host FOR NO KEY UPDATE OF h
)
UPDATE host_limit h SET permits = h.permits - returned.permits,
    next_allowed_at = greatest(h.next_allowed_at, clock_timestamp() + returned.pause)
FROM returned JOIN locked USING (host) WHERE h.host = returned.host"""

_RELEASE_ALL = "UPDATE host_limit SET permits = '{}' WHERE permits <> '{}'"


class SharedHostLimits:
    """HostLimits kept in PostgreSQL: all processes share the rows; the policy is by default that of the crawler."""

    def __init__(self, database: Database, settings: Settings, policy: HostPolicy | None = None) -> None:
        self._database = database
        self._policy = policy or HostPolicy.of(settings)
        self._acquiring: Batcher[str, Permit | NotYet] = Batcher(self._acquire, max_in_flight=1)
        self._releasing: Batcher[tuple[Permit, timedelta], None] = Batcher(self._release, max_in_flight=1)

    async def acquire(self, host: str) -> Permit | NotYet:
        """Return a permit, or the time to wait for one."""
        return await self._acquiring.add(host)

    async def release(self, permit: Permit, pause: timedelta = timedelta(0)) -> None:
        """Return the slot; no permit for the host is given for `pause`."""
        await self._releasing.add((permit, pause))

    async def _acquire(self, hosts: Sequence[str]) -> list[Permit | NotYet]:
        """Request permits; a statement gives at most one permit per host, the next statement a further one."""
        permits = [Permit(host, uuid4()) for host in hosts]
        granted: set[UUID] = set()
        async with self._database.engine_connection() as connection:
            for turn in _by_statement(permits):
                limits = (self._policy.delay, self._policy.lease, self._policy.slots)
                ids = [str(permit.id) for permit in turn.values()]
                rows = await connection.fetch(_ACQUIRE, list(turn), ids, *limits)
                granted |= {turn[row["host"]].id for row in rows}
            refused = [permit.host for permit in permits if permit.id not in granted]
            waits = {row["host"]: row for row in await connection.fetch(_WAIT, refused)} if refused else {}
        return [permit if permit.id in granted else NotYet(self._wait(waits.get(permit.host))) for permit in permits]

    async def _release(self, returned: Sequence[tuple[Permit, timedelta]]) -> list[None]:
        hosts, ids = [permit.host for permit, _ in returned], [str(permit.id) for permit, _ in returned]
        async with self._database.engine_connection() as connection:
            await connection.execute(_RELEASE, hosts, ids, [pause for _, pause in returned])
        return [None] * len(returned)

    def _wait(self, row: asyncpg.Record | None) -> timedelta:
        """Return the time until the host is allowed; if all slots are taken, a delay, but no longer than a lease."""
        if row is None:
            return MIN_WAIT
        if row["until_allowed"] > 0:
            return timedelta(seconds=row["until_allowed"])
        until_free = timedelta(seconds=row["until_free"] or 0)
        return max(MIN_WAIT, min(self._policy.delay, until_free))


def _by_statement(permits: Sequence[Permit]) -> list[dict[str, Permit]]:
    """Split permits so that each host is at most once in a statement."""
    turns: list[dict[str, Permit]] = []
    for permit in permits:
        turn = next((turn for turn in turns if permit.host not in turn), None)
        if turn is None:
            turns.append(turn := {})
        turn[permit.host] = permit
    return turns


async def release_all(connection: asyncpg.Connection) -> None:
    """Release every permit, for a process that is alone; the delays stay."""
    await connection.execute(_RELEASE_ALL)
