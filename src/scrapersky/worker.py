"""The worker process: runs the engine until it is stopped."""

import asyncio
import signal
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import structlog

from scrapersky.bootstrap import Application
from scrapersky.core.cancellation import raise_if_cancelled
from scrapersky.core.database import is_connection_error
from scrapersky.core.stop_signals import stop_signals
from scrapersky.engine.runtime import Runtime
from scrapersky.engine.settle import driver_connection
from scrapersky.store.operations import controls

log = structlog.get_logger(__name__)

IDLE_HORIZON_SECONDS = 60.0  # rows that are due later than this do not prevent idleness


async def run_worker(
    application: Application, until_idle: bool = False, beside: AbstractAsyncContextManager[None] | None = None
) -> None:
    """Process the queues, with `beside` entered, until a signal stops it, or until idle; then close the application."""
    stop = stop_on_signals(application.runtime)
    try:
        async with beside or nullcontext():
            await _run_engine(application, stop, until_idle)
    finally:
        await log_failure(application.close())


async def log_failure(stopping: Awaitable[None]) -> None:
    """Log an error of the shutdown instead of raising it: the process was asked to stop, and does."""
    try:
        await stopping
    except Exception as error:
        raise_if_cancelled(error)
        log.exception("shutdown_failed")


async def _run_engine(application: Application, stop: asyncio.Event, until_idle: bool) -> None:
    application.runtime.start()
    waits: set[asyncio.Task[Any]] = {asyncio.create_task(stop.wait())}
    if until_idle:
        waits.add(asyncio.create_task(wait_until_idle(application)))
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in waits:
            task.cancel()
        await log_failure(application.runtime.stop())


def stop_on_signals(runtime: Runtime) -> asyncio.Event:
    """Return an event that SIGTERM, SIGINT or SIGHUP sets; a second signal requeues running work at once."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def request_stop(number: signal.Signals) -> None:
        if stop.is_set() and number != signal.SIGHUP:  # a terminal that is closed sends several
            log.warning("immediate_shutdown_requested")
            runtime.stop_now()
        stop.set()

    for number in stop_signals():
        loop.add_signal_handler(number, request_stop, number)
    return stop


async def wait_until_idle(application: Application) -> None:
    """Return when no row is ready, processing, or due within a minute; queues of paused workflows are ignored."""
    while True:
        await asyncio.sleep(min(0.2, application.settings.poll_interval_seconds))
        try:
            if not await _is_busy(application):
                return
        except Exception as error:
            raise_if_cancelled(error)
            if not is_connection_error(error):
                raise  # a lost connection is logged by the engine, and tried again here


async def _is_busy(application: Application) -> bool:
    processors = application.runtime.processors
    async with application.database.engine_session() as session:
        control_of = await controls.by_workflow(session)
        paused = {name for name, control in control_of.items() if control.paused_at is not None}
        if any(processors[name].running for name in paused & processors.keys()):  # rows claimed before are finished
            return True
        checks = [f"({queue.busy_sql})" for name, queue in application.pipeline.queues.items() if name not in paused]
        connection = await driver_connection(session)
        return bool(checks and await connection.fetchval(f"SELECT {' OR '.join(checks)}", IDLE_HORIZON_SECONDS))
