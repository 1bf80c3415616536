"""The circuit breaker as a pure function."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from scrapersky.engine.breaker import CLOSED, HALF_OPEN, OPEN, Breaker, Tally, next_state
from scrapersky.engine.tuning import Tuning

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TUNING = Tuning(breaker_min_rows=10, breaker_error_rate=0.5, breaker_pause_seconds=30, breaker_max_pause_seconds=100)
FRESH = Breaker(CLOSED, None, None, 0, NOW, 0, 0)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_a_few_failures_do_not_open_it():
    assert next_state(FRESH, Tally(0, 9), NOW, TUNING).state == CLOSED
    assert next_state(FRESH, Tally(60, 40), NOW, TUNING).state == CLOSED


def test_half_of_many_failing_opens_it_with_the_reason():
    opened = next_state(FRESH, Tally(10, 10), NOW, TUNING)
    assert (opened.state, opened.until, opened.reason) == (OPEN, later(30), "50% of the rows failed")


def test_failures_add_up_over_reports():
    once = next_state(FRESH, Tally(0, 6), NOW, TUNING)
    assert next_state(once, Tally(0, 6), later(1), TUNING).state == OPEN


def test_old_failures_are_forgotten():
    once = next_state(FRESH, Tally(0, 6), NOW, TUNING)
    assert next_state(once, Tally(0, 6), later(61), TUNING).state == CLOSED


def test_after_its_pause_it_is_probed_and_closed_by_success():
    opened = next_state(FRESH, Tally(0, 20), NOW, TUNING)
    assert next_state(opened, Tally(0, 0), later(29), TUNING).state == OPEN
    probing = next_state(opened, Tally(0, 0), later(31), TUNING)
    assert probing.state == HALF_OPEN
    closed = next_state(probing, Tally(1, 0), later(32), TUNING)
    assert (closed.state, closed.trips, closed.reason) == (CLOSED, 0, None)


def test_each_failed_probe_doubles_the_pause_up_to_a_limit():
    breaker, pauses, at = next_state(FRESH, Tally(0, 20), NOW, TUNING), [], NOW
    for _ in range(4):
        assert breaker.until is not None
        pauses.append((breaker.until - at).total_seconds())
        at = breaker.until
        breaker = next_state(next_state(breaker, Tally(), at, TUNING), Tally(0, 1), at, TUNING)
    assert pauses == [30, 60, 100, 100]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.floats(0, 500)), max_size=40))
def test_it_never_stays_open_for_ever(reports):
    breaker, at = FRESH, NOW
    for good, bad, seconds in reports:
        at += timedelta(seconds=seconds)
        breaker = next_state(breaker, Tally(good, bad), at, TUNING)
        if breaker.state == OPEN:
            assert breaker.until is not None
            assert breaker.until - at <= timedelta(seconds=100)
    at += timedelta(seconds=200)
    breaker = next_state(next_state(breaker, Tally(), at, TUNING), Tally(1, 0), at, TUNING)
    assert breaker.state == CLOSED


def test_failures_of_single_rows_neither_open_it_nor_keep_it_from_opening():
    assert next_state(FRESH, Tally(own=1000), NOW, TUNING).state == CLOSED
    assert next_state(FRESH, Tally(bad=10, own=1000, error_type="X"), NOW, TUNING).reason == (
        "100% of the rows failed with X"
    )


def test_a_probe_that_failed_by_itself_closes_it_but_the_next_pause_is_longer_still():
    opened = next_state(FRESH, Tally(bad=20), NOW, TUNING)
    closed = next_state(next_state(opened, Tally(), later(31), TUNING), Tally(own=1), later(32), TUNING)
    assert (closed.state, closed.trips) == (CLOSED, 1)
    again = next_state(closed, Tally(bad=20), later(33), TUNING)
    assert again.until == later(33 + 60)
    calm = next_state(closed, Tally(good=1), later(32 + 61), TUNING)
    assert (calm.state, calm.trips) == (CLOSED, 0)
