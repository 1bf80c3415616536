"""The word lists of the sandbox, read from its data files once."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """Load the data file of this name."""
    return tomllib.loads(files("scrapersky.sandbox").joinpath(f"data/{name}.toml").read_text("utf-8"))
