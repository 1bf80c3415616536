"""Retry-After: seconds, dates, garbage, and the cap on all of them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.crawl.http.retry_after import retry_after

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
MOST = timedelta(hours=1)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 7 ", 7),
        ("99999999", 3600),
        ("9" * 400, 3600),
        ("Sun, 15 Nov 2026 12:02:00 GMT", 120),
        ("Sun, 15 Nov 2026 11:00:00 GMT", 0),
        ("Sat, 15 Nov 2126 11:00:00 GMT", 3600),
    ],
)
def test_this_value_is_parsed(value: str, seconds: int) -> None:
    assert retry_after(value, MOST, NOW) == timedelta(seconds=seconds)


@pytest.mark.parametrize("value", [None, "", "soon", "-5", "1.5", "1e9", "٣", "Sun, 99 Nov 2026 99:99:99 GMT", "\x00"])
def test_this_value_is_ignored(value: str | None) -> None:
    assert retry_after(value, MOST, NOW) is None


@given(st.text(max_size=80))
def test_any_value_gives_nothing_or_a_time_within_the_cap(value: str) -> None:
    wait = retry_after(value, MOST, NOW)
    assert wait is None or timedelta(0) <= wait <= MOST
