"""The whole line with one, two and four workers on this machine: pages a second, and CPU of a page."""

import sys
import tempfile
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from benchmarks.line import Bench, Run, sandbox_of
from benchmarks.record import Figure
from scrapersky.core.embedded.server import EmbeddedServer

COUNTS = (1, 2, 4)


async def workers(businesses: int) -> dict[int, Run]:
    """Run the line over the same sandbox with each number of workers, each in a fresh database."""
    with tempfile.TemporaryDirectory(prefix="scrapersky-bench-") as name:
        home = Path(name)
        home.chmod(0o755)
        bench, runs = Bench(EmbeddedServer(home).start(), home, Path(sys.executable)), dict[int, Run]()
        async with sandbox_of(businesses) as sandbox:
            for count in COUNTS:
                sandbox.traffic.forget()
                runs[count] = await bench.ours(sandbox, f"workers_{count}", count)
    return runs


def show_workers(runs: dict[int, Run]) -> None:
    """Print one line for each number of workers."""
    table = Table("workers", "pages/s", "CPU ms/page", "pages", "contacts", "requests", "seconds", box=SIMPLE)
    for count, run in runs.items():
        table.add_row(
            *(str(count), f"{run.pages / run.seconds:.0f}", f"{_cpu_ms(run):.1f}", f"{run.pages:,}"),
            *(f"{run.rows:,}", f"{run.requests:,}", f"{run.seconds:.1f}"),
        )
    Console(width=min(80, Console().width)).print(table)


def worker_figures(runs: dict[int, Run]) -> list[Figure]:
    """Return the figures for the record."""
    figures = list[Figure]()
    for count, run in runs.items():
        figures.append(Figure(f"line, {count} workers", round(run.pages / run.seconds, 1), "pages/s"))
        figures.append(Figure(f"line, {count} workers: CPU per page", round(_cpu_ms(run), 1), "ms"))
    return figures


def _cpu_ms(run: Run) -> float:
    return 1000 * run.cpu_seconds / run.pages
