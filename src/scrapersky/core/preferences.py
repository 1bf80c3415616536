"""How the pages of the console look and behave for one user."""

import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from typing import Any, Literal, get_args

Theme = Literal["auto", "light", "dark"]
Density = Literal["normal", "dense"]
Times = Literal["relative", "absolute"]


@dataclass(frozen=True)
class Preferences:
    """The choices of a user; what was never chosen has its default."""

    theme: Theme = "auto"  # auto: as the operating system
    density: Density = "normal"  # the height of rows in grids
    keys: bool = True  # whether single keys act
    times: Times = "relative"
    time_zone: str = ""  # an IANA name; empty: that of the browser
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of each grid, in order; missing: all

    def stored(self) -> dict[str, Any]:
        """Return the choices as JSON."""
        return asdict(self)


CHOICES: Mapping[str, tuple[str, ...]] = {
    "theme": get_args(Theme),
    "density": get_args(Density),
    "times": get_args(Times),
}


def read_preferences(stored: Mapping[str, Any]) -> Preferences:
    """Return stored choices; one that this version does not know is left at its default."""
    known = {one.name for one in fields(Preferences)}
    return Preferences(
        **{name: _read(name, value) for name, value in stored.items() if name in known and _is(name, value)}
    )


def _is(name: str, value: Any) -> bool:
    if name in CHOICES:
        return value in CHOICES[name]
    if name == "time_zone":
        return isinstance(value, str) and (not value or is_time_zone(value))
    return isinstance(value, dict if name == "columns" else bool)


def _read(name: str, value: Any) -> Any:
    return {grid: tuple(map(str, columns)) for grid, columns in value.items()} if name == "columns" else value


def is_time_zone(name: str) -> bool:
    """Return whether this is the name of a time zone; a machine without a list of them checks its form only."""
    return (
        name in time_zones()
        if time_zones()
        else re.fullmatch(r"[A-Z][A-Za-z_]{1,30}(/[A-Za-z_-]{1,30}){1,2}", name) is not None
    )


@cache
def time_zones() -> tuple[str, ...]:
    """Return the names of the time zones that people choose from."""
    return tuple(sorted(name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/")))
