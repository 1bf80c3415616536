"""Pages: buffer the pages of a sitemap, store them in bulk, choose a few of each site."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, any_, bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import HiddenReason
from scrapersky.crawl.sitemaps.entry import parse_lastmod
from scrapersky.engine.settle import driver_connection
from scrapersky.models import Domain, SitemapFile
from scrapersky.store.line.advance_rules import rules_of
from scrapersky.store.steps import PAGE_KINDS, not_rejected, step_after

ROWS_PER_STATEMENT = 2_500  # other tasks run between two statements: more rows would block the loop
BYTES_IN_MEMORY = 262_144  # shorter lists, which are most, need no file
NEXT = step_after("sitemap_import")

Picks = Sequence[tuple[str, str]]  # URLs and kinds, best first
LEFT_OVER = "no known word in the address; read because the site has fewer known pages than may be read"


class PageRow(NamedTuple):
    """A page as a sitemap lists it, with the kind that its URL suggests."""

    url: str
    kind: str
    score: float
    reason: str
    last_modified: str | None


class Spool:
    """The pages in the order in which they were added, one line of JSON each."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(BYTES_IN_MEMORY)  # noqa: SIM115 - lives as long as the spool does
        self.count = 0

    def add(self, page: PageRow) -> None:
        """Append a page."""
        self._file.write(json.dumps(page).encode() + b"\n")
        self.count += 1

    def __iter__(self) -> Iterator[PageRow]:
        self._file.seek(0)
        return (PageRow(*json.loads(line)) for line in self._file)


class ChosenPage(NamedTuple):
    """A page that enters the next step, and how many pages of its site could."""

    id: UUID
    domain_id: UUID
    free: int


class Visited(NamedTuple):
    """What is stored about the latest fetch of a page."""

    id: UUID
    fetched_at: datetime
    http_status: int
    etag: str | None
    contact_count: int | None
    hidden_reason: HiddenReason | None
    browser: str | None  # what a browser took, as JSON
    has_contact_form: bool | None


async def keep_visits(session: AsyncSession, visited: Sequence[Visited]) -> None:
    """Store when the pages were fetched, and how many contacts they had."""
    driver = await driver_connection(session)
    await driver.execute(_KEEP_VISITS, *_columns(visited))


async def domains_of(session: AsyncSession, sitemaps: Iterable[SitemapFile]) -> dict[UUID, Domain]:
    """Return the domains of these sitemaps, by id."""
    wanted = bindparam("domain_ids", list({sitemap.domain_id for sitemap in sitemaps}), ARRAY(Uuid()))
    return {row.id: row for row in await session.scalars(select(Domain).where(Domain.id == any_(wanted)))}


async def store(
    session: AsyncSession, domains: Mapping[UUID, Domain], listed: Iterable[tuple[SitemapFile, Spool]]
) -> None:
    """Insert or update each page, once per domain; an existing page keeps its curation and its contacts."""
    in_order = sorted(listed, key=lambda pair: pair[0].domain_id)  # one lock order for all hosts prevents deadlocks
    if not in_order:
        return
    driver = await driver_connection(session)
    records = (
        record for sitemap, spool in in_order for record in _records(domains[sitemap.domain_id], sitemap.id, spool)
    )
    while chunk := list(islice(records, ROWS_PER_STATEMENT)):
        await driver.execute(_STORE, in_order[0][0].tenant_id, *_columns(chunk))


async def choose(session: AsyncSession, domains: Iterable[Domain], picks: Mapping[UUID, Picks]) -> list[ChosenPage]:
    """Return the picked pages that enter the next step: the kinds and the number per site of the rules."""
    sites = [domain for domain in domains if picks.get(domain.id)]
    rules = await rules_of(session, {domain.search_id for domain in sites})
    wanted = [
        (domain.id, url, rules[domain.search_id].pages_per_site)
        for domain in sites
        for url, kind in picks[domain.id]
        if rules[domain.search_id].value_of(NEXT) != "off" and rules[domain.search_id].picks(kind)
    ]
    if not wanted:
        return []
    driver = await driver_connection(session)
    return [ChosenPage(**row) for row in await driver.fetch(_CHOOSE, *_columns(wanted))]


async def fill_budget(
    session: AsyncSession, domains: Iterable[Domain], unknown: Mapping[UUID, Sequence[str]], chosen: Sequence[UUID]
) -> list[UUID]:
    """Return the ids of unknown pages that use the rest of the page budget of sites whose lists have all been read.

    Their reason says so. Rules that name fewer kinds of pages than the default ones choose no unknown page.
    """
    sites = [domain for domain in domains if unknown.get(domain.id)]
    rules = await rules_of(session, {domain.search_id for domain in sites})
    wanted = [
        (domain.id, url, rules[domain.search_id].pages_per_site)
        for domain in sites
        for url in unknown[domain.id]
        if rules[domain.search_id].value_of(NEXT) != "off" and all(map(rules[domain.search_id].picks, PAGE_KINDS))
    ]
    if not wanted:
        return []
    driver = await driver_connection(session)
    return [row["id"] for row in await driver.fetch(_FILL, *_columns(wanted), list(chosen), LEFT_OVER)]


