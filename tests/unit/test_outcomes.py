"""What becomes of a row, from what its work raised."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.core.status import Status
from scrapersky.engine.outcomes import ERROR_LIMIT, GiveUp, Kind, Later, Skip, backoff, outcome_of, reason_of
from scrapersky.engine.tuning import Tuning

TUNING = Tuning(max_attempts=3, backoff_seconds=10, max_backoff_seconds=60)


@pytest.mark.parametrize(
    ("error", "tries", "kind", "status", "counts"),
    [
        (Skip("no website"), 1, Kind.SKIPPED, Status.SKIPPED, True),
        (Later(timedelta(minutes=10), "quota"), 3, Kind.POSTPONED, Status.QUEUED, False),
        (GiveUp("404"), 1, Kind.FAILED, Status.ERROR, True),
        (ValueError("x"), 2, Kind.RETRIED, Status.QUEUED, True),
        (ValueError("x"), 3, Kind.FAILED, Status.ERROR, True),
    ],
)
def test_each_ending_has_its_outcome(error, tries, kind, status, counts):
    outcome = outcome_of(error, tries, TUNING)
    assert (outcome.kind, outcome.status, outcome.counts) == (kind, status, counts)


def test_later_waits_as_long_as_it_says():
    assert outcome_of(Later(timedelta(minutes=10), "quota"), 1, TUNING).wait_seconds == 600
    assert outcome_of(Later(timedelta(seconds=-5), "now"), 1, TUNING).wait_seconds == 0


@given(tries=st.integers(1, 1000))
def test_the_backoff_grows_is_capped_and_spread(tries):
    longest = min(60, 10 * 2 ** min(tries - 1, 30))
    assert longest / 2 <= backoff(tries, TUNING) <= longest


@given(st.text(max_size=5000))
def test_any_reason_can_be_stored(text):
    reason = reason_of(RuntimeError(text))
    assert len(reason) <= ERROR_LIMIT
    assert "\0" not in reason
    reason.encode("utf-8")


def test_a_reason_names_the_error_unless_it_speaks_for_itself():
    assert reason_of(ValueError("bad")) == "ValueError: bad"
    assert reason_of(ValueError()) == "ValueError"
    assert reason_of(Skip("no website")) == "no website"
