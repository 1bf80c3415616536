"""Maps the errors of the Places API: wait a minute, wait until the next day, or a person has to fix the cause."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from scrapersky.core import clock
from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.base import PlaceNotFound, ProviderBusy, ProviderRefused, QueryRefused
from scrapersky.providers.http_api import ApiResponse

PACIFIC = ZoneInfo("America/Los_Angeles")  # the time zone of Google's daily quotas
MINUTE, SHORTLY = timedelta(minutes=1), timedelta(seconds=10)

# The fix by the reason of the error.
CURES = {
    "API_KEY_INVALID": "the key is not valid; set PROVIDER_GOOGLE_API_KEY to a key of your Google Cloud project.",
    "API_KEY_EXPIRED": "the key has expired; make a new one and set PROVIDER_GOOGLE_API_KEY.",
    "SERVICE_DISABLED": "the Places API (New) is not enabled; enable it in your Google Cloud project.",
    "API_KEY_SERVICE_BLOCKED": "the key may not use the Places API (New); add it to the key's API restrictions.",
    "BILLING_DISABLED": "billing is not enabled; enable it for your Google Cloud project.",
    "API_KEY_HTTP_REFERRER_BLOCKED": "the key is meant for web pages; use one without a referrer restriction.",
    "API_KEY_IP_ADDRESS_BLOCKED": "the key does not allow this machine's address; add it to the key's restrictions.",
    "CONSUMER_SUSPENDED": "the Google Cloud project is suspended; see its console.",
}
NO_KEY = "the request has no key; set PROVIDER_GOOGLE_API_KEY."


class QuotaUsedUp(ProviderBusy):
    """The quota per minute or per day is used up for this key."""


class PageTokenRefused(ScraperSkyError):
    """Google refuses the token of the next page: the search has to begin again."""


def error_of(response: ApiResponse, *, paging: bool = False, now: datetime | None = None) -> ScraperSkyError:
    """Return the error to raise. Google's message is not repeated, for it may contain private data."""
    error = _error(response)
    status, reasons = _word(error.get("status")), list(_reasons(error))
    summary = f"Google answers {response.status}" + (f" {status}" if status else "")
    for reason in reasons:
        if reason in CURES:
            return ProviderRefused(f"{summary} ({reason}): {CURES[reason]}")
    if response.status == 429 or status == "RESOURCE_EXHAUSTED":
        return _exhausted(error, summary, now or clock.now())
    if response.status >= 500 or status in ("UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED"):
        return ProviderBusy(f"{summary}.", SHORTLY)
    message = str(error.get("message", ""))
    if "API key not valid" in message:
        return ProviderRefused(f"{summary}: {CURES['API_KEY_INVALID']}")
    if response.status in (401, 403):
        cure = (
            NO_KEY if "unregistered callers" in message else "check the key's restrictions and that the API is enabled."
        )
        return ProviderRefused(f"{summary}{_named(reasons)}: {cure}")
    if response.status == 404:
        return PlaceNotFound(f"{summary}: the id of the place is no longer valid; repeat its search to get the new id.")
    if response.status == 400 and paging:
        return PageTokenRefused(f"{summary} to the token of the next page.")
    refused = QueryRefused if response.status == 400 else ProviderRefused
    return refused(f"{summary}{_named(reasons)}: the request was not accepted.")


def next_pacific_midnight(now: datetime) -> datetime:
    """Return when the next day of the quotas begins."""
    tomorrow = now.astimezone(PACIFIC).date() + timedelta(days=1)
    # In UTC: Python subtracts two times of one zone without their offsets, which is an hour off twice a year.
    return datetime.combine(tomorrow, time(), PACIFIC).astimezone(UTC)


def _exhausted(error: Mapping[str, Any], summary: str, now: datetime) -> ProviderBusy:
    if _is_daily(error):
        wait = next_pacific_midnight(now) - now
        return QuotaUsedUp(
            f"{summary}: the quota of the day is used up; it is renewed at midnight in California.", wait
        )
    return QuotaUsedUp(f"{summary}: the quota of the minute is used up.", MINUTE)


def _is_daily(error: Mapping[str, Any]) -> bool:
    """Return whether the quota is a daily one, by its name, its unit or the message."""
    for detail in _details(error):
        metadata = detail.get("metadata")
        if isinstance(metadata, dict) and (metadata.get("quota_limit") or metadata.get("quota_unit")):
            return "PerDay" in str(metadata.get("quota_limit")) or str(metadata.get("quota_unit", "")).startswith("1/d")
    return "per day" in str(error.get("message", "")).lower()


def _error(response: ApiResponse) -> Mapping[str, Any]:
    found = response.json
    error = found.get("error") if isinstance(found, dict) else None
    return error if isinstance(error, dict) else {}


def _details(error: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    details = error.get("details")
    yield from (detail for detail in details if isinstance(detail, dict)) if isinstance(details, list) else ()


def _reasons(error: Mapping[str, Any]) -> Iterator[str]:
    return (word for detail in _details(error) if (word := _word(detail.get("reason"))))


def _word(value: Any) -> str:
    """Return a status or reason, which is a word in capitals; any other text is dropped."""
    text = str(value or "")
    return text if text.isascii() and text.replace("_", "").isalpha() and text.isupper() and len(text) <= 60 else ""


def _named(reasons: list[str]) -> str:
    return f" ({reasons[0]})" if reasons else ""
