"""The engine at work for one search: watched until it is done, stopped, or out of patience."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Iterator
from uuid import UUID

from scrapersky.bootstrap import Application
from scrapersky.cli.finding.idle_timeout import Patience, all_wait
from scrapersky.cli.finding.progress import FindProgress
from scrapersky.cli.finding.reconnect import patiently
from scrapersky.store.searches import progress as search_progress
from scrapersky.store.searches.progress import StepCount, Wait
from scrapersky.store.searches.results import contact_counts

LOOK_SECONDS = 0.3  # how often the progress is read from the database
HURRY_SECONDS = 5.0  # what work in hand is given when somebody wants to leave


async def work(
    application: Application, tenant_id: UUID, search_id: UUID, progress: FindProgress, patience: Patience
) -> bool:
    """Run the engine until the search is done or the patience is over; true if somebody stopped it before."""
    grace: float | None = HURRY_SECONDS
    application.runtime.start()
    started = time.monotonic()
    try:
        with progress, _asked_to_stop() as stop:
            while True:
                steps, contacts, waits = await patiently(
                    application, lambda: _look(application, tenant_id, search_id), progress.say
                )
                progress.show(steps, contacts, time.monotonic() - started)
                if search_progress.is_done(steps) or stop.is_set() or patience.is_over(steps, waits, time.monotonic()):
                    grace = HURRY_SECONDS if stop.is_set() else None
                    return stop.is_set()
                if all_wait(steps, waits):
                    progress.wait(waits)
                elif held := patience.held(steps):
                    progress.say(held)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await stop.wait()
    finally:
        await application.runtime.stop(grace_seconds=grace)


async def _look(application: Application, tenant_id: UUID, search_id: UUID) -> tuple[list[StepCount], int, list[Wait]]:
    """How every step stands, how many contacts there are, and what is waited for if nothing is worked on."""
    async with application.database.session(tenant_id) as session:
        steps = await search_progress.progress(session, search_id)
        contacts = (await contact_counts(session, search_id))["contacts"]
        is_busy = any(step.working for step in steps)
        return steps, contacts, [] if is_busy else await search_progress.waits(session, search_id)


@contextlib.contextmanager
def _asked_to_stop() -> Iterator[asyncio.Event]:
    """Set by Ctrl-C or by whoever ends the process."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
