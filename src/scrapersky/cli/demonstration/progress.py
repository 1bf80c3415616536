"""Progress of the engine demo on standard error: a bar per step on a terminal, a line per second elsewhere."""

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from rich import progress as bars
from rich.console import Console

from scrapersky.engine.events import BatchSettled
from scrapersky.engine.outcomes import OutcomeKind

LINE_SECONDS = 1.0


@dataclass
class Step:
    """The outcomes of the rows of one step so far."""

    name: str
    completed: int = 0
    skipped: int = 0
    retried: int = 0
    failed: int = 0

    @property
    def settled(self) -> int:
        """The number of rows that have finished this step."""
        return self.completed + self.skipped + self.failed


class DemoProgress:
    """Counts settled rows by engine events, and draws them inside its `with` block."""

    def __init__(self, names: list[str], rows: int) -> None:
        self.steps = [Step(name) for name in names]
        self._rows = rows
        self._drawing = False
        self._printed_at = time.monotonic()
        self._console = Console(stderr=True)
        self._bars = bars.Progress(
            bars.TextColumn("{task.description:<10}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("{task.fields[note]}"),
            bars.TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._tasks: dict[str, bars.TaskID] = {}

    def waiting(self, words: str) -> AbstractContextManager[object]:
        """Show the words until the block ends."""
        if self._console.is_terminal:
            return self._console.status(words)
        self._console.print(words)
        return nullcontext()

    def __enter__(self) -> Self:
        self._tasks = {step.name: self._bars.add_task(step.name, total=self._rows, note="") for step in self.steps}
        self._drawing = True
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._draw(last=True)
        self._drawing = False
        self._bars.stop()

    async def count(self, event: Any) -> None:
        """Count an engine event."""
        if not (isinstance(event, BatchSettled) and self._drawing):
            return
        step = next(step for step in self.steps if step.name == event.workflow)
        for kind in (OutcomeKind.COMPLETED, OutcomeKind.SKIPPED, OutcomeKind.RETRIED, OutcomeKind.FAILED):
            setattr(step, kind, getattr(step, kind) + event.counts.get(kind, 0))
        self._draw()

    def _draw(self, last: bool = False) -> None:
        expected = self._rows  # a step gets the rows that the preceding step completed
        for step in self.steps:
            self._bars.update(self._tasks[step.name], completed=step.settled, total=expected, note=_note(step))
            expected -= step.skipped + step.failed
        if not self._console.is_terminal and (last or time.monotonic() - self._printed_at > LINE_SECONDS):
            self._printed_at = time.monotonic()
            self._console.print("  ".join(f"{step.name} {step.settled}{_note(step, ' ')}" for step in self.steps))


def _note(step: Step, before: str = "") -> str:
    parts = [
        f"{count} {word}"
        for count, word in ((step.retried, "retried"), (step.skipped, "skipped"), (step.failed, "dead"))
        if count
    ]
    return f"{before}({', '.join(parts)})" if parts else ""
