"""The idle timeout of `find`."""

from datetime import UTC, datetime

from scrapersky.cli.finding.watch import IdleTimeout, all_postponed
from scrapersky.store.searches.progress import StepCount, Wait


def step(waiting: int = 0, working: int = 0, completed: int = 0) -> StepCount:
    return StepCount("page_curation", waiting, working, completed, 0, 0)


def wait(seconds: float, rows: int = 1) -> Wait:
    return Wait("page_curation", rows, datetime.now(UTC), seconds, "busy")


def test_the_wait_ends_if_all_rows_are_postponed_beyond_the_timeout() -> None:
    assert IdleTimeout(45).is_over([step(2)], [wait(46, 2)], 0)
    assert not IdleTimeout(45).is_over([step(2)], [wait(44, 2)], 0)
    assert not IdleTimeout(45).is_over([step(3)], [wait(46, 2)], 0), "one is ready"
    assert not IdleTimeout(45).is_over([step(2, working=1)], [wait(46, 2)], 0), "one is being worked on"


def test_idle_time_counts_towards_the_timeout() -> None:
    timeout = IdleTimeout(45)
    assert not timeout.is_over([step(1)], [wait(40)], 0)
    assert not timeout.is_over([step(1)], [wait(30)], 10)
    assert timeout.is_over([step(1)], [wait(36)], 20), "postponed once more, beyond the end"


def test_ready_rows_that_are_not_processed_are_waited_for_until_the_timeout() -> None:
    timeout = IdleTimeout(45)
    assert not timeout.is_over([step(1)], [], 0)
    assert not timeout.is_over([step(1)], [], 44)
    assert timeout.is_over([step(1)], [], 45)


def test_the_timeout_restarts_when_a_row_finishes_a_step() -> None:
    timeout = IdleTimeout(45)
    assert not timeout.is_over([step(2)], [], 0)
    assert not timeout.is_over([step(2)], [], 40)
    assert not timeout.is_over([step(1, completed=1)], [], 50)
    assert not timeout.is_over([step(1, completed=1)], [], 94)
    assert timeout.is_over([step(1, completed=1)], [], 95)


def test_running_work_is_never_interrupted() -> None:
    timeout = IdleTimeout(45)
    for now in range(0, 600, 20):
        assert not timeout.is_over([step(working=1)], [], now)
    assert not timeout.is_over([step(1)], [wait(20)], 610)


def test_rows_that_are_postponed_repeatedly_do_not_prevent_the_timeout() -> None:
    timeout, now = IdleTimeout(45), 0.0
    while now < 200:
        if timeout.is_over([step(1)], [wait(10)], now) or timeout.is_over([step(1)], [wait(1)], now + 9):
            break
        timeout.is_over([step(working=1)], [], now + 10)
        now += 11
    assert 40 < now < 70


def test_while_the_counts_cannot_be_read_the_time_counts_in_which_this_process_works_on_nothing() -> None:
    timeout = IdleTimeout(45)
    assert not timeout.is_over_unseen(False, 0)
    assert not timeout.is_over_unseen(True, 40)
    assert not timeout.is_over_unseen(False, 80)
    assert timeout.is_over_unseen(False, 125)


def test_rows_that_are_held_back_are_reported_once() -> None:
    timeout = IdleTimeout(45)
    messages = []
    for now in range(20):
        timeout.is_over([step(1)], [], now)
        messages.append(timeout.held_steps([step(1)]))
    assert [one for one in messages if one] == [messages[5]]
    assert messages[5] == ["page_curation"]


def test_all_open_rows_are_postponed() -> None:
    assert all_postponed([step(2), step()], [wait(5), wait(7)])
    assert not all_postponed([step(3)], [wait(5, 2)])
    assert not all_postponed([step()], [])
