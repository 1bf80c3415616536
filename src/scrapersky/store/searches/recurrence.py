"""When a schedule runs: every so often, or by a cron expression in a time zone."""

import itertools
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger

from scrapersky.core.errors import BadRequest

MIN_INTERVAL = timedelta(hours=1)  # results of OpenStreetMap are cached for as long
MAX_INTERVAL = timedelta(days=366)
MAX_CRON_LENGTH = 200
MAX_SET_BACK = timedelta(hours=3)  # of a clock
COMPARED = 20  # runs of a cron expression whose distances are checked
UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")  # by their numbers in cron expressions
NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_CURE = (
    "A schedule runs once per hour at most: use an interval of 1h or more, or a cron expression such as `0 6 * * 1`."
)
_INTERVAL = re.compile(
    r"\s{0,9}(\d{1,6})\s{0,9}([smhdw])(?:(?<=s)ec(?:ond)?s?|(?<=m)in(?:ute)?s?|(?<=h)(?:ou)?rs?|(?<=d)ays?|(?<=w)eeks?)?\s{0,9}",
    re.IGNORECASE,
)
_WEEKDAYS = re.compile(r"(?:\*|([0-7])(?:-([0-7]))?)(?:/([1-7]))?")


class BadSchedule(BadRequest):
    """The schedule is not possible."""

    status_code = 422

    def __init__(self, message: str, *fields: str) -> None:
        super().__init__(message)
        self.fields = fields


@dataclass(frozen=True)
class Recurrence:
    """The times of a schedule: an interval in seconds, or a cron expression that is read in a time zone."""

    every_seconds: int | None = None
    cron: str | None = None
    time_zone: str = "UTC"

    @classmethod
    def parse(cls, every: str | None, cron: str | None, time_zone: str | None) -> "Recurrence":
        """Return the times that were given in words. Raises BadSchedule with the cure."""
        if (every is None) == (cron is None):
            raise BadSchedule(
                "Give either an interval such as 1d, or a cron expression such as `0 6 * * 1`.", "every", "cron"
            )
        if every is not None:
            if time_zone not in (None, "UTC"):
                raise BadSchedule(
                    "A time zone belongs to a cron expression: an interval is the same in all of them.", "time_zone"
                )
            return cls(every_seconds=_parse_interval(every))
        fields = " ".join((cron or "").split())
        found = cls(cron=NICKNAMES.get(fields.lower(), fields), time_zone=time_zone or "UTC")
        found._check()
        return found

    @property
    def words(self) -> str:
        """The times for people: `every 1d`, `0 6 * * 1 in Europe/Helsinki`."""
        if self.every_seconds is None:
            return f"{self.cron} in {self.time_zone}"
        return f"every {write_interval(self.every_seconds)}"

    def next_after(self, now: datetime, former: datetime | None = None) -> datetime:
        """Return the first time after `now`; an interval keeps the rhythm of the `former` time."""
        if self.every_seconds is None:
            return self._next_of_cron(now)
        length = timedelta(seconds=self.every_seconds)
        if former is None or former > now:
            return now + length
        return former + length * ((now - former) // length + 1)

    def _next_of_cron(self, after: datetime) -> datetime:
        """Return the next time of the cron expression.

        It is looked for on the wall clock: APScheduler skips midnight behind a day of 23 hours. A time that does not
        exist is that much later. Where the clock is set back, a fixed time of the day is run the first time only.
        """
        zone, trigger = self._zone(), self._trigger()
        folds = (0, 1) if (self.cron or "").split()[1].startswith("*") else (0,)
        wall = after.astimezone(zone).replace(tzinfo=UTC, fold=0) - MAX_SET_BACK
        found, first = datetime.max.replace(tzinfo=UTC), after
        while first < found:
            following: datetime | None = trigger.get_next_fire_time(None, wall + timedelta(microseconds=1))
            if following is None:
                raise BadSchedule(f"The cron expression {self.cron!r} has no date: there is no such day.", "cron")
            wall = following
            first, *_ = times = [wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in folds]
            found = min([found, *(time for time in times if time > after)])
        return found

    def _check(self) -> None:
        """Raise BadSchedule unless expression and zone exist and the runs are far enough apart."""
        self._trigger()
        found = datetime.now(UTC)
        times = [found := self._next_of_cron(found) for _ in range(COMPARED)]
        closest = min(later - earlier for earlier, later in itertools.pairwise(times))
        if closest < MIN_INTERVAL:
            raise BadSchedule(f"{self.cron!r} runs every {_in_words(closest)}. {_CURE}", "cron")

    def _zone(self) -> ZoneInfo:
        try:
            return ZoneInfo(self.time_zone)
        except (KeyError, ValueError, OSError):
            raise BadSchedule(
                f"The time zone {self.time_zone[:60]!r} is unknown: use a name such as Europe/Helsinki or UTC.",
                "time_zone",
            ) from None

    def _trigger(self) -> CronTrigger:
        """Return the expression by a wall clock that is never set."""
        try:
            return CronTrigger.from_crontab(_with_named_weekdays(self.cron or ""), UTC)
        except ValueError as error:
            raise BadSchedule(
                f"{(self.cron or '')[:60]!r} is not a cron expression: {error}. It has five fields: minute, hour, "
                "day of the month, month, day of the week; `0 6 * * 1` is every Monday at 6:00.",
                "cron",
            ) from None


def write_interval(seconds: int) -> str:
    """Write an interval as people give it: 12h, 1d, 2w."""
    length = timedelta(seconds=seconds)
    unit = next(name for name in reversed(UNITS) if not length % UNITS[name])
    return f"{length // UNITS[unit]}{unit}"


def _parse_interval(text: str) -> int:
    parts = _INTERVAL.fullmatch(text)
    if parts is None:
        raise BadSchedule(
            f"{text[:60]!r} is not an interval: write a number and m, h, d or w, such as 12h, 1d or 2w.", "every"
        )
    length = int(parts[1]) * UNITS[parts[2].lower()]
    if length < MIN_INTERVAL:
        raise BadSchedule(f"{text.strip()!r} is too often. {_CURE}", "every")
    if length > MAX_INTERVAL:
        raise BadSchedule(f"{text.strip()!r} is too long: {MAX_INTERVAL.days} days at most.", "every")
    return int(length.total_seconds())


def _with_named_weekdays(cron: str) -> str:
    """Write weekdays by name: in cron expressions 0 and 7 are Sunday, for APScheduler 0 is Monday. Raises ValueError.

    Days of the month and of the week at once are refused: cron means either of them, APScheduler both.
    """
    fields = cron.split()
    if len(cron) > MAX_CRON_LENGTH or len(fields) != 5:
        raise ValueError(f"it has {len(fields)} fields")
    if not (fields[2].startswith("*") or fields[4].startswith("*")):
        raise ValueError("it names days of the month and days of the week; use one of them")
    return " ".join([*fields[:4], fields[4] if fields[4] == "*" else _named(fields[4])])


def _named(weekdays: str) -> str:
    names: list[str] = []
    for part in weekdays.split(","):
        numbers = _WEEKDAYS.fullmatch(part)
        if numbers is None:
            names.append(part)  # a name, or wrong
            continue
        first, last, step = numbers.groups()
        end = last or (first if first and not step else "6")
        names += WEEKDAYS[int(first or 0) : int(end) + 1 : int(step or 1)]
    return ",".join(dict.fromkeys(names)) or weekdays


def _in_words(length: timedelta) -> str:
    minutes = round(length.total_seconds() / 60)
    return f"{minutes} minutes" if minutes > 1 else "minute"
