"""Named queries about pages: stored in bulk, a few of them chosen."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.ids import new_id
from scrapersky.crawl.sitemap_entry import parse_lastmod
from scrapersky.engine.settling import driver_of
from scrapersky.models import Domain, SitemapFile
from scrapersky.store.rules import rules_of

ROWS_AT_ONCE = 10_000
COLUMNS = ("id", "url", "kind", "kind_score", "kind_reason", "depth", "last_modified")


class PageRow(NamedTuple):
    """A page as a list names it, with the kind its address tells."""

    url: str
    kind: str
    score: float
    reason: str
    last_modified: str | None


class Spool:
    """Pages on disk between reading a list and storing it: a line each, so that memory does not grow."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+b")  # noqa: SIM115 - lives as long as the spool, and ends with it
        self.count = 0

    def add(self, page: PageRow) -> None:
        """Append one."""
        self._file.write(json.dumps(page).encode() + b"\n")
        self.count += 1

    def __iter__(self) -> Iterator[PageRow]:
        self._file.seek(0)
        return (PageRow(*json.loads(line)) for line in self._file)


class Visited(NamedTuple):
    """A page that was fetched, and what is remembered of it."""

    id: UUID
    fetched_at: datetime
    http_status: int
    etag: str | None
    contact_count: int | None


async def keep_visits(session: AsyncSession, visited: Sequence[Visited]) -> None:
    """Remember when the pages were read, and how many contacts they had."""
    driver = await driver_of(session)
    await driver.execute(_KEEP_VISITS, *map(list, zip(*visited, strict=True)))


async def domain_of(session: AsyncSession, sitemap: SitemapFile) -> Domain:
    """The domain a sitemap belongs to."""
    return (await session.scalars(select(Domain).where(Domain.id == sitemap.domain_id))).one()


async def copy(session: AsyncSession, sitemap: SitemapFile, domain: Domain, pages: Spool) -> None:
    """Every page once per domain; a page that is known keeps its curation and its contacts."""
    driver = await driver_of(session)
    await driver.execute(_INCOMING)
    records = (_record(page) for page in pages)
    while chunk := list(islice(records, ROWS_AT_ONCE)):
        await driver.copy_records_to_table("incoming_page", records=chunk, columns=COLUMNS)
        await driver.execute(_STORE, domain.tenant_id, domain.id, sitemap.id, domain.country)
        await driver.execute("TRUNCATE incoming_page")


async def choose(session: AsyncSession, domain: Domain, picks: Sequence[tuple[str, str]]) -> list[UUID]:
    """The ids of the picked pages that may go on by the rules: those kinds, so many per site in all."""
    rules = (await rules_of(session, [domain.search_id]))[domain.search_id]
    if rules.page_curation == "off" or not picks:
        return []
    urls = [url for url, kind in picks if rules.page_curation == "all" or kind in rules.page_kinds]
    chosen = await session.execute(_CHOOSE, {"domain": domain.id, "urls": urls, "most": rules.pages_per_site})
    return [row.id for row in chosen]


def _record(page: PageRow) -> tuple[Any, ...]:
    depth = page.url.count("/") - 3 if page.url.endswith("/") else page.url.count("/") - 2
    last_modified = parse_lastmod(page.last_modified) if page.last_modified else None
    return (new_id(), page.url, page.kind, page.score, page.reason, min(max(depth, 0), 100), last_modified)


_KEEP_VISITS = """
UPDATE page SET fetched_at = v.fetched_at, http_status = v.http_status, etag = v.etag, contact_count = v.contact_count,
    updated_at = now()
FROM unnest($1::uuid[], $2::timestamptz[], $3::int[], $4::text[], $5::int[])
    AS v(id, fetched_at, http_status, etag, contact_count)
WHERE page.id = v.id"""

_INCOMING = """
CREATE TEMPORARY TABLE IF NOT EXISTS incoming_page (id uuid, url text, kind text, kind_score float8, kind_reason text,
    depth smallint, last_modified timestamptz) ON COMMIT DROP"""

_STORE = """
INSERT INTO page (id, tenant_id, domain_id, sitemap_file_id, country, url, kind, kind_score, kind_reason, depth,
    last_modified)
SELECT DISTINCT ON (url) id, $1, $2, $3, $4, url, kind, kind_score, kind_reason, depth, last_modified
FROM incoming_page ORDER BY url, kind_score DESC
ON CONFLICT (tenant_id, domain_id, url) DO UPDATE SET last_modified = excluded.last_modified, kind = excluded.kind,
    kind_score = excluded.kind_score, kind_reason = excluded.kind_reason, updated_at = now()
WHERE page.last_modified IS DISTINCT FROM excluded.last_modified OR page.kind IS DISTINCT FROM excluded.kind"""

# In the order of the pick, as many as the site has left; what was turned down or is under way is not taken again.
_CHOOSE = text("""
WITH taken AS (SELECT count(*) AS pages FROM page WHERE domain_id = :domain AND page_processing_status <> 'New')
SELECT p.id FROM unnest(cast(:urls AS text[])) WITH ORDINALITY AS u(url, place)
JOIN page p ON p.domain_id = :domain AND p.url = u.url AND p.page_processing_status = 'New'
    AND p.curation_status NOT IN ('Not a Fit', 'Archived')
ORDER BY u.place LIMIT (SELECT greatest(0, :most - pages) FROM taken)""")
