"""The cache of response bodies in the database, shared by all workers."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import asyncpg
from multidict import CIMultiDict

from scrapersky.core.batcher import Batcher
from scrapersky.core.database import Database
from scrapersky.core.settings import Settings
from scrapersky.crawl.http.body_cache import MAX_BODY_BYTES
from scrapersky.crawl.page import FetchedPage, Redirect

MAX_KEPT_AT_ONCE = 20  # bodies in one statement

_FIND = """
SELECT url_hash, head, body FROM fetched_body
WHERE url_hash = ANY ($1::bytea[]) AND expires_at > clock_timestamp()"""

# Rows are written in the order of their keys, so that two workers never deadlock.
_KEEP = """
INSERT INTO fetched_body (url_hash, head, body, size_bytes, expires_at)
SELECT url_hash, head, body, octet_length(body), clock_timestamp() + ttl
FROM unnest($1::bytea[], $2::text[], $3::bytea[], $4::interval[]) AS kept(url_hash, head, body, ttl)
ORDER BY url_hash
ON CONFLICT (url_hash) DO UPDATE SET head = excluded.head, body = excluded.body, size_bytes = excluded.size_bytes,
    expires_at = excluded.expires_at"""

Kept = tuple[bytes, FetchedPage, timedelta]


class SharedBodyCache:
    """A BodyCache in PostgreSQL. Calls that come together share one statement."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.ttl = timedelta(seconds=settings.crawl_body_cache_seconds)
        self._database = database
        self._finding: Batcher[bytes, FetchedPage | None] = Batcher(self._find)
        self._keeping: Batcher[Kept, None] = Batcher(
            self._keep, key=lambda kept: kept[0], max_size=MAX_KEPT_AT_ONCE, max_in_flight=1
        )

    async def find(self, url: str) -> FetchedPage | None:
        """Return the response that was kept under this URL and has not expired, or None."""
        return await self._finding.add(_digest(url))

    async def keep(self, url: str, page: FetchedPage, ttl: timedelta) -> None:
        """Keep a response for all workers; one that is cut off or too large is not kept."""
        if ttl and not page.truncated and len(page.body) <= MAX_BODY_BYTES:
            await self._keeping.add((_digest(url), page, ttl))

    async def _find(self, digests: Sequence[bytes]) -> list[FetchedPage | None]:
        async with self._database.engine_connection() as connection:
            rows = await connection.fetch(_FIND, list(set(digests)))
        found = {bytes(row["url_hash"]): _page_of(row) for row in rows}
        return [found.get(digest) for digest in digests]

    async def _keep(self, kept: Sequence[Kept]) -> list[None]:
        digests, pages, ttls = zip(*kept, strict=True)
        bodies = [page.body for page in pages]
        async with self._database.engine_connection() as connection:
            await connection.execute(_KEEP, list(digests), [_head_of(page) for page in pages], bodies, list(ttls))
        return [None] * len(kept)


def _digest(url: str) -> bytes:
    return sha256(url.encode("utf-8", "surrogatepass")).digest()


def _head_of(page: FetchedPage) -> str:
    """Return everything but the body as JSON; ASCII, so that PostgreSQL can store every character."""
    head: dict[str, Any] = {
        "url": page.url,
        "final_url": page.final_url,
        "status": page.status,
        "headers": dict(page.headers),
        "redirects": [asdict(redirect) for redirect in page.redirects],
        "fetched_at": page.fetched_at.isoformat(),
        "seconds": page.seconds,
        "raw_bytes": page.raw_bytes,
    }
    return json.dumps(head)


def _page_of(row: asyncpg.Record) -> FetchedPage:
    head = json.loads(row["head"])
    head["redirects"] = tuple(Redirect(**redirect) for redirect in head["redirects"])
    head["fetched_at"] = datetime.fromisoformat(head["fetched_at"])
    head["headers"] = CIMultiDict(head["headers"])
    return FetchedPage(**head, body=bytes(row["body"]))
