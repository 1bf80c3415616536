"""What can become of a row: returned, skipped, put off, tried again, given up."""

import random
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from scrapersky.core.errors import Hopeless, NothingThere, ScraperSkyError, TryAgain
from scrapersky.core.vocabularies import Status
from scrapersky.engine.tuning import Tuning

ERROR_LIMIT = 1024  # characters of a reason that are kept
MAX_WAIT_SECONDS = 10 * 365 * 86_400.0  # the calendar of PostgreSQL ends, and one row must not spoil its batch


class Skip(NothingThere):
    """There is nothing to do for this row, and why."""


class Later(TryAgain):
    """Not now: try again after a while. The attempt does not count."""

    costs = False

    def __init__(self, after: timedelta, why: str) -> None:
        if not isinstance(after, timedelta):
            raise TypeError(f"Later wants a timedelta, not {after!r}")
        super().__init__(why)
        self.after = after


class GiveUp(Hopeless):
    """Trying again cannot help: the row becomes a dead letter at once."""


class TimedOut(ScraperSkyError):
    """The row took longer than its workflow allows."""


class WriteFailed(ScraperSkyError):
    """What was found could not be stored."""


class Kind(StrEnum):
    """The names under which outcomes are counted."""

    COMPLETED = "completed"
    SKIPPED = "skipped"
    POSTPONED = "postponed"
    RETRIED = "retried"
    FAILED = "failed"
    RETURNED = "returned"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is written about a row when its work is over."""

    kind: Kind
    status: Status
    error: str | None = None
    error_type: str | None = None
    wait_seconds: float | None = None
    counts: bool = True  # whether the attempt is held against the row


COMPLETED = Outcome(Kind.COMPLETED, Status.COMPLETED)
# The worker stops: somebody else may have the row at once, and it costs nothing.
RETURNED = Outcome(Kind.RETURNED, Status.QUEUED, counts=False)
# Nobody works for a tenant that is disabled. Its rows are looked at again now and then, should nobody wake them.
TENANT_RESTS = Outcome(Kind.POSTPONED, Status.QUEUED, "The tenant is disabled.", wait_seconds=3_600.0, counts=False)

# What stands beside a row in hand that somebody has taken back: if it were to be tried again, this becomes of it.
TAKEN_BACK = {
    Status.NEW: "Taken back while it was being worked on.",
    Status.COMPLETED: "Taken back while it was being worked on once more.",
}


def outcome_of(error: BaseException, tries: int, tuning: Tuning) -> Outcome:
    """The outcome of a row whose work raised; `tries` counts this attempt too."""
    why = reason_of(error)
    if isinstance(error, NothingThere):
        return Outcome(Kind.SKIPPED, Status.SKIPPED, why)
    after = _asked_for(error)
    if isinstance(error, TryAgain) and not error.costs:
        return Outcome(Kind.POSTPONED, Status.QUEUED, why, wait_seconds=after, counts=False)
    if isinstance(error, Hopeless) or tries >= tuning.max_attempts:
        return Outcome(Kind.FAILED, Status.ERROR, why, type(error).__name__)
    return Outcome(Kind.RETRIED, Status.QUEUED, why, type(error).__name__, max(after, backoff(tries, tuning)))


def _asked_for(error: BaseException) -> float:
    """How long the error wants us to wait, in seconds."""
    after = error.after if isinstance(error, TryAgain) else None
    return min(max(0.0, after.total_seconds()), MAX_WAIT_SECONDS) if after is not None else 0.0


def reason_of(error: BaseException) -> str:
    """The reason as it is stored: readable, without characters PostgreSQL refuses, never longer than the limit."""
    try:
        text = str(error).strip() or type(error).__name__
    except Exception:  # noqa: BLE001 - an error that cannot even be shown is still an error of that type
        text = type(error).__name__
    if not isinstance(error, ScraperSkyError):  # those speak for themselves
        text = text if text == type(error).__name__ else f"{type(error).__name__}: {text}"
    return clean_reason(text)


def clean_reason(text: str) -> str:
    """No NUL, no lone surrogate, at most ERROR_LIMIT characters."""
    return text[: ERROR_LIMIT * 4].replace("\0", "").encode("utf-8", "replace").decode("utf-8")[:ERROR_LIMIT]


def backoff(tries: int, tuning: Tuning) -> float:
    """Exponential, capped, with jitter over its upper half so that rows which failed together come back apart."""
    longest = min(MAX_WAIT_SECONDS, tuning.max_backoff_seconds, tuning.backoff_seconds * 2.0 ** min(tries - 1, 30))
    return longest * random.uniform(0.5, 1.0)