def _records(domain: Domain, sitemap_id: UUID, pages: Iterable[PageRow]) -> Iterator[tuple[Any, ...]]:
    for page in pages:
        depth = page.url.count("/") - 3 if page.url.endswith("/") else page.url.count("/") - 2
        last_modified = parse_lastmod(page.last_modified) if page.last_modified else None
        guess = (page.url, page.kind, page.score, page.reason)
        yield new_id(), domain.id, sitemap_id, domain.country, *guess, min(max(depth, 0), 100), last_modified


def _columns(rows: Sequence[tuple[Any, ...]]) -> Iterator[list[Any]]:
    return map(list, zip(*rows, strict=True))


_KEEP_VISITS = """
UPDATE page SET fetched_at = v.fetched_at, http_status = v.http_status, etag = v.etag, contact_count = v.contact_count,
    hidden_reason = v.hidden_reason, browser = v.browser, has_contact_form = v.has_contact_form, updated_at = now()
FROM unnest($1::uuid[], $2::timestamptz[], $3::int[], $4::text[], $5::int[], $6::text[], $7::jsonb[], $8::boolean[])
    AS v(id, fetched_at, http_status, etag, contact_count, hidden_reason, browser, has_contact_form)
WHERE page.id = v.id"""

_STORE = """
INSERT INTO page (id, tenant_id, domain_id, sitemap_file_id, country, url, kind, kind_score, kind_reason, depth,
    last_modified)
SELECT DISTINCT ON (domain_id, url) id, $1, domain_id, sitemap_file_id, country, url, kind, kind_score, kind_reason,
    depth, last_modified
FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::float8[], $9::text[],
    $10::smallint[], $11::timestamptz[])
    AS p(id, domain_id, sitemap_file_id, country, url, kind, kind_score, kind_reason, depth, last_modified)
ORDER BY domain_id, url, kind_score DESC
ON CONFLICT (tenant_id, domain_id, url) DO UPDATE SET last_modified = excluded.last_modified, kind = excluded.kind,
    kind_score = excluded.kind_score, kind_reason = excluded.kind_reason, updated_at = now()
WHERE page.last_modified IS DISTINCT FROM excluded.last_modified OR page.kind IS DISTINCT FROM excluded.kind"""


def address_of(row: str) -> str:
    """Build the expression for the address of a page: the same with http, https and www, in any case, with a slash."""
    return f"regexp_replace(lower({row}.url), '^https?://(www[.])?|[/]$', '', 'g')"


# The home page and a sitemap may name one page with and without www: it is read once.
_IS_NEW = f"""p.{NEXT.queue}_status = 'New' AND {not_rejected("p")} AND NOT EXISTS (
        SELECT FROM page read WHERE read.domain_id = p.domain_id AND read.{NEXT.queue}_status <> 'New'
            AND {address_of("read")} = {address_of("p")})"""

# In the order of the picks, up to the limit of the site; rejected pages and pages that were queued before are left out.
_CHOOSE = f"""
WITH picked AS (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::int[]) WITH ORDINALITY AS u(domain_id, url, per_site, rank)
), taken AS (
    SELECT d.domain_id, (SELECT count(*) FROM page p
        WHERE p.domain_id = d.domain_id AND p.{NEXT.queue}_status <> 'New') AS pages
    FROM (SELECT DISTINCT domain_id FROM picked) d
), candidates AS (
    SELECT p.id, u.domain_id, u.rank, u.per_site - t.pages AS free,
        row_number() OVER (PARTITION BY u.domain_id ORDER BY u.rank) AS turn
    FROM picked u JOIN taken t USING (domain_id)
    JOIN page p ON p.domain_id = u.domain_id AND p.url = u.url AND {_IS_NEW}
)
SELECT id, domain_id, free FROM candidates WHERE turn <= free ORDER BY rank"""  # noqa: S608 - our own names

# As above, but only of sites none of whose lists waits to be read: another list may have the contact page.
_FILL = f"""
WITH unknown AS (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::int[]) WITH ORDINALITY AS u(domain_id, url, per_site, rank)
), site AS (
    SELECT d.domain_id, (SELECT count(*) FROM page p WHERE p.domain_id = d.domain_id
        AND (p.{NEXT.queue}_status <> 'New' OR p.id = ANY ($4::uuid[]))) AS pages
    FROM (SELECT DISTINCT domain_id FROM unknown) d
    WHERE NOT EXISTS (SELECT FROM sitemap_file f WHERE f.domain_id = d.domain_id
        AND f.sitemap_import_status IN ('Queued', 'Processing'))
), filling AS (
    SELECT p.id, u.per_site - s.pages AS free, row_number() OVER (PARTITION BY u.domain_id ORDER BY u.rank) AS turn
    FROM unknown u JOIN site s USING (domain_id)
    JOIN page p ON p.domain_id = u.domain_id AND p.url = u.url AND {_IS_NEW}
)
UPDATE page SET kind_reason = $5 FROM filling WHERE page.id = filling.id AND turn <= free RETURNING page.id"""  # noqa: S608
