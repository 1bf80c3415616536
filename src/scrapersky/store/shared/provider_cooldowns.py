"""The rests of providers in the database: a quota that one worker used up is used up for all, by one clock."""

from datetime import timedelta

from scrapersky.core.database import Database
from scrapersky.providers.cooldown import Cooldown

_LEFT = """
SELECT until - clock_timestamp() AS after, reason FROM provider_cooldown
WHERE name = $1 AND until > clock_timestamp()"""

_BEGIN = """
INSERT INTO provider_cooldown AS r (name, until, reason) VALUES ($1, clock_timestamp() + $2, $3)
ON CONFLICT (name) DO UPDATE SET until = excluded.until, reason = excluded.reason WHERE r.until < excluded.until"""


class StoredCooldowns:
    """The rests that every worker keeps; a provider has a handful of them at most."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remaining(self, name: str) -> Cooldown | None:
        """What is left of it by the database's clock."""
        async with self._database.engine_connection() as connection:
            row = await connection.fetchrow(_LEFT, name)
        return Cooldown(row["after"], row["reason"]) if row else None

    async def start(self, name: str, cooldown: Cooldown) -> None:
        """For all workers, from now on."""
        after: timedelta = cooldown.after
        async with self._database.engine_connection() as connection:
            await connection.execute(_BEGIN, name, after, cooldown.reason)
