"""The rests of providers in the database: a quota that one worker used up is used up for all, by one clock."""

from datetime import timedelta

from scrapersky.core.database import Database
from scrapersky.providers.cooldown import Rest

_LEFT = (
    "SELECT until - clock_timestamp() AS after, reason FROM provider_rest WHERE name = $1 AND until > clock_timestamp()"
)

_BEGIN = """
INSERT INTO provider_rest AS r (name, until, reason) VALUES ($1, clock_timestamp() + $2, $3)
ON CONFLICT (name) DO UPDATE SET until = excluded.until, reason = excluded.reason WHERE r.until < excluded.until"""


class StoredRests:
    """The rests that every worker keeps; a provider has a handful of them at most."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def left(self, name: str) -> Rest | None:
        """What is left of it by the database's clock."""
        async with self._database.engine_connection() as connection:
            row = await connection.fetchrow(_LEFT, name)
        return Rest(row["after"], row["reason"]) if row else None

    async def begin(self, name: str, rest: Rest) -> None:
        """For all workers, from now on."""
        after: timedelta = rest.after
        async with self._database.engine_connection() as connection:
            await connection.execute(_BEGIN, name, after, rest.reason)
