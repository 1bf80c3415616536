"""What becomes of a row, from what its work raised."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.core.vocabularies import Status
from scrapersky.crawl.errors import PageNotFound, PermanentFetchError, RetryLater, TooSoon
from scrapersky.engine.outcomes import (
    MAX_ERROR_LENGTH,
    GiveUp,
    Later,
    Outcome,
    OutcomeKind,
    Skip,
    backoff,
    outcome_of,
    reason_of,
)
from scrapersky.engine.tuning import Tuning
from scrapersky.providers.base import ProviderBusy

TUNING = Tuning(max_attempts=3, backoff_seconds=10, max_backoff_seconds=60)


@pytest.mark.parametrize(
    ("error", "tries", "kind", "status", "counts"),
    [
        (Skip("no website"), 1, OutcomeKind.SKIPPED, Status.SKIPPED, True),
        (Later(timedelta(minutes=10), "quota"), 3, OutcomeKind.POSTPONED, Status.QUEUED, False),
        (GiveUp("404"), 1, OutcomeKind.FAILED, Status.ERROR, True),
        (ValueError("x"), 2, OutcomeKind.RETRIED, Status.QUEUED, True),
        (ValueError("x"), 3, OutcomeKind.FAILED, Status.ERROR, True),
    ],
)
def test_each_ending_has_its_outcome(error, tries, kind, status, counts):
    outcome = outcome_of(error, tries, TUNING)
    assert (outcome.kind, outcome.status, outcome.counts) == (kind, status, counts)


def test_errors_of_other_rooms_say_what_is_to_be_done_about_them():
    assert outcome_of(PageNotFound("404"), 1, TUNING).status == Status.SKIPPED
    assert outcome_of(PermanentFetchError("not html"), 1, TUNING).status == Status.ERROR
    assert outcome_of(TooSoon("visited", after=timedelta(seconds=7)), 9, TUNING) == Outcome(
        OutcomeKind.POSTPONED, Status.QUEUED, "visited", wait_seconds=7, counts=False
    )
    wait = outcome_of(RetryLater("503", status=503, after=timedelta(seconds=500)), 1, TUNING)
    assert (wait.kind, wait.wait_seconds, wait.counts) == (OutcomeKind.RETRIED, 500, True)
    assert outcome_of(ProviderBusy("quota", timedelta(minutes=1)), 5, TUNING).counts is False


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
    assert len(reason) <= MAX_ERROR_LENGTH
    assert "\0" not in reason
    reason.encode("utf-8")


def test_a_reason_names_the_error_unless_it_speaks_for_itself():
    assert reason_of(ValueError("bad")) == "ValueError: bad"
    assert reason_of(ValueError()) == "ValueError"
    assert reason_of(Skip("no website")) == "no website"
