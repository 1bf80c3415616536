"""What an engine benchmark found: bars with the figures of every side, as a table or as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """One side's figure; `ratio` says how ours compares with it."""

    side: str
    value: str
    cpu: str = ""
    ratio: str = ""


@dataclass(frozen=True)
class Verdict:
    """A bar, what was reached, and whether that is enough."""

    bar: str
    reached: str
    met: bool


@dataclass(frozen=True)
class Measured:
    """Everything about one row of the bar table."""

    what: str
    unit: str
    figures: list[Figure]
    verdicts: list[Verdict]
    raw: dict[str, Any] = field(default_factory=dict)


def as_json(found: list[Measured]) -> list[dict[str, Any]]:
    """Return the report as JSON."""
    return [asdict(measured) for measured in found]


def print_part(console: Console, measured: Measured) -> None:
    """Print the table of one part and its bars."""
    columns = {"": [figure.side for figure in measured.figures]}
    columns[measured.unit] = [figure.value for figure in measured.figures]
    columns["CPU µs/job (worker + server)"] = [figure.cpu for figure in measured.figures]
    columns["ours is"] = [figure.ratio for figure in measured.figures]
    shown = {name: column for name, column in columns.items() if any(column)}
    table = Table(title=measured.what, title_justify="left", title_style="bold")
    for name in shown:
        table.add_column(name, justify="right" if name else "left", no_wrap=True, overflow="fold")
    for row in zip(*shown.values(), strict=True):
        table.add_row(*row)
    console.print(table)
    for admission in measured.verdicts:
        word = "[green]reached[/]" if admission.met else "[red]MISSED[/]"
        console.print(f"  {word}  {admission.bar}: {admission.reached}")
    console.print()


def print_summary(console: Console, found: list[Measured]) -> None:
    """Print one sentence about the bars of all parts."""
    verdicts = [admission for measured in found for admission in measured.verdicts]
    missed = [admission.bar for admission in verdicts if not admission.met]
    console.print(f"{len(verdicts) - len(missed)} of {len(verdicts)} bars reached." + _list(missed))


def _list(missed: list[str]) -> str:
    return f" Missed: {'; '.join(missed)}." if missed else ""
