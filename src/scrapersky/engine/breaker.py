"""The circuit breaker as a pure function: failures above a rate pause a workflow, a successful probe resumes it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from scrapersky.engine.tuning import Tuning

CLOSED, OPEN, HALF_OPEN = "closed", "open", "half-open"


@dataclass(frozen=True)
class Breaker:
    """The breaker state of a workflow, shared by all hosts."""

    state: str
    until: datetime | None
    reason: str | None
    trips: int
    window_started_at: datetime
    good: int
    bad: int


def next_state(breaker: Breaker, good: int, bad: int, now: datetime, tuning: Tuning) -> Breaker:
    """Return the breaker after these outcomes: open after too many failures, half-open when its pause is over."""
    if breaker.state == OPEN:
        if breaker.until is not None and now < breaker.until:
            return breaker
        return replace(_with_new_window(breaker, now), state=HALF_OPEN, until=None)
    if breaker.state == HALF_OPEN:
        if bad:
            return _opened(breaker, now, tuning, "the probe failed")
        return replace(_with_new_window(breaker, now), state=CLOSED, reason=None, trips=0) if good else breaker
    if now - breaker.window_started_at > timedelta(seconds=tuning.breaker_window_seconds):
        breaker = _with_new_window(breaker, now)
    breaker = replace(breaker, good=breaker.good + good, bad=breaker.bad + bad)
    seen = breaker.good + breaker.bad
    if seen >= tuning.breaker_min_rows and breaker.bad / seen >= tuning.breaker_error_rate:
        return _opened(breaker, now, tuning, f"{breaker.bad} of {seen} rows failed")
    return breaker


def _with_new_window(breaker: Breaker, now: datetime) -> Breaker:
    return replace(breaker, window_started_at=now, good=0, bad=0)


def _opened(breaker: Breaker, now: datetime, tuning: Tuning, reason: str) -> Breaker:
    pause = min(tuning.breaker_max_pause_seconds, tuning.breaker_pause_seconds * 2.0 ** min(breaker.trips, 20))
    return replace(
        _with_new_window(breaker, now),
        state=OPEN,
        until=now + timedelta(seconds=pause),
        reason=reason,
        trips=breaker.trips + 1,
    )
