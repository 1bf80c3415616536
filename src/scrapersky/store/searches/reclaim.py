"""The rows of a search that was done before: they are its own again, whichever search has found them since."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.extract.pages.select import MIN_SCORE, NEXT_OF_KIND, WORTH
from scrapersky.store.line.advance_rules import AdvanceRules

NOISE = "^https?://(www[.])?|[/]$"  # what may differ in two addresses of one page


async def take_up(session: AsyncSession, search_id: UUID) -> None:
    """Go on with what the search found, so that its file has every row again."""
    for statement in (_PLACES, _BUSINESSES, _DOMAINS):
        await session.execute(statement, {"search": search_id})


async def read_more(session: AsyncSession, search_id: UUID, rules: AdvanceRules) -> None:
    """Queue further pages of the sites the search has found, as far as its rules now allow."""
    kinds = [kind for kind in WORTH if rules.page_curation == "all" or kind in rules.page_kinds]
    if rules.page_curation == "off" or not kinds:
        return
    wanted = {"kinds": [kind.value for kind in kinds], "worths": [WORTH[kind] for kind in kinds]}
    order = {"least": MIN_SCORE, "next": NEXT_OF_KIND, "noise": NOISE}
    await session.execute(_PAGES, {"search": search_id, "most": rules.pages_per_site, **wanted, **order})


# A row knows only the search that goes on with it now; the links know every search that found it. Rows are locked in
# one order, so that two who ask for overlapping searches never wait in a ring.
_PLACES = text("""
UPDATE place SET search_id = :search WHERE id IN (
    SELECT t.id FROM place t JOIN search_place f ON f.place_id = t.id
    WHERE f.search_id = :search AND t.search_id IS DISTINCT FROM :search
    ORDER BY t.id FOR NO KEY UPDATE OF t)""")

_BUSINESSES = text("""
UPDATE local_business SET search_id = :search WHERE id IN (
    SELECT t.id FROM local_business t JOIN search_business f ON f.business_id = t.id
    WHERE f.search_id = :search AND t.search_id IS DISTINCT FROM :search
    ORDER BY t.id FOR NO KEY UPDATE OF t)""")

_DOMAINS = text("""
UPDATE domain SET search_id = :search WHERE id IN (
    SELECT t.id FROM domain t JOIN search_domain f ON f.domain_id = t.id
    WHERE f.search_id = :search AND t.search_id IS DISTINCT FROM :search
    ORDER BY t.id FOR NO KEY UPDATE OF t)""")

# The order of a first pick (extract/page_picks): the kinds in turn, the surest and the shallowest first; no page that
# differs only in www, capitals or a slash from one that was read.
_PAGES = text("""
WITH sites AS (
    SELECT f.domain_id, :most - count(p.id) AS room FROM search_domain f
    LEFT JOIN page p ON p.domain_id = f.domain_id AND p.page_processing_status <> 'New'
    WHERE f.search_id = :search GROUP BY 1 HAVING count(p.id) < :most
), fresh AS (
    SELECT p.id, p.domain_id, p.url, p.kind, p.depth, w.worth * p.kind_score AS worth,
        row_number() OVER (PARTITION BY p.domain_id, regexp_replace(lower(p.url), :noise, '', 'g')
            ORDER BY p.kind_score DESC, length(p.url), p.url) AS copy
    FROM sites s JOIN page p ON p.domain_id = s.domain_id
    JOIN unnest(cast(:kinds AS text[]), cast(:worths AS float8[])) AS w(kind, worth) ON w.kind = p.kind
    WHERE p.page_processing_status = 'New' AND p.curation_status NOT IN ('Not a Fit', 'Archived')
        AND p.kind_score >= cast(:least AS float8) AND NOT EXISTS (
            SELECT FROM page r WHERE r.domain_id = p.domain_id AND r.page_processing_status <> 'New'
                AND regexp_replace(lower(r.url), :noise, '', 'g') = regexp_replace(lower(p.url), :noise, '', 'g'))
), ranked AS (
    SELECT id, domain_id, url, depth, worth * cast(:next AS float8) ^ (row_number() OVER (
        PARTITION BY domain_id, kind ORDER BY worth DESC, depth, length(url), url) - 1) AS worth
    FROM fresh WHERE copy = 1
), turns AS (
    SELECT id, domain_id, row_number() OVER (
        PARTITION BY domain_id ORDER BY worth DESC, depth, length(url), url) AS turn FROM ranked
)
UPDATE page SET page_processing_status = 'Queued' WHERE id IN (
    SELECT p.id FROM turns t JOIN sites s USING (domain_id) JOIN page p ON p.id = t.id
    WHERE t.turn <= s.room ORDER BY p.id FOR NO KEY UPDATE OF p)""")
