"""The options of `scrapersky find` that say when the search is made again."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from scrapersky.cli.shared.option_sets import with_options
from scrapersky.cli.shared.schedule_options import Cron, Every, TimeZone

if TYPE_CHECKING:
    from scrapersky.store.searches.recurrence import Recurrence

OPTIONS = {"every": Every, "cron": Cron, "time_zone": TimeZone}


@dataclass(frozen=True)
class Repeats:
    """When a search is made again, if ever."""

    times: "Recurrence | None" = None


ONCE = Repeats()
RepeatPart = Annotated[Repeats, "what the options of with_repeats say; it replaces this parameter"]


def _times(every: str | None, cron: str | None, time_zone: str | None) -> "Recurrence | None":
    """Return when the search is made again; None if only once. Raises BadSchedule."""
    if every is None and cron is None and time_zone is None:
        return None
    from scrapersky.store.searches.recurrence import Recurrence

    return Recurrence.parse(every, cron, time_zone)


# Gives a command the options of schedules; its parameter `repeats` receives what they say.
with_repeats = with_options("repeats", OPTIONS, lambda given, _: Repeats(_times(**given)))
