"""`scrapersky bench`: the benchmarks of a checkout, by name."""

import subprocess  # nosec B404 # our own modules
import sys
from pathlib import Path
from typing import Annotated

import typer

from scrapersky.core.errors import BadRequest

HOME = Path(__file__).parents[3]
BENCHMARKS = ("engine", "sitemap", "fetch", "contacts", "line", "api")


class NoBenchmarks(BadRequest):
    """There is nothing to measure here."""


def bench(
    names: Annotated[list[str] | None, typer.Argument(help=f"Which: {', '.join(BENCHMARKS)}; all if none.")] = None,
) -> None:
    """Run the benchmarks of a checkout, side by side with their peers.

    They are not in the package: they live in benchmarks/ of the source, install their peers into a venv of their own,
    and take minutes each. benchmarks/README.md says what each of them measures.

    Example: scrapersky bench engine

    Exit codes: 0 all of them were run (a bar that is missed is said, not punished), 1 one failed, 2 wrong usage, or no
    checkout.
    """
    wanted = names or list(BENCHMARKS)
    for name in wanted:
        if name not in BENCHMARKS:
            raise NoBenchmarks(f"{name[:60]!r} is none of {', '.join(BENCHMARKS)}.")
    if not (HOME / "benchmarks" / "README.md").exists():
        raise NoBenchmarks("They are in the source, not in the package: clone it, then `make setup` and `make bench`.")
    raise typer.Exit(max(_run(name) for name in wanted))


def _run(name: str) -> int:
    """One benchmark in a process of its own; what it prints is seen at once."""
    typer.echo(f"benchmarks.{name}", err=True)
    command = [sys.executable, "-m", f"benchmarks.{name}"]
    return int(subprocess.run(command, cwd=HOME, check=False).returncode != 0)  # noqa: S603 # nosec B603 # our own
