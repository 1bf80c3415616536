"""What an error of the Places API means: wait a minute, wait for the next day, or ask a person to put it right."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from scrapersky.core import clock
from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.base import ProviderBusy, ProviderRefused
from scrapersky.providers.http_api import ApiResponse

PACIFIC = ZoneInfo("America/Los_Angeles")  # where the days of Google's quotas begin
MINUTE, SHORTLY = timedelta(minutes=1), timedelta(seconds=10)

# What a person has to do, by the reason Google gives.
CURES = {
    "API_KEY_INVALID": "the key is not valid; set PROVIDER_GOOGLE_API_KEY to a key of your Google Cloud project.",
    "API_KEY_EXPIRED": "the key has expired; make a new one and set PROVIDER_GOOGLE_API_KEY.",
    "SERVICE_DISABLED": "the Places API (New) is not enabled; enable it in your Google Cloud project.",
    "API_KEY_SERVICE_BLOCKED": "the key may not use the Places API (New); add it to the key's API restrictions.",
    "BILLING_DISABLED": "billing is not enabled; enable it for your Google Cloud project.",
    "API_KEY_HTTP_REFERRER_BLOCKED": "the key is meant for web pages; use one without a referrer restriction.",
    "API_KEY_IP_ADDRESS_BLOCKED": "the key does not allow this machine's address; add it to the key's restrictions.",
    "CONSUMER_SUSPENDED": "the Google Cloud project is suspended; look into its console.",
}
NO_KEY = "it got no key; set PROVIDER_GOOGLE_API_KEY."


class PlaceNotFound(ProviderRefused):
    """The place has left the provider's map, or has got another id."""


class QuotaUsedUp(ProviderBusy):
    """The calls of a minute or a day are used up, for everybody with this key."""


class PageTokenRefused(ScraperSkyError):
    """The token of the next page is not accepted: this search has to begin again."""


def error_of(answer: ApiResponse, *, paging: bool = False, now: datetime | None = None) -> ScraperSkyError:
    """The error to raise. Google's own words are not repeated: what they may hold is not ours to know."""
    error = _error(answer)
    status, reasons = _word(error.get("status")), list(_reasons(error))
    told = f"Google answers {answer.status}" + (f" {status}" if status else "")
    for reason in reasons:
        if reason in CURES:
            return ProviderRefused(f"{told} ({reason}): {CURES[reason]}")
    if answer.status == 429 or status == "RESOURCE_EXHAUSTED":
        return _exhausted(error, told, now or clock.now())
    if answer.status >= 500 or status in ("UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED"):
        return ProviderBusy(f"{told}.", SHORTLY)
    message = str(error.get("message", ""))
    if "API key not valid" in message:
        return ProviderRefused(f"{told}: {CURES['API_KEY_INVALID']}")
    if answer.status in (401, 403):
        cure = NO_KEY if "unregistered callers" in message else "look at the key's restrictions and the API's state."
        return ProviderRefused(f"{told}{_named(reasons)}: {cure}")
    if answer.status == 404:
        return PlaceNotFound(
            f"{told}: this id of the place is no longer valid; run its search again, which brings the new one."
        )
    if answer.status == 400 and paging:
        return PageTokenRefused(f"{told} to the token of the next page.")
    return ProviderRefused(f"{told}{_named(reasons)}: the question was not accepted.")


def next_pacific_midnight(now: datetime) -> datetime:
    """When the quotas of a day begin anew."""
    tomorrow = now.astimezone(PACIFIC).date() + timedelta(days=1)
    # In UTC: two times of one zone are subtracted by the clock on the wall, which is an hour off twice a year.
    return datetime.combine(tomorrow, time(), PACIFIC).astimezone(UTC)


def _exhausted(error: Mapping[str, Any], told: str, now: datetime) -> ProviderBusy:
    if _is_daily(error):
        wait = next_pacific_midnight(now) - now
        return QuotaUsedUp(f"{told}: the quota of the day is used up; it goes on after midnight in California.", wait)
    return QuotaUsedUp(f"{told}: the quota of the minute is used up.", MINUTE)


def _is_daily(error: Mapping[str, Any]) -> bool:
    """Whether the quota is one of a day: by its name, by its unit, by the sentence."""
    for detail in _details(error):
        about = detail.get("metadata")
        if isinstance(about, dict) and (about.get("quota_limit") or about.get("quota_unit")):
            return "PerDay" in str(about.get("quota_limit")) or str(about.get("quota_unit", "")).startswith("1/d")
    return "per day" in str(error.get("message", "")).lower()


def _error(answer: ApiResponse) -> Mapping[str, Any]:
    found = answer.json
    error = found.get("error") if isinstance(found, dict) else None
    return error if isinstance(error, dict) else {}


def _details(error: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    details = error.get("details")
    yield from (detail for detail in details if isinstance(detail, dict)) if isinstance(details, list) else ()


def _reasons(error: Mapping[str, Any]) -> Iterator[str]:
    return (word for detail in _details(error) if (word := _word(detail.get("reason"))))


def _word(value: Any) -> str:
    """A status or reason, which is a word in capitals; anything else in its place is not repeated."""
    text = str(value or "")
    return text if text.isascii() and text.replace("_", "").isalpha() and text.isupper() and len(text) <= 60 else ""


def _named(reasons: list[str]) -> str:
    return f" ({reasons[0]})" if reasons else ""
