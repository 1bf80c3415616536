"""Records whose facts were changed outside of the deep scan, or stored by an earlier version, are compared."""

from uuid import UUID

from sqlalchemy import select

from scrapersky.core.database import Database
from scrapersky.engine.maintenance import MaintenanceTask
from scrapersky.models import LocalBusiness
from scrapersky.store.line import same_business

BATCH_ROWS = 200
MAX_BATCHES = 50  # of one tenant in one run; the rest follows in the next


class CompareBusinesses(MaintenanceTask):
    """Compares records that were not compared since their facts were changed, and joins those of one business."""

    name = "compare_businesses"
    interval_minutes = 5

    async def run_on(self, database: Database) -> str:
        """Compare the records of every tenant in batches, each in its own transaction."""
        async with database.engine_connection() as connection:
            tenants = [row["id"] for row in await connection.fetch("SELECT id FROM tenant ORDER BY id")]
        compared = joined = 0
        for tenant_id in tenants:
            for _ in range(MAX_BATCHES):
                rows, joins = await self._batch(database, tenant_id)
                compared, joined = compared + rows, joined + joins
                if rows < BATCH_ROWS:
                    break
        return f"{compared} records compared, {joined} joined"

    async def _batch(self, database: Database, tenant_id: UUID) -> tuple[int, int]:
        """Return how many records were compared and joined."""
        async with database.session(tenant_id) as session:
            waiting = select(LocalBusiness.id).where(
                LocalBusiness.tenant_id == tenant_id, LocalBusiness.compared_at.is_(None)
            )
            if await session.scalar(waiting.limit(1)) is None:
                return 0, 0
            await same_business.lock(session, tenant_id)
            ids = list(await session.scalars(waiting.order_by(LocalBusiness.id).limit(BATCH_ROWS)))
            return len(ids), len(await same_business.compare(session, tenant_id, ids)) if ids else 0
