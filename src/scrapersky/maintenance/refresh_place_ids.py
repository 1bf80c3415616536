"""Ids of places grow old: those that may be kept for ever are looked at once a year, which costs nothing."""

from collections.abc import Sequence
from typing import Any, Protocol
from uuid import UUID

import asyncpg
import structlog

from scrapersky.core.database import ACT_AS_TENANT, Database
from scrapersky.core.errors import Hopeless, TryAgain
from scrapersky.engine.maintenance import Periodic
from scrapersky.providers.google.errors import PlaceNotFound

log = structlog.get_logger(__name__)

MAX_CONCURRENT = 100  # ids an hour
KNOWN_TWICE = "{provider} has another id for this place, and the place of that id is here as well; archive this one."

_OLD = """
SELECT id, provider_id FROM place WHERE provider = $1 AND fetched_at < now() - interval '12 months'
    AND deep_scan_status NOT IN ('Queued', 'Processing') ORDER BY fetched_at, id LIMIT $2"""

_RENEW = """
UPDATE place p SET provider_id = $2, fetched_at = now() WHERE id = $1 AND NOT EXISTS (
    SELECT FROM place o WHERE (o.tenant_id, o.provider, o.provider_id) = (p.tenant_id, p.provider, $2) AND o.id <> p.id)
RETURNING id"""

# As a deep scan would end: the reason is where people look for it. In a year it is looked at again.
_STALE = """
UPDATE place SET deep_scan_status = 'Error', deep_scan_error = $2, fetched_at = now(), updated_at = now()
WHERE id = $1 AND deep_scan_status NOT IN ('Queued', 'Processing')"""


class KeeperOfIds(Protocol):
    """A provider whose ids change now and then."""

    name: str

    async def current_id(self, provider_id: str) -> str:
        """The id that the place has now; PlaceGone if it has none."""


class RefreshPlaceIds(Periodic):
    """Ids older than twelve months are asked about; a place without one is marked, with the reason and the cure."""

    name = "refresh_ids"
    interval_minutes = 60

    def __init__(self, database: Database, keepers: Sequence[KeeperOfIds]) -> None:
        self._database = database
        self._keepers = keepers

    async def run(self, connection: asyncpg.Connection) -> str:
        """The oldest of every tenant; when a provider has enough of us, the rest comes in an hour."""
        fresh = stale = 0
        tenants = [row["id"] for row in await connection.fetch("SELECT id FROM tenant ORDER BY id")]
        for keeper in self._keepers:
            try:
                for tenant_id in tenants:
                    for place in await self._as_tenant(tenant_id, _OLD, keeper.name, MAX_CONCURRENT):
                        is_fresh = await self._look(keeper, tenant_id, place["id"], place["provider_id"])
                        fresh, stale = fresh + is_fresh, stale + (not is_fresh)
            except (TryAgain, Hopeless) as trouble:
                log.warning("place_id_refresh_failed", provider=keeper.name, reason=str(trouble))
                return f"{fresh} ids refreshed, {stale} stale; then: {trouble}"
        return f"{fresh} ids refreshed, {stale} stale"

    async def _look(self, keeper: KeeperOfIds, tenant_id: UUID, place_id: UUID, provider_id: str) -> bool:
        try:
            current = await keeper.current_id(provider_id)
        except PlaceNotFound as gone:
            await self._as_tenant(tenant_id, _STALE, place_id, str(gone))
            return False
        if await self._as_tenant(tenant_id, _RENEW, place_id, current):
            return True
        await self._as_tenant(tenant_id, _STALE, place_id, KNOWN_TWICE.format(provider=keeper.name))
        return False

    async def _as_tenant(self, tenant_id: UUID, statement: str, *values: Any) -> list[asyncpg.Record]:
        """One statement in a transaction of its own: none is open while a provider is asked."""
        async with self._database.engine_connection() as connection, connection.transaction():
            await connection.execute(ACT_AS_TENANT, str(tenant_id))
            rows: list[asyncpg.Record] = await connection.fetch(statement, *values)
        return rows
