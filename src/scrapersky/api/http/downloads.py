"""Downloads: sessions that last as long as somebody reads, and never so many that nobody else is served."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.database import Database
from scrapersky.core.errors import RateLimited

WAIT_SECONDS = 10


class Downloads:
    """A file that is read slowly keeps its connection: half of the pool at most goes to files, and half of that to one
    tenant."""

    def __init__(self, database: Database, pool_size: int) -> None:
        self._database = database
        self.most = max(1, pool_size // 2)
        self.most_of_one = max(1, (self.most + 1) // 2)
        self._running = Counter[UUID]()

    @property
    def running(self) -> int:
        """How many files are on their way."""
        return self._running.total()

    @asynccontextmanager
    async def session(self, tenant_id: UUID) -> AsyncIterator[AsyncSession]:
        """A session for one file, or a word that it has to wait."""
        if self._running[tenant_id] >= self.most_of_one or self.running >= self.most:
            raise RateLimited("Other files are on their way; ask again when one of them has arrived.", WAIT_SECONDS)
        self._running[tenant_id] += 1
        try:
            async with self._database.session(tenant_id) as session:
                yield session
        finally:
            self._running[tenant_id] -= 1
            if not self._running[tenant_id]:
                del self._running[tenant_id]
