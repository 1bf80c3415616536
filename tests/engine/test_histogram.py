"""Durations in buckets."""

from hypothesis import given
from hypothesis import strategies as st

from scrapersky.engine import histogram


def test_nothing_has_no_quantile():
    assert histogram.quantile(histogram.empty(), 0.5) is None


@given(st.lists(st.floats(0, 5000), min_size=1))
def test_a_quantile_is_within_a_bucket_of_the_truth(durations):
    counted = histogram.empty()
    for seconds in durations:
        histogram.add(counted, seconds)
    assert sum(counted) == len(durations)
    median = sorted(durations)[(len(durations) - 1) // 2]
    estimate = histogram.quantile(counted, 0.5)
    assert estimate is not None
    assert estimate >= min(median, histogram.BOUNDS[-1])
    assert estimate <= max(median * 2.001, histogram.BOUNDS[0])
