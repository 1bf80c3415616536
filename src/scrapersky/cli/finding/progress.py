"""Progress of a search on standard error: a bar per step on a terminal, a line every two seconds elsewhere."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self

from rich import progress as bars
from rich.console import Console

from scrapersky.cli.shared.output import printable
from scrapersky.store.searches.campaigns import title_of
from scrapersky.store.searches.progress import StepCount, Wait
from scrapersky.store.steps import STEPS

LINE_SECONDS = 2.0
LABELS = {step.workflow: step.label for step in STEPS}


class FindProgress:
    """Draws the counts of the steps inside its `with` block, and measures the time of the first and last contact.

    A contact here is a person or an address: the provider's number of a business is known before any page.
    """

    def __init__(self, text: str, area: str | None, existed: bool) -> None:
        self.seconds = 0.0
        self.first_contact_seconds: float | None = None
        self.last_contact_seconds: float | None = None
        self._people = 0
        self._console = Console(stderr=True, highlight=False)
        self._printed_at = time.monotonic()
        self._waiting_until: datetime | None = None
        self._is_blank = False
        self._bars = bars.Progress(
            bars.TextColumn("{task.description:<15}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("{task.fields[note]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._tasks = {name: self._bars.add_task(label, total=None, note="") for name, label in LABELS.items()}
        self._found = self._bars.add_task("contacts", total=None, note="")
        title = f"{text} in {area}" if area else title_of(text)
        self.message(f"{'Continuing' if existed else 'Searching'}: {title}.")

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def show(self, steps: Sequence[StepCount], found: Mapping[str, int], elapsed: float) -> None:
        """Show the counts of every step and of the contacts."""
        self.seconds, self._is_blank = elapsed, False
        contacts, people = found["contacts"], found["emails"] + found["people"]
        if people > self._people:
            self.last_contact_seconds = round(elapsed, 1)
            self.first_contact_seconds = self.first_contact_seconds or self.last_contact_seconds
            self._people = people
        for step in steps:
            total = step.settled + step.open or None
            self._bars.update(self._tasks[step.workflow], completed=step.settled, total=total, note=_note(step))
        self._bars.update(self._found, completed=contacts, total=contacts or None)
        if not self._console.is_terminal and time.monotonic() - self._printed_at > LINE_SECONDS:
            self._printed_at = time.monotonic()
            parts = [f"{LABELS[step.workflow]} {step.settled}/{step.settled + step.open}" for step in steps]
            self.message(f"{elapsed:5.0f} s  {', '.join(parts)}, contacts {contacts}")

    def show_blank(self) -> None:
        """Print once that the counts cannot be read at the moment."""
        if not self._is_blank:
            self._is_blank = True
            self.message("Counting the rows takes too long at the moment; the search goes on without its progress.")

    def show_wait(self, waits: Sequence[Wait]) -> None:
        """Print once until when and why all remaining rows are postponed."""
        if not waits or waits[0].until == self._waiting_until or waits[0].seconds < LINE_SECONDS:
            return
        self._waiting_until = waits[0].until
        self.message(f"Waiting {describe_wait(waits[0])}")

    def message(self, sentence: str) -> None:
        """Print a sentence above the bars."""
        self._console.print(printable(sentence), markup=False, soft_wrap=True)


def describe_wait(wait: Wait) -> str:
    """Describe postponed rows: until when, of which step, and why."""
    until = wait.until.astimezone()
    day = "" if until.date() == datetime.now(until.tzinfo).date() else f"{until:%Y-%m-%d} "
    rows = f"{wait.rows} row{'s' if wait.rows > 1 else ''}"
    return f"until {day}{until:%H:%M:%S} ({LABELS[wait.workflow]}, {rows}): {wait.reason}"


def _note(step: StepCount) -> str:
    parts = [f"{count} {word}" for count, word in ((step.skipped, "skipped"), (step.failed, "failed")) if count]
    return f"({', '.join(parts)})" if parts else ""
