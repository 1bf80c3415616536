"""The answers of providers in the database: what one worker was told, all of them know, also after a restart."""

import json
from datetime import timedelta
from hashlib import sha256
from typing import Any

from scrapersky.core.database import Database

MAX_BYTES = 64_000_000  # of all answers together; the oldest make room
LARGEST_BYTES = 16_000_000  # a larger one is not kept

_FIND = "SELECT response FROM provider_response WHERE request_hash = $1 AND expires_at > clock_timestamp()"

_KEEP = """
INSERT INTO provider_response (request_hash, response, size_bytes, expires_at)
VALUES ($1, $2, $3, clock_timestamp() + $4)
ON CONFLICT (request_hash) DO UPDATE
    SET response = excluded.response, size_bytes = excluded.size_bytes, expires_at = excluded.expires_at"""

# Rows that somebody else is just removing are left to them: two workers never wait for each other in a ring.
_MAKE_ROOM = """
DELETE FROM provider_response WHERE request_hash IN (
    SELECT request_hash FROM provider_response WHERE request_hash IN (
        SELECT request_hash FROM (
            SELECT request_hash, sum(size_bytes) OVER (ORDER BY expires_at DESC, request_hash) AS so_far
            FROM provider_response) a
        WHERE so_far > $1)
    FOR UPDATE SKIP LOCKED)"""


class StoredResponseCache:
    """The Answers that all workers and commands share."""

    def __init__(self, database: Database, most_bytes: int = MAX_BYTES) -> None:
        self._database = database
        self._most_bytes = most_bytes

    async def find(self, query: str) -> Any | None:
        """The answer, if it is still good by the database's clock."""
        async with self._database.engine_connection() as connection:
            kept = await connection.fetchval(_FIND, _digest(query))
        return None if kept is None else json.loads(kept)

    async def keep(self, query: str, response: Any, ttl: timedelta) -> None:
        """For all workers; the oldest answers make room."""
        text = json.dumps(response)  # ASCII: what PostgreSQL cannot hold is escaped
        if len(text) > LARGEST_BYTES:
            return
        async with self._database.engine_connection() as connection:
            await connection.execute(_KEEP, _digest(query), text, len(text), ttl)
            await connection.execute(_MAKE_ROOM, self._most_bytes)


def _digest(question: str) -> str:
    return sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
