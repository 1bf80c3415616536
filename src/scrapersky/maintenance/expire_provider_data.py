"""What a provider lets us keep for a time only is forgotten when that time is over; its id may stay for ever."""

import asyncpg

from scrapersky.core.database import ACT_AS_TENANT
from scrapersky.core.vocabularies import EXPIRED_NAME
from scrapersky.engine.maintenance import Periodic
from scrapersky.store.searches.journal import FORGET_OLD

ROWS_AT_ONCE = 1_000

_PLACES = """
WITH due AS (
    SELECT id FROM place WHERE expires_at < now() ORDER BY expires_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
), told AS (
    SELECT l.business_id, l.domain_id, l.url FROM due JOIN local_business b ON b.place_id = due.id
    JOIN business_domain l ON l.business_id = b.id WHERE l.url IS NOT NULL
), links AS (
    UPDATE business_domain l SET url = NULL FROM told
    WHERE l.business_id = told.business_id AND l.domain_id = told.domain_id
), sites AS (
    UPDATE domain d SET start_url = coalesce(d.final_url, 'https://' || d.name || '/') FROM told
    WHERE d.id = told.domain_id AND d.start_url = told.url
), ways AS (
    DELETE FROM contact c USING due JOIN local_business b ON b.place_id = due.id
    WHERE c.business_id = b.id AND c.found_by = 'provider' AND c.edited_at IS NULL
), businesses AS (
    UPDATE local_business b SET name = $2, address = NULL, street = NULL, city = NULL, region = NULL, postcode = NULL,
        country = NULL, latitude = NULL, longitude = NULL, timezone = NULL, phone = NULL, website = NULL,
        profiles = NULL, categories = '{}', rating = NULL, rating_count = NULL, price_level = NULL, hours = NULL,
        business_status = NULL, details = NULL, updated_at = now()
    FROM due WHERE b.place_id = due.id
)
UPDATE place p SET name = $2, address = NULL, latitude = NULL, longitude = NULL, phone = NULL, website = NULL,
    categories = '{}', rating = NULL, rating_count = NULL, business_status = NULL, details = NULL, expires_at = NULL,
    updated_at = now()
FROM due WHERE p.id = due.id"""


class ExpireProviderData(Periodic):
    """Places past their `expires_at` lose everything but their id, and so do the businesses made of them.

    What our own reading of a business's web site found is not the provider's and stays, with the domain it was found
    on; the exact address that the provider gave of the site does not.
    """

    name = "purge_expired"
    interval_minutes = 60

    async def run(self, connection: asyncpg.Connection) -> str:
        """Tenant by tenant, as that tenant, in bites."""
        purged = 0
        for tenant in await connection.fetch("SELECT id FROM tenant"):
            while count := await self._purge(connection, str(tenant["id"])):
                purged += count
            await self._forget_journals(connection, str(tenant["id"]))
        return f"{purged} places forgotten"

    async def _forget_journals(self, connection: asyncpg.Connection, tenant_id: str) -> None:
        """What a search was told and never finished with is the provider's as well."""
        async with connection.transaction():
            await connection.execute(ACT_AS_TENANT, tenant_id)
            await connection.execute(FORGET_OLD)

    async def _purge(self, connection: asyncpg.Connection, tenant_id: str) -> int:
        async with connection.transaction():
            await connection.execute(ACT_AS_TENANT, tenant_id)
            return int((await connection.execute(_PLACES, ROWS_AT_ONCE, EXPIRED_NAME)).split()[-1])
