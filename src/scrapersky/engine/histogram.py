"""Histograms of row durations, in fixed buckets that can be summed over runs, hosts and days."""

from bisect import bisect_left
from collections.abc import Sequence

# Seconds: from a tenth of a millisecond to an hour, each double the one before.
BOUNDS: list[float] = [0.0001 * 2.0**power for power in range(26)]


def empty() -> list[int]:
    """Return an empty histogram."""
    return [0] * (len(BOUNDS) + 1)


def add(histogram: list[int], seconds: float) -> None:
    """Count one row."""
    histogram[bisect_left(BOUNDS, seconds)] += 1


def quantile(histogram: Sequence[int], share: float) -> float | None:
    """Return the seconds within which this share of the rows ended, to the accuracy of the buckets."""
    wanted = share * sum(histogram)
    seen = 0
    for bucket, count in enumerate(histogram):
        seen += count
        if count and seen >= wanted:
            return BOUNDS[min(bucket, len(BOUNDS) - 1)]
    return None
