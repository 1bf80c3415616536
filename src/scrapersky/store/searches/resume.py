"""Queries that continue an earlier search: take its rows over, queue further pages, queue what a cancel withdrew."""

from itertools import pairwise
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.extract.pages.select import MIN_SCORE, NEXT_OF_KIND, WORTH
from scrapersky.models import Search
from scrapersky.store.steps import ROWS_OF_SEARCH, STEPS, AdvanceRules, LineStep, not_rejected, step_after

URL_NOISE = "^https?://(www[.])?|[/]$"  # two URLs that differ in this only are the same page


async def take_over_rows(session: AsyncSession, search_id: UUID) -> None:
    """Make the search the owner of every row it has found: they are processed by its rules from now on."""
    for statement in _TAKE_OVER:
        await session.execute(statement, {"search": search_id})


async def queue_more_pages(session: AsyncSession, search_id: UUID, rules: AdvanceRules) -> None:
    """Queue further pages of the sites that the search has found, as far as the rules allow."""
    kinds = [kind for kind in WORTH if rules.picks(kind)]
    if rules.value_of(step_after("sitemap_import")) == "off" or not kinds:
        return
    scores = {"kinds": [kind.value for kind in kinds], "worths": [WORTH[kind] for kind in kinds]}
    order = {"min_score": MIN_SCORE, "repeated": NEXT_OF_KIND, "noise": URL_NOISE}
    await session.execute(_QUEUE_PAGES, {"search": search_id, "per_site": rules.pages_per_site, **scores, **order})


async def queue_withdrawn_rows(session: AsyncSession, search: Search, rules: AdvanceRules) -> None:
    """Queue the rows of a cancelled search that the rules let into a step, or that a person selected."""
    search.cancelled_by = None
    await session.flush()
    for step, statement in _QUEUE:
        await session.execute(statement, {"search": search.id, "rule": rules.value_of(step)})


# A row stores only the search that owns it; the search_* tables store every search that found it. Rows are locked in
# one order, so that two overlapping requests do not deadlock.
_TAKE_OVER = [
    text(f"""
UPDATE {table} AS found SET search_id = :search WHERE found.id IN (
    SELECT t.id FROM {table} t WHERE {ROWS_OF_SEARCH[table].found.format(row="t")}
        AND t.search_id IS DISTINCT FROM :search ORDER BY t.id FOR NO KEY UPDATE OF t)""")  # noqa: S608 - our own names
    for table in ("place", "local_business", "domain")
]


def _queue(before: LineStep, step: LineStep) -> str:
    queue, conditions = step.queue, {"all": "true", **step.rule_values}
    by_rule = " OR ".join(f"(cast(:rule AS text) = '{value}' AND {needs})" for value, needs in conditions.items())
    may_enter = step.may_enter
    if before.table == step.table:
        may_enter += f" AND {{row}}.{before.queue}_status = 'Completed'"
    statement = f"""
UPDATE {step.table} SET {queue}_status = replace({queue}_status, 'New', 'Queued'), {queue}_revert_to = NULL,
    updated_at = now()
WHERE id IN (
    SELECT t.id FROM {step.table} t WHERE {ROWS_OF_SEARCH[step.table].owned} AND {not_rejected("t")}
        AND ((t.{queue}_status = 'New' AND ({may_enter})
                AND (t.curation_status = 'Selected' OR {"false" if step.is_picked else by_rule}))
            OR (t.{queue}_status = 'Processing' AND t.{queue}_revert_to IS NOT NULL))
    ORDER BY t.id FOR NO KEY UPDATE OF t)"""  # noqa: S608 - our own names
    return statement.format(row="t")


_QUEUE = [(step, text(_queue(before, step))) for before, step in pairwise(STEPS)]

_PAGES = step_after("sitemap_import").queue
# The order of extract.pages.select: the kinds in turn, the highest score and the smallest depth first; no page whose
# URL differs from one that was read only in www, case or a slash.
_QUEUE_PAGES = text(f"""
WITH sites AS (
    SELECT f.domain_id, :per_site - count(p.id) AS free FROM search_domain f
    LEFT JOIN page p ON p.domain_id = f.domain_id AND p.{_PAGES}_status <> 'New'
    WHERE f.search_id = :search GROUP BY 1 HAVING count(p.id) < :per_site
), fresh AS (
    SELECT p.id, p.domain_id, p.url, p.kind, p.depth, w.worth * p.kind_score AS worth,
        row_number() OVER (PARTITION BY p.domain_id, regexp_replace(lower(p.url), :noise, '', 'g')
            ORDER BY p.kind_score DESC, length(p.url), p.url) AS copy
    FROM sites s JOIN page p ON p.domain_id = s.domain_id
    JOIN unnest(cast(:kinds AS text[]), cast(:worths AS float8[])) AS w(kind, worth) ON w.kind = p.kind
    WHERE p.{_PAGES}_status = 'New' AND {not_rejected("p")}
        AND p.kind_score >= cast(:min_score AS float8) AND NOT EXISTS (
            SELECT FROM page r WHERE r.domain_id = p.domain_id AND r.{_PAGES}_status <> 'New'
                AND regexp_replace(lower(r.url), :noise, '', 'g') = regexp_replace(lower(p.url), :noise, '', 'g'))
), ranked AS (
    SELECT id, domain_id, url, depth, worth * cast(:repeated AS float8) ^ (row_number() OVER (
        PARTITION BY domain_id, kind ORDER BY worth DESC, depth, length(url), url) - 1) AS worth
    FROM fresh WHERE copy = 1
), turns AS (
    SELECT id, domain_id, row_number() OVER (
        PARTITION BY domain_id ORDER BY worth DESC, depth, length(url), url) AS turn FROM ranked
)
UPDATE page SET {_PAGES}_status = 'Queued' WHERE id IN (
    SELECT p.id FROM turns t JOIN sites s USING (domain_id) JOIN page p ON p.id = t.id
    WHERE t.turn <= s.free ORDER BY p.id FOR NO KEY UPDATE OF p)""")  # noqa: S608 - our own names
