"""Cooldowns of providers in the database, shared by all workers: a quota that one used up is used up for all."""

from datetime import timedelta

from scrapersky.core.database import Database
from scrapersky.providers.cooldown import Cooldown

_REMAINING = """
SELECT until - clock_timestamp() AS after, reason FROM provider_cooldown
WHERE name = $1 AND until > clock_timestamp()"""

_START = """
INSERT INTO provider_cooldown AS r (name, until, reason) VALUES ($1, clock_timestamp() + $2, $3)
ON CONFLICT (name) DO UPDATE SET until = excluded.until, reason = excluded.reason WHERE r.until < excluded.until"""


class StoredCooldowns:
    """Cooldowns by name; a provider has a few of them at most."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remaining(self, name: str) -> Cooldown | None:
        """Return the remaining cooldown by the clock of the database, or None."""
        async with self._database.engine_connection() as connection:
            row = await connection.fetchrow(_REMAINING, name)
        return Cooldown(row["after"], row["reason"]) if row else None

    async def start(self, name: str, cooldown: Cooldown) -> None:
        """Start a cooldown for all workers; a longer one that is running stays."""
        after: timedelta = cooldown.after
        async with self._database.engine_connection() as connection:
            await connection.execute(_START, name, after, cooldown.reason)
