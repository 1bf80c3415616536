"""A tenant that is disabled rests with all its work; enabled again, it goes on at once."""

from collections.abc import Iterable
from uuid import UUID

from scrapersky.core.database import Database
from scrapersky.engine.outcomes import TENANT_DISABLED
from scrapersky.engine.queue import Queue

ROWS_AT_ONCE = 10_000


async def go_on(database: Database, queues: Iterable[Queue], tenant_id: UUID) -> None:
    """Wake what rested, in bites that are transactions of their own: a crash leaves rows that wake a little later."""
    for queue in queues:
        while await _wake(database, queue, tenant_id) == ROWS_AT_ONCE:
            pass


async def _wake(database: Database, queue: Queue, tenant_id: UUID) -> int:
    async with database.engine_connection() as connection:
        return await queue.wake(connection, tenant_id, TENANT_DISABLED.error or "", ROWS_AT_ONCE)
