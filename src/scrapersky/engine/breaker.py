"""The circuit breaker as a pure function: failures above a rate pause a workflow, a successful probe resumes it.

Only faults of our own and of services that all rows share count; that a site does not respond is the outcome of a row.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from scrapersky.engine.tuning import Tuning

CLOSED, OPEN, HALF_OPEN = "closed", "open", "half-open"


@dataclass(frozen=True)
class Tally:
    """Outcomes since the last report, as the breaker counts them."""

    good: int = 0
    bad: int = 0
    own: int = 0  # failures of single rows: they neither open the breaker nor keep it from opening
    error_type: str | None = None  # the most frequent type of the bad ones


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


def next_state(breaker: Breaker, tally: Tally, now: datetime, tuning: Tuning) -> Breaker:
    """Return the breaker after these outcomes: open after too many failures, half-open when its pause is over.

    A probe that fails by its own site shows nothing: the breaker closes, but opens for longer if it opens again soon.
    """
    if breaker.state == OPEN:
        if breaker.until is not None and now < breaker.until:
            return breaker
        return replace(_with_new_window(breaker, now), state=HALF_OPEN, until=None)
    if breaker.state == HALF_OPEN:
        if tally.bad:
            return _opened(breaker, now, tuning, f"the probe failed{_with(tally)}")
        if not tally.good and not tally.own:
            return breaker
        trips = 0 if tally.good else breaker.trips
        return replace(_with_new_window(breaker, now), state=CLOSED, reason=None, trips=trips)
    if now - breaker.window_started_at > timedelta(seconds=tuning.breaker_window_seconds):
        breaker = replace(_with_new_window(breaker, now), trips=0)
    breaker = replace(breaker, good=breaker.good + tally.good, bad=breaker.bad + tally.bad)
    seen = breaker.good + breaker.bad
    if seen >= tuning.breaker_min_rows and breaker.bad / seen >= tuning.breaker_error_rate:
        return _opened(breaker, now, tuning, f"{breaker.bad / seen:.0%} of the rows failed{_with(tally)}")
    return breaker


def _with(tally: Tally) -> str:
    return f" with {tally.error_type}" if tally.error_type else ""


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
