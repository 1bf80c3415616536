"""Runs the engine for one search until it is done, stopped, or idle for too long."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.exc import DBAPIError

from scrapersky.bootstrap import Application
from scrapersky.cli.finding.progress import FindProgress
from scrapersky.cli.finding.reconnect import with_reconnect
from scrapersky.cli.shared.holds import describe_hold
from scrapersky.core.database import is_statement_timeout
from scrapersky.core.stop_signals import leave_closed_terminal, stop_signals
from scrapersky.store.operations import controls
from scrapersky.store.searches import progress as search_progress
from scrapersky.store.searches.progress import StepCount, Wait
from scrapersky.store.searches.results import contact_counts

POLL_SECONDS = 0.3  # time between two reads of the progress
FIRST_POLL_SECONDS = 0.1  # the same until there is a person or an address: someone waits for it
STOP_GRACE_SECONDS = 5.0  # time that running work gets after Ctrl-C
HELD_SECONDS = 5.0  # a ready row is claimed sooner than this, unless its workflow is paused or held back


class ProgressCounts(NamedTuple):
    """What the progress shows: the rows of every step, the counts of what was found, and the postponed rows."""

    steps: list[StepCount]
    found: dict[str, int]
    waits: list[Wait]


async def watch_search(
    application: Application,
    tenant_id: UUID,
    search_id: UUID,
    progress: FindProgress,
    idle_timeout: "IdleTimeout",
    at_end: Callable[[], Awaitable[None]],
) -> bool:
    """Run the engine until the search is done, stopped or idle for too long; return whether a signal stopped it.

    `at_end` is called while the engine still runs, unless a signal stopped it.
    """
    grace: float | None = STOP_GRACE_SECONDS
    application.runtime.start()
    started = time.monotonic()
    try:
        with progress, _stop_on_signals() as stop:
            while True:
                counts = await with_reconnect(
                    application, lambda: _read(application, tenant_id, search_id), progress.message
                )
                if counts is None:  # the engine goes on; the end of the search is noticed when the counts are read
                    progress.show_blank()
                    is_busy = any(each.running for each in application.runtime.processors.values())
                    counts, is_over = ProgressCounts([], {}, []), idle_timeout.is_over_unseen(is_busy, time.monotonic())
                else:
                    progress.show(counts.steps, counts.found, time.monotonic() - started)
                    is_done = search_progress.is_done(counts.steps)
                    is_over = is_done or idle_timeout.is_over(counts.steps, counts.waits, time.monotonic())
                if stop.is_set() or is_over:
                    if not stop.is_set():
                        await at_end()
                    grace = STOP_GRACE_SECONDS if stop.is_set() else None
                    return stop.is_set()
                if all_postponed(counts.steps, counts.waits):
                    progress.show_wait(counts.waits)
                elif held := idle_timeout.held_steps(counts.steps):
                    for sentence in await with_reconnect(
                        application, lambda: _why_held(application, held), progress.message
                    ):
                        progress.message(sentence)
                with contextlib.suppress(TimeoutError):
                    has_found = progress.first_contact_seconds is not None
                    async with asyncio.timeout(POLL_SECONDS if has_found else FIRST_POLL_SECONDS):
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

    def is_over_unseen(self, is_busy: bool, now: float) -> bool:
        """Return the same while the counts cannot be read, by whether this process works on any row."""
        since, self._idle_since = self._idle_since, None if is_busy else now
        self._idle += now - since if since is not None and not is_busy else 0.0
        return not is_busy and self._idle >= self.seconds

    def held_steps(self, steps: Sequence[StepCount]) -> list[str]:
        """Return the steps, once for the same ones, whose rows are ready and not processed."""
        open_steps = [step.workflow for step in steps if step.open]
        if self._idle < HELD_SECONDS or open_steps == self._reported:
            return []
        self._reported = open_steps
        return open_steps


def all_postponed(steps: Sequence[StepCount], waits: Sequence[Wait]) -> bool:
    """Return whether every open row is postponed to a known time."""
    return 0 < sum(wait.rows for wait in waits) == sum(step.open for step in steps)


async def _read(application: Application, tenant_id: UUID, search_id: UUID) -> ProgressCounts | None:
    """Return the counts of every step and of the contacts, and the postponed rows unless a row is processed.

    None if counting takes longer than a statement may.
    """
    try:
        return await _count(application, tenant_id, search_id)
    except DBAPIError as error:
        if not is_statement_timeout(error):
            raise
        return None


async def _count(application: Application, tenant_id: UUID, search_id: UUID) -> ProgressCounts:
    async with application.database.session(tenant_id) as session:
        steps = await search_progress.progress(session, search_id)
        found = await contact_counts(session, search_id)
        is_busy = any(step.working for step in steps)
        return ProgressCounts(steps, found, [] if is_busy else await search_progress.waits(session, search_id))


async def _why_held(application: Application, workflows: Sequence[str]) -> list[str]:
    """Return sentences about why no row of these workflows is processed."""
    async with application.database.engine_session() as session:
        known = [describe_hold(hold) for hold in await controls.holds(session, workflows)]
    return known or [
        f"No row of {', '.join(workflows)} is processed, and no pause, breaker or full queue is the reason. "
        "SCRAPERSKY_LOG_LEVEL=info logs what the engine does."
    ]


@contextlib.contextmanager
def _stop_on_signals() -> Iterator[asyncio.Event]:
    """Yield an event that SIGINT, SIGTERM or SIGHUP sets. After a SIGHUP, further ones do not end the process."""
    stop, loop, numbers = asyncio.Event(), asyncio.get_running_loop(), stop_signals()
    received = set[signal.Signals]()

    def request_stop(number: signal.Signals) -> None:
        received.add(number)
        leave_closed_terminal()
        stop.set()

    for number in numbers:
        loop.add_signal_handler(number, request_stop, number)
    try:
        yield stop
    finally:
        for number in set(numbers) - (received & {signal.SIGHUP}):  # a terminal that is closed sends several
            loop.remove_signal_handler(number)
