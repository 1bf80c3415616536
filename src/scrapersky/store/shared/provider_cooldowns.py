"""Cooldowns of providers in the database, shared by all workers: a quota that one used up is used up for all.

A provider that fails several times in a row gets no request until its cooldown ends, and then one, as a probe.
"""

from datetime import timedelta
from typing import Any

from scrapersky.core.database import Database
from scrapersky.providers.cooldown import Cooldown, Permission

_REMAINING = """
SELECT until - clock_timestamp() AS after, reason FROM provider_cooldown
WHERE name = $1 AND until > clock_timestamp()"""

_START = """
INSERT INTO provider_cooldown AS r (name, until, reason) VALUES ($1, clock_timestamp() + $2, $3)
ON CONFLICT (name) DO UPDATE SET until = excluded.until, reason = excluded.reason WHERE r.until < excluded.until"""

# After so many failures in a row a cooldown begins; it doubles with each further one, as that of a destination does.
FREE_FAILURES = 5
FIRST_SECONDS, MAX_SECONDS = 30.0, 900.0
PROBE_SECONDS = 15.0  # no second probe begins for so long, unless the first has ended

_STATE = """
SELECT until - clock_timestamp() AS after, reason, failures, failures >= $2 AS is_cooling
FROM provider_cooldown WHERE name = $1"""

_PROBE = """
UPDATE provider_cooldown SET until = clock_timestamp() + $2 WHERE name = $1 AND until <= clock_timestamp()
RETURNING name"""

# What fails during a cooldown was sent before it; the failure of the probe counts.
_FAILURE = """
INSERT INTO provider_cooldown AS r (name, until, reason, failures) VALUES ($1, clock_timestamp(), $2, 1)
ON CONFLICT (name) DO UPDATE SET failures = r.failures + 1, reason = excluded.reason,
    until = clock_timestamp() + CASE WHEN r.failures + 1 < $4 THEN interval '0' ELSE
        make_interval(secs => least($6::float8, $5::float8 * 2.0 ^ least(r.failures + 1 - $4, 20))) END
WHERE $3 OR r.until <= clock_timestamp()"""

_SUCCESS = "DELETE FROM provider_cooldown WHERE name = $1"
_RELEASE = "UPDATE provider_cooldown SET until = clock_timestamp() WHERE name = $1"


class StoredCooldowns:
    """Cooldowns by name, and the failures that begin one; a provider has a few of them at most."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remaining(self, name: str) -> Cooldown | None:
        """Return the remaining cooldown by the clock of the database, or None."""
        async with self._database.engine_connection() as connection:
            row = await connection.fetchrow(_REMAINING, name)
        return Cooldown(row["after"], row["reason"]) if row else None

    async def start(self, name: str, cooldown: Cooldown) -> None:
        """Start a cooldown for all workers; a longer one that is running stays."""
        await self._execute(_START, name, cooldown.after, cooldown.reason)

    async def permit(self, name: str) -> Permission | Cooldown:
        """Permit a call, or return the cooldown. After it one call at a time is permitted, until one succeeds."""
        async with self._database.engine_connection() as connection:
            row = await connection.fetchrow(_STATE, name, FREE_FAILURES)
            if row is None:
                return Permission()
            if row["after"] > timedelta(0):
                return Cooldown(row["after"], row["reason"])
            if not row["is_cooling"]:
                return Permission(after_failures=row["failures"] > 0)
            probe = timedelta(seconds=PROBE_SECONDS)
            if await connection.fetchval(_PROBE, name, probe) is None:
                return Cooldown(probe, row["reason"])
            return Permission(after_failures=True, is_probe=True)

    async def record_failure(self, name: str, reason: str, permission: Permission) -> None:
        """Count a failure; a cooldown doubles with each further one."""
        values = name, reason, permission.is_probe, FREE_FAILURES, FIRST_SECONDS, MAX_SECONDS
        await self._execute(_FAILURE, *values)

    async def record_success(self, name: str) -> None:
        """Forget the failures."""
        await self._execute(_SUCCESS, name)

    async def release(self, name: str) -> None:
        """Permit the next probe: this one did not show whether the provider works."""
        await self._execute(_RELEASE, name)

    async def _execute(self, statement: str, *values: Any) -> None:
        async with self._database.engine_connection() as connection:
            await connection.execute(statement, *values)
