"""Named queries that take a cancelled search up again: what cancelling took back goes on by the rules asked for now."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.engine.outcomes import TAKEN_BACK
from scrapersky.models import Search
from scrapersky.store.line.advance_rules import AdvanceRules

CANCELLED = "cancelled by "
BESIDES = "; "  # what the search lacked before it was cancelled stands before this


def as_cancelled(cut_short: str | None, name: str) -> str:
    """What the search lacks, and who has stopped it."""
    lacked = _lacked(cut_short)
    return f"{lacked}{BESIDES}{CANCELLED}{name}" if lacked else f"{CANCELLED}{name}"


async def resume(session: AsyncSession, search: Search, rules: AdvanceRules) -> None:
    """Queue what waits for nothing but the rules, and what somebody had selected; pages are picked anew elsewhere."""
    search.cut_short = _lacked(search.cut_short)
    await session.flush()
    for workflow, statement in _QUEUE.items():
        await session.execute(statement, {"search": search.id, "rule": getattr(rules, workflow)})


def _lacked(cut_short: str | None) -> str | None:
    before, cancelled, _ = (cut_short or "").partition(CANCELLED)
    return before.removesuffix(BESIDES) or None if cancelled else cut_short


_MARKS = ", ".join(f"'{mark}'" for mark in TAKEN_BACK.values())  # of rows that are in hand and would be the last time


def _queue(table: str, queue: str, mine: str, ready: str = "true", fits: str = "cast(:rule AS text) = 'all'") -> str:
    return f"""
UPDATE {table} SET {queue}_status = replace({queue}_status, 'New', 'Queued'), {queue}_error = NULL, updated_at = now()
WHERE id IN (
    SELECT t.id FROM {table} t WHERE {mine} AND t.curation_status NOT IN ('Not a Fit', 'Archived')
        AND ((t.{queue}_status = 'New' AND ({ready}) AND (t.curation_status = 'Selected' OR {fits}))
            OR (t.{queue}_status = 'Processing' AND t.{queue}_error IN ({_MARKS})))
    ORDER BY t.id FOR NO KEY UPDATE OF t)"""  # noqa: S608 - our own names


_OWN = "t.search_id = :search"
_OF_OWN_DOMAIN = "t.domain_id IN (SELECT id FROM domain WHERE search_id = :search)"
# Of its domains, of its businesses without one, and of its file without either.
OWN_CONTACTS = """t.id IN (
    SELECT c.id FROM contact c JOIN domain d ON d.id = c.domain_id WHERE d.search_id = :search
    UNION ALL SELECT c.id FROM contact c JOIN local_business b ON b.id = c.business_id
    WHERE b.search_id = :search AND c.domain_id IS NULL
    UNION ALL SELECT c.id FROM contact c JOIN search_contact f ON f.contact_id = c.id
    WHERE f.search_id = :search AND c.domain_id IS NULL AND c.business_id IS NULL)"""
_WITH_WEBSITE = "(cast(:rule AS text) = 'all' OR (cast(:rule AS text) = 'has website' AND t.website IS NOT NULL))"
_REACHABLE = "t.email IS NOT NULL AND t.suppressed_at IS NULL AND t.merged_into_id IS NULL"
_QUEUE = {
    workflow: text(statement)
    for workflow, statement in {
        "deep_scan": _queue("place", "deep_scan", _OWN),
        "domain_extraction": _queue("local_business", "domain_extraction", _OWN, fits=_WITH_WEBSITE),
        "domain_metadata": _queue("domain", "domain_metadata", _OWN),
        "sitemap_analysis": _queue("domain", "sitemap_analysis", _OWN, "t.domain_metadata_status = 'Completed'"),
        "sitemap_import": _queue("sitemap_file", "sitemap_import", _OF_OWN_DOMAIN, "t.kind IS DISTINCT FROM 'index'"),
        "page_curation": _queue("page", "page_processing", _OF_OWN_DOMAIN, fits="false"),
        "contact_verification": _queue("contact", "contact_verification", OWN_CONTACTS, _REACHABLE),
    }.items()
}
