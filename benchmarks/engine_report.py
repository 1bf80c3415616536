"""What an engine benchmark found: targets with the figures of every side, as a table or as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import record


@dataclass(frozen=True)
class Figure:
    """One side's figure; `ratio` says how ours compares with it."""

    side: str
    value: str
    cpu: str = ""
    ratio: str = ""


@dataclass(frozen=True)
class Verdict:
    """A target, what was measured, whether that is enough, and the figure for the record, if there is one."""

    target: str
    reached: str
    met: bool
    value: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Measured:
    """Everything about one part of the benchmark."""

    what: str
    unit: str
    figures: list[Figure]
    verdicts: list[Verdict]
    raw: dict[str, Any] = field(default_factory=dict)
    sides: list[record.Figure] = field(default_factory=list)  # of all sides, for the record


def as_json(found: list[Measured]) -> list[dict[str, Any]]:
    """Return the report as JSON."""
    return [asdict(measured) for measured in found]


def print_part(console: Console, measured: Measured) -> None:
    """Print the table of one part and its targets."""
    columns = {"": [figure.side for figure in measured.figures]}
    columns[measured.unit] = [figure.value for figure in measured.figures]
    columns["CPU µs (worker + server)"] = [figure.cpu for figure in measured.figures]
    columns["ours is"] = [figure.ratio for figure in measured.figures]
    shown = {name: column for name, column in columns.items() if any(column)}
    table = Table(title=measured.what, title_justify="left", title_style="bold")
    for name in shown:
        table.add_column(name, justify="right" if name else "left", overflow="fold")
    for row in zip(*shown.values(), strict=True):
        table.add_row(*row)
    console.print(table)
    for verdict in measured.verdicts:
        word = "[green]reached[/]" if verdict.met else "[red]MISSED[/]"
        console.print(f"  {word}  {verdict.target}: {verdict.reached}")
    console.print()


def print_summary(console: Console, found: list[Measured]) -> None:
    """Print one sentence about the targets of all parts."""
    verdicts = [verdict for measured in found for verdict in measured.verdicts]
    missed = [verdict.target for verdict in verdicts if not verdict.met]
    console.print(f"{len(verdicts) - len(missed)} of {len(verdicts)} targets reached." + _list(missed))


def _list(missed: list[str]) -> str:
    return f" Missed: {'; '.join(missed)}." if missed else ""


def record_parts(found: list[Measured]) -> None:
    """Add the targets of all parts and the figures of all sides to the history."""
    verdicts = [verdict for measured in found for verdict in measured.verdicts if verdict.value is not None]
    figures = [record.Figure(one.target, round(one.value or 0, 2), one.unit, "as named", one.met) for one in verdicts]
    record.record("engine", [*figures, *(side for measured in found for side in measured.sides)])
