"""Output of commands: a table for people or one JSON document for scripts on standard output."""

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import typer

from scrapersky.core import clock

Row = TypeVar("Row")

WIDE_TERMINAL = 100  # columns from which on table cells are padded
PIPE_WIDTH = 1000  # lines are not wrapped in a pipe
READING_WIDTH = 80  # but those of tables with sentences, which are read in logs
NOTICE_SECONDS = 2.0


def print_json(document: Any) -> None:
    """Print one JSON document; times as ISO 8601, ids as text."""
    typer.echo(json.dumps(document, indent=2, default=_as_text))


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    title: str | None = None,
    pipe_width: int = PIPE_WIDTH,
) -> None:
    """Print a table. Columns whose title ends in `#` hold numbers and are aligned right."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = pipe_width
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0) if console.is_terminal and console.width >= WIDE_TERMINAL else 0,
        pad_edge=False,
    )
    for position, column in enumerate(columns):
        is_number = column.endswith("#")
        justify: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(column.removesuffix("#"), justify=justify, no_wrap=is_number or not position)
    for row in rows:
        table.add_row(*(escape(printable(str(cell))) for cell in row))
    console.print(table)


def print_list(
    rows: Sequence[Row], as_json: bool, columns: Sequence[str], cells: Callable[[Row], Sequence[object]], if_empty: str
) -> None:
    """Print rows as JSON or as a table, or the sentence if there is none; exit with 1 if there is none."""
    if as_json:
        print_json(rows)
    elif rows:
        print_table(columns, map(cells, rows))
    else:
        typer.echo(if_empty)
    raise typer.Exit(0 if rows else 1)


def print_sentence(sentence: str) -> None:
    """Print a sentence, wrapped between words on a terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(printable(sentence), markup=False, soft_wrap=not console.is_terminal)


def print_fields(fields: Mapping[str, object]) -> None:
    """Print one value per line behind its name, without those that are empty."""
    shown = {name.replace("_", " "): value for name, value in fields.items() if value not in (None, "")}
    width = max(map(len, shown), default=0)
    for name, value in shown.items():
        typer.echo(f"{name:<{width}}  {printable(str(value))}")


def printable(text: str, keep: str = "") -> str:
    """Replace control characters except those in `keep`, so that text from the web cannot control the terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else "?" for char in text)


def program_name() -> str:
    """Return how a shell in this directory starts this program again."""
    program = Path(sys.argv[0])
    if program.name == "__main__.py":  # python -m scrapersky
        return f"{sys.executable} -m scrapersky"
    if shutil.which(program.name) and Path(shutil.which(program.name) or "").samefile(program):
        return program.name
    relative = os.path.relpath(program)
    return str(program) if relative.startswith("..") else relative


def format_seconds(value: float | None) -> str:
    """Format a duration: 0.4 s, 12 s, 3 min, 2 h, 5 d."""
    if value is None:
        return "-"
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if value >= 2 * size:
            return f"{value / size:.0f} {unit}"
    return f"{value:.0f} s" if value >= 10 else f"{value:.1f} s"


def format_age(moment: datetime) -> str:
    """Format the time since a moment."""
    return format_seconds((clock.now() - moment).total_seconds())


def format_count(value: int) -> str:
    """Format a count with at most five characters: 99999, 123k, 12M."""
    if value < 100_000:
        return str(value)
    return f"{value // 1_000}k" if value < 10_000_000 else f"{value // 1_000_000}M"


def format_size(count: int) -> str:
    """Format a number of bytes: 812 bytes, 1.2 MB."""
    for unit, size in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


@contextmanager
def show_progress(what: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done on a terminal, on standard error; the block reports each part that it begins."""
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …") as status:
        yield lambda part: status.update(f"{what}: {part} …")


@contextmanager
def notice_if_slow(sentence: str, after_seconds: float = NOTICE_SECONDS) -> Iterator[None]:
    """Print the sentence to standard error if the block takes longer; by a thread, because the block may not yield."""
    timer = threading.Timer(after_seconds, typer.echo, (sentence,), {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
