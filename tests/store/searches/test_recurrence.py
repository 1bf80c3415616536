"""When schedules run: intervals, cron expressions, time zones, and what is refused."""

from datetime import UTC, datetime, timedelta

import pytest

from scrapersky.store.searches.recurrence import BadSchedule, Recurrence

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)


def times(cron: str, zone: str, start: datetime, count: int) -> list[str]:
    found, at = [], start
    for _ in range(count):
        at = Recurrence.parse(None, cron, zone).next_after(at)
        found.append(f"{at:%d %H:%M}")
    return found


@pytest.mark.parametrize(
    ("every", "cron", "zone", "sentence"),
    [
        ("1s", None, None, "'1s' is too often. A schedule runs once per hour at most: use an interval of 1h"),
        ("30 min", None, None, "too often"),
        ("400d", None, None, "too long: 366 days at most"),
        ("daily", None, None, "is not an interval: write a number and m, h, d or w"),
        ("3 months", None, None, "is not an interval"),
        ("", None, None, "is not an interval"),
        (None, "* * * * *", None, "runs every minute. A schedule runs once per hour at most"),
        (None, "0,30 9 * * *", None, "runs every 30 minutes"),
        (None, "0 6 * *", None, "it has 4 fields. It has five fields: minute, hour"),
        (None, "61 6 * * *", None, "is higher than the maximum value (59)"),
        (None, "0 0 31 2 *", None, "there is no such day"),
        (None, "0 9 1 * 1", None, "days of the month and days of the week; use one of them"),
        (
            None,
            "0 6 * * 1",
            "Mars/Phobos",
            "The time zone 'Mars/Phobos' is unknown: use a name such as Europe/Helsinki",
        ),
        (None, "0 6 * * 1", "../../etc/passwd", "is unknown"),
        ("1d", None, "Europe/Helsinki", "belongs to a cron expression"),
        ("1d", "0 6 * * 1", None, "Give either an interval"),
        (None, None, None, "Give either an interval"),
    ],
)
def test_what_cannot_be_a_schedule_is_refused_with_the_cure(every, cron, zone, sentence):
    with pytest.raises(BadSchedule) as refused:
        Recurrence.parse(every, cron, zone)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("written", "words"),
    [("24h", "every 1d"), ("14 days", "every 2w"), ("90m", "every 90m"), ("2 weeks", "every 2w"), ("1D", "every 1d")],
)
def test_an_interval_is_read_in_words(written, words):
    assert Recurrence.parse(written, None, None).words == words


def test_an_interval_keeps_its_rhythm_however_late_a_run_was():
    daily = Recurrence.parse("1d", None, None)
    assert daily.next_after(NOON) == NOON + timedelta(days=1)
    assert daily.next_after(NOON + timedelta(minutes=1), NOON) == NOON + timedelta(days=1)
    assert daily.next_after(NOON + timedelta(days=3, hours=2), NOON) == NOON + timedelta(days=4)
    assert daily.next_after(NOON - timedelta(hours=1), NOON) == NOON + timedelta(hours=23), "the clock was set back"


def test_weekdays_are_those_of_cron():
    week = [datetime(2026, 11, 15, tzinfo=UTC) + timedelta(days=n) for n in range(7)]  # from Sunday on
    for cron, days in (("0", "Sun"), ("7", "Sun"), ("1-5", "Mon Tue Wed Thu Fri"), ("5-7", "Sun Fri Sat")):
        daily = Recurrence.parse(None, f"0 9 * * {cron}", None)
        assert " ".join(f"{day:%a}" for day in week if daily.next_after(day).date() == day.date()) == days
    assert times("0 9 * * */2", "UTC", week[0], 4) == ["15 09:00", "17 09:00", "19 09:00", "21 09:00"]


def test_nicknames_of_cron_are_read():
    assert times("@daily", "Europe/Helsinki", NOON, 2) == ["28 22:00", "29 21:00"], "summer time began"
    assert times(" @Weekly ", "UTC", NOON, 2) == ["29 00:00", "05 00:00"]


def test_a_time_of_the_day_follows_the_clock_of_its_zone():
    assert times("0 6 * * *", "Europe/Helsinki", NOON, 2) == ["29 03:00", "30 03:00"], "summer time began"
    assert times("0 6 * * *", "Europe/Helsinki", datetime(2026, 10, 24, tzinfo=UTC), 2) == ["24 03:00", "25 04:00"]


def test_midnight_is_run_on_each_day_also_behind_a_day_of_23_hours():
    assert times("0 0 * * *", "Europe/Helsinki", NOON, 3) == ["28 22:00", "29 21:00", "30 21:00"]
    chile = datetime(2026, 9, 5, 12, tzinfo=UTC)  # the clock jumps from 0 to 1
    assert times("0 0 * * *", "America/Santiago", chile, 3) == ["06 04:00", "07 03:00", "08 03:00"]


def test_a_time_that_does_not_exist_is_run_an_hour_later_and_one_that_exists_twice_is_run_once():
    assert times("30 3 * * *", "Europe/Helsinki", NOON, 2) == ["29 01:30", "30 00:30"], "3:30 is missing: at 4:30"
    autumn = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert times("30 3 * * *", "Europe/Helsinki", autumn, 2) == ["25 00:30", "26 01:30"]
    hourly = times("0 * * * *", "Europe/Helsinki", datetime(2026, 10, 24, 23, tzinfo=UTC), 4)
    assert hourly == ["25 00:00", "25 01:00", "25 02:00", "25 03:00"], "hours pass as ever"
