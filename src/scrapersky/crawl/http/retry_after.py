"""Retry-After: seconds or a date, never longer than the cap."""

from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from scrapersky.core import clock


def retry_after(value: str | None, most: timedelta, now: datetime | None = None) -> timedelta | None:
    """How long the site asks us to stay away; None when it says nothing that can be understood."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=min(int(text[:12]), 10**9)), most)
    try:
        when = parsedate_to_datetime(text[:64])
        wait = when - (now or clock.now()) if when.tzinfo else None
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return None if wait is None else min(max(wait, timedelta(0)), most)
