"""A search as it goes: a bar for each step on a terminal, a line now and then elsewhere; and what came of it."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from rich import progress as bars
from rich.console import Console

from scrapersky.cli.finding.outcome import why_nothing
from scrapersky.cli.shared.output import print_table, printable, seconds
from scrapersky.store.line.steps import STEPS
from scrapersky.store.searches.progress import StepCount, Wait

LINE_SECONDS = 2.0
LABELS = {step.workflow: step.label for step in STEPS}


class FindProgress:
    """Draws what the database says, on standard error, and remembers when the first contact came."""

    def __init__(self, text: str, area: str | None, known: bool) -> None:
        self.seconds = 0.0
        self.first_contact_seconds: float | None = None
        self.last_contact_seconds: float | None = None
        self._contacts = 0
        self._console = Console(stderr=True, highlight=False)
        where = f" in {area}" if area else ""
        self._console.print(f"{'Going on with' if known else 'Looking for'} {printable(text + where)}.", markup=False)
        self._said_at = time.monotonic()
        self._waiting_until: datetime | None = None
        self._bars = bars.Progress(
            bars.TextColumn("{task.description:<15}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("{task.fields[note]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._tasks = {name: self._bars.add_task(title, total=None, note="") for name, title in LABELS.items()}
        self._found = self._bars.add_task("contacts", total=None, note="")

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def show(self, steps: Sequence[StepCount], contacts: int, elapsed: float) -> None:
        """The state of every step, now."""
        self.seconds = elapsed
        if contacts > self._contacts:
            self.last_contact_seconds = round(elapsed, 1)
            self.first_contact_seconds = self.first_contact_seconds or self.last_contact_seconds
            self._contacts = contacts
        for step in steps:
            self._bars.update(
                self._tasks[step.workflow],
                completed=step.settled,
                total=step.settled + step.open or None,
                note=_note(step),
            )
        self._bars.update(self._found, completed=contacts, total=contacts or None)
        if not self._console.is_terminal and time.monotonic() - self._said_at > LINE_SECONDS:
            self._said_at = time.monotonic()
            parts = [f"{LABELS[step.workflow]} {step.settled}/{step.settled + step.open}" for step in steps]
            self._console.print(
                f"{elapsed:5.0f} s  {', '.join(parts)}, contacts {contacts}", markup=False, soft_wrap=True
            )

    def wait(self, waits: Sequence[Wait]) -> None:
        """Nothing is worked on: say once what is waited for, why and until when."""
        if not waits or waits[0].until == self._waiting_until or waits[0].seconds < LINE_SECONDS:
            return
        self._waiting_until = waits[0].until
        self._console.print(f"Waiting {waiting(waits[0])}", markup=False, soft_wrap=True)

    def say(self, sentence: str) -> None:
        """A sentence between the bars."""
        self._console.print(printable(sentence), markup=False, soft_wrap=True)

    def summarise(self, summary: dict[str, Any]) -> None:
        """What was found, skipped and failed, and why."""
        if nothing := why_nothing(summary):
            self.say(nothing)
        else:
            self._tell_what_was_found(summary)
        self.say(
            f"{summary['file']} was there before and is kept."
            if summary["kept"]
            else f"{summary['rows']} rows in {summary['file']}."
        )
        self._tell_the_rest(summary)

    def _tell_what_was_found(self, summary: dict[str, Any]) -> None:
        steps = [
            (LABELS[name], counts["completed"], counts["skipped"], counts["failed"])
            for name, counts in summary["steps"].items()
        ]
        print_table(["step", "done#", "skipped#", "failed#"], steps)
        if summary["reasons"]:
            rows = [
                (LABELS[reason["step"]], reason["status"].lower(), reason["reason"], reason["rows"])
                for reason in summary["reasons"]
            ]
            print_table(["step", "", "why", "rows#"], rows)
        first = summary["first_contact_seconds"]
        self._console.print(
            f"{summary['emails']} emails, {summary['phones']} phones and {summary['people']} people of "
            f"{summary['domains']} web sites in {seconds(summary['seconds'])}"
            + (f", the first after {seconds(first)}." if first is not None else "."),
            markup=False,
            soft_wrap=True,
        )
        if summary["verdicts"]:
            told = ", ".join(f"{count} {verdict}" for verdict, count in summary["verdicts"].items() if count)
            self._console.print(f"Of the addresses, {told}.", markup=False)

    def _tell_the_rest(self, summary: dict[str, Any]) -> None:
        if summary["bill"]["cost_cents"] or summary["bill"]["budget_cents"] is not None:
            self._console.print(_bill(summary["bill"]), markup=False)
        if summary["notes"]:
            self.say(summary["notes"])
        if summary["cancelled_by"]:
            self.say(f"Cancelled by {summary['cancelled_by']}.")
        if summary["left"] and not summary["stopped"]:
            for wait in summary["waiting"]:
                self._console.print(f"Left waiting {waiting(Wait(**wait))}", markup=False, soft_wrap=True)
            self._console.print(
                f"{summary['left']} rows are left; the same command goes on with them, and waits for them with a "
                "larger --patience.",
                markup=False,
                soft_wrap=True,
            )
        for line in summary["refused_lines"][:10]:
            self._console.print(f"not used: {printable(line)}", markup=False)
        if summary["stopped"]:
            self._console.print("Stopped: the same command goes on where this one ended.")


def waiting(wait: Wait) -> str:
    """Until when, for what, and why."""
    until = wait.until.astimezone()  # the clock on the reader's wall
    day = "" if until.date() == datetime.now(until.tzinfo).date() else f"{until:%Y-%m-%d} "
    rows = f"{wait.rows} row{'s' if wait.rows > 1 else ''}"
    return f"until {day}{until:%H:%M:%S} ({LABELS[wait.workflow]}, {rows}): {printable(wait.reason)}"


def _bill(bill: Mapping[str, Any]) -> str:
    """What the provider was paid."""
    budget = bill["budget_cents"]
    of_budget = f", budget {budget / 100:.2f}" if budget is not None else ""
    details = bill["details_count"]
    of_details = f", {details} of them for details ({bill['details_cents'] / 100:.2f})" if details else ""
    return f"Cost {bill['cost_cents'] / 100:.2f}{of_budget}: {bill['call_count']} calls{of_details}."


def _note(step: StepCount) -> str:
    parts = [f"{count} {word}" for count, word in ((step.skipped, "skipped"), (step.failed, "failed")) if count]
    return f"({', '.join(parts)})" if parts else ""
