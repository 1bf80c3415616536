"""How a person wants a grid drawn: which of its columns, in which order."""

from dataclasses import dataclass

from scrapersky.console.columns import Column, Grid
from scrapersky.console.forms import SentFields
from scrapersky.core.preferences import Preferences


@dataclass(frozen=True)
class GridLayout:
    """The columns of a grid as a person wants them."""

    shown: tuple[Column, ...]
    hidden: tuple[Column, ...]


def read_layout(preferences: Preferences, grid: Grid) -> GridLayout:
    """Return the columns that the person has chosen; without a choice those that are declared to be shown."""
    known = {column.field: column for column in grid.columns}
    chosen = [known[name] for name in dict.fromkeys(preferences.columns.get(grid.name, ())) if name in known]
    shown = tuple(chosen) or tuple(column for column in grid.columns if not column.is_extra)
    return GridLayout(shown, tuple(column for column in grid.columns if column not in shown))


def sent_columns(grid: Grid, form: SentFields) -> list[str]:
    """Return the columns that the form asks for, one moved if it says so; none for those that are declared."""
    known = {column.field for column in grid.columns}
    shown = [name for name in dict.fromkeys(form.all("column")) if name in known]
    for word, steps in (("up", -1), ("down", 1)):
        name = form.get(word)
        if name in shown:
            place = shown.index(name)
            shown.insert(max(0, place + steps), shown.pop(place))
    return [] if form.get("reset") else shown
