"""The pace of a workflow: declared, overruled, adapted."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Environment
from scrapersky.engine.tuning import Tuning, pace_for, tune

DECLARED = Tuning(interval_minutes=5, batch_size=10, max_instances=1)


def tuned(**variables: str) -> Tuning:
    return tune("DEEP_SCAN_SCHEDULER_", DECLARED, Environment(variables, None))


def test_the_declaration_holds_when_nothing_is_set():
    assert tuned() == DECLARED


def test_minutes_can_be_overruled_in_minutes_or_seconds():
    assert tuned(DEEP_SCAN_SCHEDULER_INTERVAL_MINUTES="2").interval == 120
    assert tuned(DEEP_SCAN_SCHEDULER_INTERVAL_SECONDS="0.5").interval == 0.5


def test_one_interval_for_all_gives_way_to_a_workflows_own():
    environment = Environment({"DEEP_SCAN_SCHEDULER_INTERVAL_SECONDS": "3"}, None)
    assert tune("DEEP_SCAN_SCHEDULER_", DECLARED, Environment({}, None), every=0.2).interval == 0.2
    assert tune("DEEP_SCAN_SCHEDULER_", DECLARED, environment, every=0.2).interval == 3


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("BATCH_SIZE", "-1"),
        ("BATCH_SIZE", "ten"),
        ("INTERVAL_MINUTES", "0"),
        ("INTERVAL_SECONDS", "0"),
        ("MAX_INSTANCES", "0"),
        ("BREAKER_ERROR_RATE", "1.5"),
        ("LEASE_SECONDS", "nan"),
    ],
)
def test_a_wrong_value_is_a_sentence_with_the_name_and_the_cure(field, value):
    with pytest.raises(BadSetting) as caught:
        tuned(**{f"DEEP_SCAN_SCHEDULER_{field}": value})
    sentence = str(caught.value)
    assert sentence.startswith(f"DEEP_SCAN_SCHEDULER_{field}={value} is invalid")
    assert "remove it to use the default" in sentence


def test_the_max_batch_cannot_be_smaller_than_the_batch():
    with pytest.raises(BadSetting, match=r"^DEEP_SCAN_SCHEDULER_MAX_BATCH_SIZE=3 is invalid: it must .* BATCH_SIZE"):
        tuned(DEEP_SCAN_SCHEDULER_MAX_BATCH_SIZE="3")


@example(depth=10, item_seconds=5e-324, batch=1, interval=1.0)
@given(
    depth=st.integers(0, 10**7),
    item_seconds=st.floats(0, 1000),
    batch=st.integers(1, 500),
    interval=st.floats(0.1, 10**4),
)
def test_the_pace_stays_within_its_limits(depth, item_seconds, batch, interval):
    tuning = Tuning(interval_seconds=interval, batch_size=batch)
    pace = pace_for(tuning, depth, item_seconds)
    assert 1 <= pace.batch_size <= tuning.max_batch
    assert min(1.0, interval) * 0.99 <= pace.interval_seconds <= interval * 1.01 + 0.001


def test_a_deep_queue_is_taken_in_larger_bites_more_often():
    calm, deep = pace_for(DECLARED, 0, 0.1), pace_for(DECLARED, 5_000, 0.1)
    assert (calm.batch_size, calm.interval_seconds) == (10, 300)
    assert deep.batch_size == 100
    assert deep.interval_seconds < calm.interval_seconds


def test_slow_rows_are_taken_in_smaller_bites():
    assert pace_for(DECLARED, 5_000, 50.0).batch_size == 4
