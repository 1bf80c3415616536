"""Cache of provider responses in the database, shared by all workers and kept over a restart."""

import json
from datetime import timedelta
from hashlib import sha256
from typing import Any

from scrapersky.core.database import Database

MAX_BYTES = 64_000_000  # of all responses together; the oldest are deleted
MAX_RESPONSE_BYTES = 16_000_000  # a larger response is not stored

_FIND = "SELECT response FROM provider_response WHERE request_hash = $1 AND expires_at > clock_timestamp()"

_STORE = """
INSERT INTO provider_response (request_hash, response, size_bytes, expires_at)
VALUES ($1, $2, $3, clock_timestamp() + $4)
ON CONFLICT (request_hash) DO UPDATE
    SET response = excluded.response, size_bytes = excluded.size_bytes, expires_at = excluded.expires_at"""

# Rows that another worker is deleting are skipped, so that two workers never deadlock.
_EVICT = """
DELETE FROM provider_response WHERE request_hash IN (
    SELECT request_hash FROM provider_response WHERE request_hash IN (
        SELECT request_hash FROM (
            SELECT request_hash, sum(size_bytes) OVER (ORDER BY expires_at DESC, request_hash) AS so_far
            FROM provider_response) a
        WHERE so_far > $1)
    FOR UPDATE SKIP LOCKED)"""


class StoredResponseCache:
    """The response cache of all workers and commands."""

    def __init__(self, database: Database, max_bytes: int = MAX_BYTES) -> None:
        self._database = database
        self._max_bytes = max_bytes

    async def find(self, query: str) -> Any | None:
        """Return the response if it has not expired by the clock of the database, else None."""
        async with self._database.engine_connection() as connection:
            text = await connection.fetchval(_FIND, _digest(query))
        return None if text is None else json.loads(text)

    async def keep(self, query: str, response: Any, ttl: timedelta) -> None:
        """Store a response for all workers; delete the oldest ones beyond the maximum size."""
        text = json.dumps(response)  # ASCII: characters that PostgreSQL cannot store are escaped
        if len(text) > MAX_RESPONSE_BYTES:
            return
        async with self._database.engine_connection() as connection:
            await connection.execute(_STORE, _digest(query), text, len(text), ttl)
            await connection.execute(_EVICT, self._max_bytes)


def _digest(query: str) -> str:
    return sha256(query.encode("utf-8", "surrogatepass")).hexdigest()
