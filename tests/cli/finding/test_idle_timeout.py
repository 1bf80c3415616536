"""The patience of `find`: it ends by its rule, and by nothing else."""

from datetime import UTC, datetime

from scrapersky.cli.finding.idle_timeout import Patience, all_wait
from scrapersky.store.searches.progress import StepCount, Wait


def step(waiting: int = 0, working: int = 0, completed: int = 0) -> StepCount:
    return StepCount("page_curation", waiting, working, completed, 0, 0)


def wait(seconds: float, rows: int = 1) -> Wait:
    return Wait("page_curation", rows, datetime.now(UTC), seconds, "busy")


def test_all_that_is_left_waits_for_too_long() -> None:
    assert Patience(45).is_over([step(2)], [wait(46, 2)], 0)
    assert not Patience(45).is_over([step(2)], [wait(44, 2)], 0)
    assert not Patience(45).is_over([step(3)], [wait(46, 2)], 0), "one is ready"
    assert not Patience(45).is_over([step(2, working=1)], [wait(46, 2)], 0), "one is being worked on"


def test_what_has_passed_is_part_of_it() -> None:
    patience = Patience(45)
    assert not patience.is_over([step(1)], [wait(40)], 0)
    assert not patience.is_over([step(1)], [wait(30)], 10)
    assert patience.is_over([step(1)], [wait(36)], 20), "postponed once more, beyond the end"


def test_rows_that_are_ready_and_not_worked_on_are_waited_for_so_long() -> None:
    patience = Patience(45)
    assert not patience.is_over([step(1)], [], 0)
    assert not patience.is_over([step(1)], [], 44)
    assert patience.is_over([step(1)], [], 45)


def test_it_begins_anew_when_a_row_is_through() -> None:
    patience = Patience(45)
    assert not patience.is_over([step(2)], [], 0)
    assert not patience.is_over([step(2)], [], 40)
    assert not patience.is_over([step(1, completed=1)], [], 50)
    assert not patience.is_over([step(1, completed=1)], [], 94)
    assert patience.is_over([step(1, completed=1)], [], 95)


def test_work_takes_as_long_as_it_takes() -> None:
    patience = Patience(45)
    for now in range(0, 600, 20):
        assert not patience.is_over([step(working=1)], [], now)
    assert not patience.is_over([step(1)], [wait(20)], 610)


def test_rows_that_are_put_off_again_and_again_do_not_hold_it_for_ever() -> None:
    patience, now = Patience(45), 0.0
    while now < 200:
        if patience.is_over([step(1)], [wait(10)], now) or patience.is_over([step(1)], [wait(1)], now + 9):
            break
        patience.is_over([step(working=1)], [], now + 10)
        now += 11
    assert 40 < now < 70


def test_rows_that_something_holds_are_told_once() -> None:
    patience = Patience(45)
    told = []
    for now in range(20):
        patience.is_over([step(1)], [], now)
        told.append(patience.held([step(1)]))
    assert [one for one in told if one] == [told[5]]
    assert "although page_curation could. Is it paused?" in (told[5] or "")


def test_whether_all_that_is_open_waits() -> None:
    assert all_wait([step(2), step()], [wait(5), wait(7)])
    assert not all_wait([step(3)], [wait(5, 2)])
    assert not all_wait([step()], [])
