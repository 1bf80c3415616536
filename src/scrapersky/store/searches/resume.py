"""Queries that continue an earlier search: take its rows over, queue further pages, queue what a cancel withdrew."""

from collections.abc import Sequence
from itertools import pairwise
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.extract.pages.select import MIN_SCORE, NEXT_OF_KIND, WORTH
from scrapersky.models import Domain
from scrapersky.store.line.pages import address_of
from scrapersky.store.steps import (
    LINKS,
    NOT_NEEDED,
    ROWS_OF_SEARCH,
    STEPS,
    AdvanceRules,
    LineStep,
    not_rejected,
    step_after,
    step_named,
    steps_of,
)


async def take_over_rows(session: AsyncSession, search_ids: Sequence[UUID]) -> None:
    """Make the searches the owners of every row they have found: they are processed by their rules from now on."""
    for statement in _TAKE_OVER:
        await session.execute(statement, {"searches": list(search_ids)})


async def queue_more_pages(session: AsyncSession, search_id: UUID, rules: AdvanceRules) -> None:
    """Queue further pages of the sites that the search has found, as far as the rules allow."""
    kinds = [kind for kind in WORTH if rules.picks(kind)]
    if rules.value_of(step_after("sitemap_import")) == "off" or not kinds:
        return
    scores = {"kinds": [kind.value for kind in kinds], "worths": [WORTH[kind] for kind in kinds]}
    order = {"min_score": MIN_SCORE, "repeated": NEXT_OF_KIND}
    await session.execute(_QUEUE_PAGES, {"search": search_id, "per_site": rules.pages_per_site, **scores, **order})


async def queue_sites(session: AsyncSession, search_id: UUID) -> None:
    """Queue all web sites of a search again, and their pages that were read, unless a person rejected them."""
    await session.execute(_QUEUE_SITES, {"search": search_id})
    await queue_read_pages(session, [search_id])


async def queue_read_pages(session: AsyncSession, search_ids: Sequence[UUID]) -> None:
    """Queue the pages again that were read for these searches: what is on them may have changed."""
    await session.execute(_QUEUE_READ_PAGES, {"searches": list(search_ids)})


async def queue_analyses(session: AsyncSession, search_ids: Sequence[UUID], rules: AdvanceRules) -> None:
    """Queue sitemap analyses that were not needed for the former rules, where the rules need them now."""
    if rules.value_of(_ANALYSIS) != "off":
        values = {"searches": list(search_ids), "rule": rules.value_of(_ANALYSIS), "not_needed": NOT_NEEDED}
        await session.execute(_QUEUE_ANALYSES, values)


async def queue_withdrawn_rows(session: AsyncSession, search_ids: Sequence[UUID], rules: AdvanceRules) -> None:
    """Queue the rows of cancelled searches that the rules let into a step, or that a person selected."""
    for step, statement in _QUEUE:
        await session.execute(statement, {"searches": list(search_ids), "rule": rules.value_of(step)})


# A row stores only the search that owns it; the search_* tables store every search that found it. Rows are locked in
# one order, so that two overlapping requests do not deadlock.
_TAKE_OVER = [
    text(f"""
WITH linked AS (
    SELECT DISTINCT ON ({key}) {key} AS id, search_id FROM {link} WHERE search_id = ANY (cast(:searches AS uuid[]))
    ORDER BY {key}, search_id
), lost AS (
    SELECT t.id, linked.search_id FROM {table} t JOIN linked USING (id)
    WHERE (t.search_id = ANY (cast(:searches AS uuid[]))) IS NOT TRUE ORDER BY t.id FOR NO KEY UPDATE OF t
)
UPDATE {table} AS found SET search_id = lost.search_id FROM lost WHERE found.id = lost.id""")  # noqa: S608 - our own names
    for table, (link, key) in LINKS.items()
]


def _queue(before: LineStep, step: LineStep) -> str:
    queue, conditions = step.queue, {"all": "true", **step.rule_values}
    by_rule = " OR ".join(f"(cast(:rule AS text) = '{value}' AND {needs})" for value, needs in conditions.items())
    may_enter = step.can_enter("{row}")
    if before.table == step.table:
        may_enter += f" AND {before.was_passed('{row}')}"
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

_SITE = steps_of(Domain)[0].queue
_QUEUE_SITES = text(f"""
UPDATE domain SET {_SITE}_status = 'Queued', search_id = :search WHERE id IN (
    SELECT t.id FROM domain t JOIN search_domain f ON f.domain_id = t.id WHERE f.search_id = :search
        AND t.{_SITE}_status NOT IN ('Queued', 'Processing') AND {not_rejected("t")}
    ORDER BY t.id FOR NO KEY UPDATE OF t)""")  # noqa: S608 - our own names

_ANALYSIS = step_named("sitemap_analysis")
_QUEUE_ANALYSES = text(
    f"""
UPDATE domain SET sitemap_analysis_status = 'Queued' WHERE id IN (
    SELECT t.id FROM domain t WHERE {ROWS_OF_SEARCH["domain"].owned} AND {not_rejected("t")}
        AND t.sitemap_analysis_status = 'Skipped' AND t.sitemap_result = :not_needed
        AND (cast(:rule AS text) = 'all' OR {_ANALYSIS.rule_values["needed"]})
    ORDER BY t.id FOR NO KEY UPDATE OF t)""".format(row="t")  # noqa: S608 - our own names
)

_PAGES = step_after("sitemap_import").queue
_QUEUE_READ_PAGES = text(f"""
UPDATE page SET {_PAGES}_status = 'Queued' WHERE id IN (
    SELECT t.id FROM page t JOIN domain d ON d.id = t.domain_id WHERE t.domain_id IN (
            SELECT f.domain_id FROM search_domain f WHERE f.search_id = ANY (cast(:searches AS uuid[])))
        AND t.{_PAGES}_status IN ('Completed', 'Skipped', 'Error') AND {not_rejected("t")} AND {not_rejected("d")}
    ORDER BY t.id FOR NO KEY UPDATE OF t)""")  # noqa: S608 - our own names
# The order of extract.pages.select: the kinds in turn, the highest score and the smallest depth first; no page whose
# URL differs from one that was read only in www, case or a slash.
_QUEUE_PAGES = text(f"""
WITH sites AS (
    SELECT f.domain_id, :per_site - count(p.id) AS free FROM search_domain f
    LEFT JOIN page p ON p.domain_id = f.domain_id AND p.{_PAGES}_status <> 'New'
    WHERE f.search_id = :search GROUP BY 1 HAVING count(p.id) < :per_site
), fresh AS (
    SELECT p.id, p.domain_id, p.url, p.kind, p.depth, w.worth * p.kind_score AS worth,
        row_number() OVER (PARTITION BY p.domain_id, {address_of("p")}
            ORDER BY p.kind_score DESC, length(p.url), p.url) AS copy
    FROM sites s JOIN page p ON p.domain_id = s.domain_id
    JOIN unnest(cast(:kinds AS text[]), cast(:worths AS float8[])) AS w(kind, worth) ON w.kind = p.kind
    WHERE p.{_PAGES}_status = 'New' AND {not_rejected("p")}
        AND p.kind_score >= cast(:min_score AS float8) AND NOT EXISTS (
            SELECT FROM page r WHERE r.domain_id = p.domain_id AND r.{_PAGES}_status <> 'New'
                AND {address_of("r")} = {address_of("p")})
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
