"""How a search ended: the exit code, and where nothing was found, why, and what one may try."""

from collections.abc import Mapping
from typing import Any

FOUND, NOTHING, WAITING, REFUSED, DATABASE_AWAY, STOPPED = 0, 1, 3, 4, 5, 130

CURES = "Look at the spelling, use a plainer word or a larger area, or ask another --provider."


def code_of(summary: Mapping[str, Any]) -> int:
    """What a script is told; docs/find.md has the list."""
    if summary["stopped"]:
        return STOPPED
    if summary["contacts"]:
        return FOUND
    if summary["steps"]["place_search"]["failed"] or (summary["stopped_by_budget"] and not summary["rows"]):
        return REFUSED
    return WAITING if summary["left"] else NOTHING


def why_nothing(summary: Mapping[str, Any]) -> str | None:
    """The sentence, instead of a table of zeros; None where there is something to show."""
    search, places = summary["steps"]["place_search"], summary["steps"]["deep_scan"]
    if summary["contacts"] or summary["provider"] == "domains" or any(places.values()):
        return None
    if search["failed"]:
        return f"The search failed: {_reason(summary, 'Error')}"
    if search["waiting"] or search["working"]:
        return "The search has not been made yet."
    if summary["stopped_by_budget"]:
        return "Nothing was found: there was no money to ask."
    where = f" in {summary['area']}" if summary["area"] else ""
    return f"Nothing was found: {summary['provider']} knows no {summary['search']}{where}. {CURES}"


def _reason(summary: Mapping[str, Any], status: str) -> str:
    found = (one["reason"] for one in summary["reasons"] if (one["step"], one["status"]) == ("place_search", status))
    return next(found, "nobody said why.")
