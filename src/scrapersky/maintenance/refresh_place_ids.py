"""Place ids change over time: ids that can be kept for ever are refreshed once a year, which is free of charge."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg
import structlog

from scrapersky.core.database import ACT_AS_TENANT, Database
from scrapersky.core.errors import Permanent, Retryable
from scrapersky.engine.maintenance import MaintenanceTask
from scrapersky.providers.base import PlaceNotFound, RenewsIds

log = structlog.get_logger(__name__)

MAX_IDS = 100  # of one tenant and provider in an hour
DUPLICATE = "{provider} has another id for this place, and there is another place with that id: archive this one."

_OLD = """
SELECT id, provider_id FROM place WHERE provider = $1 AND fetched_at < now() - interval '12 months'
    AND deep_scan_status NOT IN ('Queued', 'Processing') ORDER BY fetched_at, id LIMIT $2"""

_RENEW = """
UPDATE place p SET provider_id = $2, fetched_at = now() WHERE id = $1 AND NOT EXISTS (
    SELECT FROM place o WHERE (o.tenant_id, o.provider, o.provider_id) = (p.tenant_id, p.provider, $2) AND o.id <> p.id)
RETURNING id"""

# The place is marked like one whose deep scan failed, with the reason. It is refreshed again in a year.
_STALE = """
UPDATE place SET deep_scan_status = 'Error', deep_scan_error = $2, fetched_at = now(), updated_at = now()
WHERE id = $1 AND deep_scan_status NOT IN ('Queued', 'Processing')"""


class RefreshPlaceIds(MaintenanceTask):
    """Refreshes ids older than twelve months; a place without an id is marked, with the reason and the cure."""

    name = "refresh_place_ids"
    interval_minutes = 60

    def __init__(self, database: Database, id_providers: Sequence[RenewsIds]) -> None:
        self._database = database
        self._providers = id_providers

    async def run_on(self, database: Database) -> str:
        """Refresh the oldest ids of every tenant; after an error of a provider the rest follows in an hour."""
        fresh = stale = 0
        async with database.engine_connection() as connection:
            tenants = [row["id"] for row in await connection.fetch("SELECT id FROM tenant ORDER BY id")]
        for provider in self._providers:
            try:
                for tenant_id in tenants:
                    for place in await self._as_tenant(tenant_id, _OLD, provider.name, MAX_IDS):
                        is_fresh = await self._refresh(provider, tenant_id, place["id"], place["provider_id"])
                        fresh, stale = fresh + is_fresh, stale + (not is_fresh)
            except (Retryable, Permanent) as error:
                log.warning("place_id_refresh_failed", provider=provider.name, reason=str(error))
                return f"{fresh} ids refreshed, {stale} stale; then: {error}"
        return f"{fresh} ids refreshed, {stale} stale"

    async def _refresh(self, provider: RenewsIds, tenant_id: UUID, place_id: UUID, provider_id: str) -> bool:
        try:
            current = await provider.current_id(provider_id)
        except PlaceNotFound as gone:
            await self._as_tenant(tenant_id, _STALE, place_id, str(gone))
            return False
        if await self._as_tenant(tenant_id, _RENEW, place_id, current):
            return True
        await self._as_tenant(tenant_id, _STALE, place_id, DUPLICATE.format(provider=provider.name))
        return False

    async def _as_tenant(self, tenant_id: UUID, statement: str, *values: Any) -> list[asyncpg.Record]:
        """Run a statement in its own transaction: none is open during a request to a provider."""
        async with self._database.engine_connection() as connection, connection.transaction():
            await connection.execute(ACT_AS_TENANT, str(tenant_id))
            rows: list[asyncpg.Record] = await connection.fetch(statement, *values)
        return rows
