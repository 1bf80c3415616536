"""`scrapersky bench`: the benchmarks of a source checkout."""

import subprocess  # nosec B404 # our own modules
import sys
from pathlib import Path
from typing import Annotated

import typer

from scrapersky.core.errors import BadRequest

CHECKOUT = Path(__file__).parents[3]
BENCHMARKS = ("engine", "sitemap", "fetch", "contacts", "line", "api")


class NoBenchmarks(BadRequest):
    """The benchmark cannot be run."""


def bench(
    names: Annotated[list[str] | None, typer.Argument(help=f"Any of {', '.join(BENCHMARKS)}; default: all.")] = None,
) -> None:
    """Run the benchmarks of a source checkout against comparable projects.

    Benchmarks are not part of the package: they are in benchmarks/ of the source, install the comparable projects into
    a separate virtual environment, and take minutes each. benchmarks/README.md describes them.

    Example: scrapersky bench engine

    Exit codes: 0 all were run (a missed target is reported only), 1 one failed, 2 wrong usage, or not a checkout.
    """
    wanted = names or list(BENCHMARKS)
    for name in wanted:
        if name not in BENCHMARKS:
            raise NoBenchmarks(f"{name[:60]!r} is not one of {', '.join(BENCHMARKS)}.")
    if not (CHECKOUT / "benchmarks" / "README.md").exists():
        raise NoBenchmarks("They are in the source, not in the package: clone it, then `make setup` and `make bench`.")
    raise typer.Exit(max(_run(name) for name in wanted))


def _run(name: str) -> int:
    """Run one benchmark in a separate process; return 0 or 1."""
    typer.echo(f"benchmarks.{name}", err=True)
    command = [sys.executable, "-m", f"benchmarks.{name}"]
    return int(subprocess.run(command, cwd=CHECKOUT, check=False).returncode != 0)  # noqa: S603 # nosec B603 # our own
