"""The possible outcomes of a row: completed, skipped, postponed, retried, failed, returned."""

import random
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from scrapersky.core.errors import NothingToDo, Permanent, Retryable, ScraperSkyError
from scrapersky.core.open_files import is_out_of_files
from scrapersky.core.vocabularies import Status, WaitsFor
from scrapersky.engine.tuning import Tuning

MAX_ERROR_LENGTH = 1024  # characters of an error that are stored
MAX_WAIT_SECONDS = 10 * 365 * 86_400.0  # PostgreSQL's timestamps end, and one row must not fail its batch


class Skip(NothingToDo):
    """There is nothing to do for this row, for the given reason; a vocabulary may have a word for it."""

    def __init__(self, why: str, reason_code: str | None = None) -> None:
        super().__init__(why)
        self.reason_code = reason_code


class Later(Retryable):
    """Try again after the given time. The attempt does not count."""

    counts = False

    def __init__(self, after: timedelta, why: str) -> None:
        if not isinstance(after, timedelta):
            raise TypeError(f"Later takes a timedelta, not {after!r}")
        super().__init__(why)
        self.after = after


class GiveUp(Permanent):
    """A retry cannot succeed: the row becomes a dead letter at once."""

    opens_breaker = False


class TimedOut(ScraperSkyError):
    """The row took longer than its workflow allows."""


class SiteTimedOut(TimedOut):
    """The visit of a web site took longer than the workflow allows."""

    opens_breaker = False


class WriteFailed(ScraperSkyError):
    """What was found could not be stored."""


class OutcomeKind(StrEnum):
    """The kinds of outcomes that are counted."""

    COMPLETED = "completed"
    SKIPPED = "skipped"
    POSTPONED = "postponed"
    RETRIED = "retried"
    FAILED = "failed"
    RETURNED = "returned"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is stored about a row when its work has ended."""

    kind: OutcomeKind
    status: Status
    error: str | None = None
    error_type: str | None = None
    wait_seconds: float | None = None
    counts: bool = True  # whether the attempt counts against max_attempts
    waits_for: WaitsFor | None = None  # what ends the wait sooner
    opens_breaker: bool = False  # whether the failure is ours or that of a service that all rows share
    reason_code: str | None = None  # the reason as a word of a vocabulary, for the `reason_code_column` of the workflow


COMPLETED = Outcome(OutcomeKind.COMPLETED, Status.COMPLETED)
# The worker stops: another one may claim the row at once, and the attempt does not count.
RETURNED = Outcome(OutcomeKind.RETURNED, Status.QUEUED, counts=False)
# Rows of a disabled tenant are postponed; enabling the tenant wakes them, and each is checked again once an hour.
TENANT_DISABLED = Outcome(
    OutcomeKind.POSTPONED,
    Status.QUEUED,
    "The tenant is disabled.",
    wait_seconds=3_600.0,
    counts=False,
    waits_for=WaitsFor.TENANT,
)

# A row whose work could not open a file or a connection is tried again when others have been closed.
OUT_OF_FILES = Outcome(
    OutcomeKind.POSTPONED,
    Status.QUEUED,
    "The worker has too many open files; raise its limit (ulimit -n) or lower CRAWL_MAX_CONNECTIONS.",
    wait_seconds=5.0,
    counts=False,
)


def outcome_of(error: BaseException, tries: int, tuning: Tuning) -> Outcome:
    """Return the outcome of a row whose work raised; `tries` includes this attempt."""
    if is_out_of_files(error):
        return OUT_OF_FILES
    why = reason_of(error)
    code = error.reason_code if isinstance(error, ScraperSkyError) else None
    if isinstance(error, NothingToDo):
        return Outcome(OutcomeKind.SKIPPED, Status.SKIPPED, why, reason_code=code)
    after, opens_breaker = _requested_wait(error), getattr(error, "opens_breaker", True)
    if isinstance(error, Retryable) and not error.counts:
        return Outcome(
            OutcomeKind.POSTPONED, Status.QUEUED, why, wait_seconds=after, counts=False, waits_for=error.waits_for
        )
    if isinstance(error, Permanent) or tries >= tuning.max_attempts:
        return Outcome(
            OutcomeKind.FAILED, Status.ERROR, why, type(error).__name__, opens_breaker=opens_breaker, reason_code=code
        )
    wait = max(after, backoff(tries, tuning))
    return Outcome(
        OutcomeKind.RETRIED, Status.QUEUED, why, type(error).__name__, wait_seconds=wait, opens_breaker=opens_breaker
    )


def _requested_wait(error: BaseException) -> float:
    """Return the wait that the error asks for, in seconds."""
    after = error.after if isinstance(error, Retryable) else None
    return min(max(0.0, after.total_seconds()), MAX_WAIT_SECONDS) if after is not None else 0.0


def reason_of(error: BaseException) -> str:
    """Return the error text to store: readable, without characters PostgreSQL refuses, bounded in length."""
    try:
        text = str(error).strip() or type(error).__name__
    except Exception:  # noqa: BLE001 - an error whose text raises is stored by its type
        text = type(error).__name__
    if not isinstance(error, ScraperSkyError):  # the text of our own errors is complete
        text = text if text == type(error).__name__ else f"{type(error).__name__}: {text}"
    return clean_reason(text)


def clean_reason(text: str) -> str:
    """Remove NUL and lone surrogates, and cut to MAX_ERROR_LENGTH characters."""
    return text[: MAX_ERROR_LENGTH * 4].replace("\0", "").encode("utf-8", "replace").decode("utf-8")[:MAX_ERROR_LENGTH]


def backoff(tries: int, tuning: Tuning) -> float:
    """Compute the wait: exponential, capped, with jitter over the upper half so that failed rows spread out."""
    limit = min(MAX_WAIT_SECONDS, tuning.max_backoff_seconds, tuning.backoff_seconds * 2.0 ** min(tries - 1, 30))
    return limit * random.uniform(0.5, 1.0)
