"""Contacts that no page, file or person has confirmed for a long time are forgotten."""

import asyncpg

from scrapersky.core.database import ACT_AS_TENANT
from scrapersky.core.settings import Settings
from scrapersky.engine.maintenance import Periodic

ROWS_AT_ONCE = 500

# Rows in hand are left for the next time. The home page's copy of an address goes with its contact.
_FORGET = """
WITH old AS (
    SELECT id FROM contact WHERE tenant_id = $1 AND seen_at < now() - $2::int * interval '1 day'
        AND contact_verification_status <> 'Processing'
    ORDER BY seen_at LIMIT $3 FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM contact c USING old WHERE c.id = old.id
    RETURNING c.domain_id, c.email, coalesce(c.phone, c.fax) AS phone
), copies AS (
    SELECT domain_id, array_remove(array_agg(email), NULL) AS emails, array_remove(array_agg(phone), NULL) AS phones
    FROM gone WHERE domain_id IS NOT NULL GROUP BY domain_id
), cleaned AS (
    UPDATE domain d SET facts = d.facts || jsonb_build_object(
        'emails', coalesce(d.facts->'emails', '[]') - c.emails, 'phones', coalesce(d.facts->'phones', '[]') - c.phones)
    FROM copies c WHERE d.id = c.domain_id AND d.facts IS NOT NULL
)
SELECT count(*) FROM gone"""


class ExpireContacts(Periodic):
    """Contacts that were last seen more than SCRAPERSKY_CONTACT_RETENTION_DAYS ago are deleted; 0 keeps them."""

    name = "forget_contacts"
    interval_minutes = 60

    def __init__(self, settings: Settings) -> None:
        self._days = settings.contact_retention_days

    async def run(self, connection: asyncpg.Connection) -> str:
        """Tenant by tenant, as that tenant, in bites."""
        if not self._days:
            return "contacts are kept: SCRAPERSKY_CONTACT_RETENTION_DAYS is 0"
        forgotten = 0
        for tenant in await connection.fetch("SELECT id FROM tenant"):
            while count := await self._forget(connection, tenant["id"]):
                forgotten += count
        return f"{forgotten} contacts forgotten that were not seen for {self._days} days"

    async def _forget(self, connection: asyncpg.Connection, tenant_id: object) -> int:
        async with connection.transaction():
            await connection.execute(ACT_AS_TENANT, str(tenant_id))
            return int(await connection.fetchval(_FORGET, tenant_id, self._days, ROWS_AT_ONCE))
