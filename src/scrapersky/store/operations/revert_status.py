"""Where a row rests that is taken back: Completed if it has been through the step before, else New."""

from collections.abc import Mapping

from scrapersky.core.vocabularies import Status
from scrapersky.engine.outcomes import TAKEN_BACK

# What only a run to the end leaves behind, by table and queue; `{row}` is the row.
TRACES: Mapping[tuple[str, str], str] = {
    ("search", "place_search"): "({row}.call_count > 0 OR {row}.result_count > 0)",
    ("place", "deep_scan"): (
        "EXISTS (SELECT FROM local_business made WHERE made.tenant_id = {row}.tenant_id AND made.place_id = {row}.id)"
    ),
    ("local_business", "domain_extraction"): (
        "({row}.profiles IS NOT NULL OR EXISTS (SELECT FROM business_domain made WHERE made.business_id = {row}.id))"
    ),
    ("domain", "domain_metadata"): "{row}.http_status IS NOT NULL",
    ("domain", "sitemap_analysis"): "{row}.sitemap_result IS NOT NULL",
    ("sitemap_file", "sitemap_import"): "{row}.url_count IS NOT NULL",
    ("page", "page_processing"): "{row}.fetched_at IS NOT NULL",
    ("contact", "contact_verification"): "{row}.verification IS NOT NULL",
    ("delivery", "delivery"): "{row}.delivered_at IS NOT NULL",
}


def has_been_through(table: str, queue: str, row: str | None = None) -> str:
    """An expression: whether the row was Completed before it was queued again."""
    row = row or table
    return f"({row}.{queue}_attempts > 0 AND {TRACES[table, queue].format(row=row)})"


def status_at_rest(table: str, queue: str, row: str | None = None) -> str:
    """An expression: the status that the row goes back to."""
    return _either(table, queue, row, Status.COMPLETED.value, Status.NEW.value)


def mark_in_hand(table: str, queue: str, row: str | None = None) -> str:
    """An expression: what is written beside the row while somebody works on it, for the engine to see."""
    return _either(table, queue, row, TAKEN_BACK[Status.COMPLETED], TAKEN_BACK[Status.NEW])


def _either(table: str, queue: str, row: str | None, if_done: str, if_not: str) -> str:
    return f"CASE WHEN {has_been_through(table, queue, row)} THEN '{if_done}' ELSE '{if_not}' END"
