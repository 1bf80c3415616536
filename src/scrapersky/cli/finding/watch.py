"""Runs the engine for one search until it is done, stopped, or idle for too long."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Iterator, Sequence
from uuid import UUID

from scrapersky.bootstrap import Application
from scrapersky.cli.finding.progress import FindProgress
from scrapersky.cli.finding.reconnect import with_reconnect
from scrapersky.store.searches import progress as search_progress
from scrapersky.store.searches.progress import StepCount, Wait
from scrapersky.store.searches.results import contact_counts

POLL_SECONDS = 0.3  # time between two reads of the progress
STOP_GRACE_SECONDS = 5.0  # time that running work gets after Ctrl-C
HELD_SECONDS = 5.0  # a ready row is claimed sooner than this, unless its workflow is paused or held back


async def watch_search(
    application: Application, tenant_id: UUID, search_id: UUID, progress: FindProgress, idle_timeout: "IdleTimeout"
) -> bool:
    """Run the engine until the search is done, stopped or idle for too long; return whether a signal stopped it."""
    grace: float | None = STOP_GRACE_SECONDS
    application.runtime.start()
    started = time.monotonic()
    try:
        with progress, _stop_on_signals() as stop:
            while True:
                steps, contacts, waits = await with_reconnect(
                    application, lambda: _read(application, tenant_id, search_id), progress.message
                )
                progress.show(steps, contacts, time.monotonic() - started)
                is_over = search_progress.is_done(steps) or idle_timeout.is_over(steps, waits, time.monotonic())
                if stop.is_set() or is_over:
                    grace = STOP_GRACE_SECONDS if stop.is_set() else None
                    return stop.is_set()
                if all_postponed(steps, waits):
                    progress.show_wait(waits)
                elif held := idle_timeout.held_message(steps):
                    progress.message(held)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await stop.wait()
    finally:
        await application.runtime.stop(grace_seconds=grace)


class IdleTimeout:
    """Measures the time in which no row is processed; it restarts whenever a row finishes a step.

    It is over when the time has passed, or as soon as all remaining rows are postponed beyond it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._idle = 0.0
        self._reported: list[str] = []
        self._idle_since: float | None = None  # the previous call, if no row was processed then
        self._before: list[tuple[int, int]] = []

    def is_over(self, steps: Sequence[StepCount], waits: Sequence[Wait], now: float) -> bool:
        """Return whether to leave the remaining rows for a later run; to be called repeatedly."""
        state, since = [(step.settled, step.open) for step in steps], self._idle_since
        is_busy = any(step.working for step in steps)
        self._idle_since = None if is_busy else now
        if state != self._before:
            self._before, self._idle = state, 0.0
        elif since is not None:
            self._idle += now - since
        left = self.seconds - self._idle
        in_vain = all_postponed(steps, waits) and min(wait.seconds for wait in waits) > left
        return not is_busy and (left <= 0 or in_vain)

    def held_message(self, steps: Sequence[StepCount]) -> str | None:
        """Return a message, once for the same steps, if rows are ready and no worker processes them."""
        open_steps = [step.workflow for step in steps if step.open]
        if self._idle < HELD_SECONDS or open_steps == self._reported:
            return None
        self._reported = open_steps
        return f"No row is processed, although {', '.join(open_steps)} has some. Is it paused? See `scrapersky status`."


def all_postponed(steps: Sequence[StepCount], waits: Sequence[Wait]) -> bool:
    """Return whether every open row is postponed to a known time."""
    return 0 < sum(wait.rows for wait in waits) == sum(step.open for step in steps)


async def _read(application: Application, tenant_id: UUID, search_id: UUID) -> tuple[list[StepCount], int, list[Wait]]:
    """Return the counts of every step, the number of contacts, and the postponed rows unless a row is processed."""
    async with application.database.session(tenant_id) as session:
        steps = await search_progress.progress(session, search_id)
        contacts = (await contact_counts(session, search_id))["contacts"]
        is_busy = any(step.working for step in steps)
        return steps, contacts, [] if is_busy else await search_progress.waits(session, search_id)


@contextlib.contextmanager
def _stop_on_signals() -> Iterator[asyncio.Event]:
    """Yield an event that SIGINT or SIGTERM sets."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
