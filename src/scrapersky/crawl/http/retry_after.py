"""Parses Retry-After headers."""

from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from scrapersky.core import clock


def retry_after(value: str | None, max_wait: timedelta, now: datetime | None = None) -> timedelta | None:
    """Return the requested wait (seconds or a date), at most `max_wait`; None if the value cannot be parsed."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=min(int(text[:12]), 10**9)), max_wait)
    try:
        when = parsedate_to_datetime(text[:64])
        wait = when - (now or clock.now()) if when.tzinfo else None
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return None if wait is None else min(max(wait, timedelta(0)), max_wait)
