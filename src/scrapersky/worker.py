"""The worker process: runs the engine until it is stopped."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

import structlog

from scrapersky.bootstrap import Application
from scrapersky.core.cancellation import raise_if_cancelled
from scrapersky.core.database import is_connection_error

log = structlog.get_logger(__name__)

IDLE_HORIZON_SECONDS = 60.0  # rows that wait longer than this do not keep `--until-idle` up


async def run_worker(application: Application, until_idle: bool = False) -> None:
    """Work until SIGTERM or SIGINT (a second one hurries), or until nothing is left to do."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def asked_to_stop() -> None:
        if stop.is_set():
            log.warning("immediate_shutdown_requested")
            application.runtime.stop_now()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked_to_stop)
    application.runtime.start()
    try:
        if until_idle:
            await _first_of(stop.wait(), wait_until_idle(application))
        else:
            await stop.wait()
    finally:
        await application.runtime.stop()
        await application.close()


async def wait_until_idle(application: Application) -> None:
    """Return when no row is ready, being worked on, or due within a minute; a paused queue is not waited for."""
    while True:
        await asyncio.sleep(min(0.2, application.settings.poll_interval_seconds))
        try:
            busy = await _is_busy(application)
        except Exception as error:
            raise_if_cancelled(error)
            if not is_connection_error(error):
                raise
            continue  # a database that is away is waited for; the engine itself says so
        if not busy:
            return


async def _is_busy(application: Application) -> bool:
    async with application.database.engine_connection() as connection:
        paused = await connection.fetch("SELECT workflow FROM workflow_control WHERE paused_at IS NOT NULL")
        resting = {row["workflow"] for row in paused}
        for name, queue in application.pipeline.queues.items():
            if name in resting:
                busy = application.runtime.processors[name].running > 0  # it finishes what it has in hand
            else:
                busy = await queue.is_busy(connection, IDLE_HORIZON_SECONDS)
            if busy:
                return True
    return False


async def _first_of(*awaited: Coroutine[Any, Any, Any]) -> None:
    tasks = [asyncio.create_task(one) for one in awaited]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
