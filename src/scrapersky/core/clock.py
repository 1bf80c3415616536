"""The current time, always aware and in UTC."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the current time, aware and in UTC."""
    return datetime.now(UTC)
