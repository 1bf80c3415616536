"""A process that runs until a signal stops it, such as `serve` and `worker`."""

import asyncio
import gc
import signal
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scrapersky.cli.shared.application import run_async
from scrapersky.core.stop_signals import stop_signals

if TYPE_CHECKING:
    from scrapersky.core.database import Database

SIGNALS = stop_signals()
DEFAULT_WAIT_SECONDS = 60.0
WaitSeconds = Annotated[
    float,
    typer.Option("--wait-seconds", min=0, help="How long to wait at the start for a PostgreSQL that is unavailable."),
]


def run_service(prepare: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run the coroutine that `prepare` returns. A SIGTERM, SIGINT or SIGHUP ends the process with 0 at any moment.

    `prepare` imports and builds what would block the event loop. Garbage is collected from the moment the coroutine
    calls `keep_start_objects`.
    """
    gc.disable()
    try:
        run_async(_until_stopped(prepare()))
    finally:
        gc.enable()
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # what is left to do at exit is quick
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


async def _until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run the coroutine; a signal cancels its start, later it has handlers of its own."""
    loop, starting = asyncio.get_running_loop(), asyncio.ensure_future(work)
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        starting.cancel()

    for number in SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        await starting
    except asyncio.CancelledError:
        if not received:
            raise
    finally:
        # The loop restores the default handlers when it is closed: no signal may arrive before they are ignored.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def notify(message: str) -> None:
    """Print a message for the person or the log of the container."""
    typer.echo(message, err=True)


async def print_connection_needs(database: "Database") -> None:
    """Print how many connections the processes of this server need, and how many it offers."""
    from scrapersky.core.database import is_connection_error
    from scrapersky.core.server_start import measure_connection_needs

    try:
        needs = await measure_connection_needs(database)
    except Exception as error:
        if not is_connection_error(error):
            raise
        notify(f"Connections: not counted ({type(error).__name__}: {error}).")  # a full server: the pool waits for it
    else:
        if needs is not None:
            notify(str(needs))
