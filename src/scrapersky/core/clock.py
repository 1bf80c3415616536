"""Aware UTC time, and nothing else."""

from datetime import UTC, datetime


def now() -> datetime:
    """The present moment, aware and in UTC."""
    return datetime.now(UTC)
