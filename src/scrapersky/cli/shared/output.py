"""What commands print: a table for people, one JSON document for scripts, nothing else on standard output."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import typer

WIDE = 100  # columns of a terminal from which on a table may breathe
PIPE_WIDTH = 1000  # a pipe has no edge: lines are not folded


def print_json(document: Any) -> None:
    """One JSON document; times and ids as text."""
    typer.echo(json.dumps(document, indent=2, default=str))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str | None = None) -> None:
    """A table; columns whose title ends in `#` hold numbers and stand to the right, the first one names the row."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0) if console.width >= WIDE else 0,
        pad_edge=False,
    )
    for place, column in enumerate(columns):
        is_number = column.endswith("#")
        justify: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(column.removesuffix("#"), justify=justify, no_wrap=is_number or not place)
    for row in rows:
        table.add_row(*(escape(printable(str(cell))) for cell in row))
    console.print(table)


def printable(text: str) -> str:
    """The text without anything that moves a cursor: what a web site wrote may stand on a terminal."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "?" for char in text)


def seconds(value: float | None) -> str:
    """A length of time as people say it: 0.4 s, 12 s, 3 min, 2 h, 5 d."""
    if value is None:
        return "-"
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if value >= 2 * size:
            return f"{value / size:.0f} {unit}"
    return f"{value:.0f} s" if value >= 10 else f"{value:.1f} s"
