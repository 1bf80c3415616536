"""The options of `scrapersky find` that say when the search is made again."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

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


def with_repeats(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of schedules; its parameter `repeats` receives what they say."""
    signature = inspect.signature(command)
    own = [each for name, each in signature.parameters.items() if name != "repeats"]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in OPTIONS.items()
    ]

    @wraps(command)
    def run(**arguments: Any) -> None:
        given = {name: arguments.pop(name, None) for name in OPTIONS}
        command(repeats=Repeats(_times(**given)), **arguments)

    run.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    del run.__wrapped__
    return run


def _times(every: str | None, cron: str | None, time_zone: str | None) -> "Recurrence | None":
    """Return when the search is made again; None if only once. Raises BadSchedule."""
    if every is None and cron is None and time_zone is None:
        return None
    from scrapersky.store.searches.recurrence import Recurrence

    return Recurrence.parse(every, cron, time_zone)
