"""`scrapersky worker`: the engine without the API, on any number of hosts."""

from collections.abc import Coroutine
from typing import Annotated, Any

import typer

from scrapersky.cli.shared.application import keep_start_objects
from scrapersky.cli.shared.service import (
    DEFAULT_WAIT_SECONDS,
    WaitSeconds,
    notify,
    print_connection_needs,
    run_service,
)


def worker(
    until_idle: Annotated[
        bool,
        typer.Option("--until-idle", help="Stop when no row is ready, running or due within a minute."),
    ] = False,
    wait_seconds: WaitSeconds = DEFAULT_WAIT_SECONDS,
) -> None:
    """Process the queues until stopped.

    SIGTERM or Ctrl-C stops claiming and lets running work finish; a second one requeues it at once. Any number of
    workers may share one PostgreSQL. /metrics, /health/live and /health/ready are served on SCRAPERSKY_WORKER_PORT
    (9464, or the next free port). --until-idle does not wait for paused workflows. A PostgreSQL that is unavailable,
    starting or full is waited for at the start; later, for any time.

    Example: DATABASE_URL=postgresql://line@db/line scrapersky worker

    Exit codes: 0 stopped by a signal or idle, 2 wrong usage or setting, or database error.
    """
    run_service(lambda: _prepare(until_idle, wait_seconds))


def _prepare(until_idle: bool, wait_seconds: float) -> Coroutine[Any, Any, None]:
    """Import everything, and return the coroutine that works."""
    from scrapersky.bootstrap import open_application
    from scrapersky.core.logging_setup import configure_logs
    from scrapersky.core.server_start import StartWait
    from scrapersky.core.settings import Environment, load
    from scrapersky.worker import run_worker
    from scrapersky.worker_http import serve_health

    async def work() -> None:
        application = await open_application(environment, wait=StartWait(wait_seconds, notify))
        await print_connection_needs(application.database)
        keep_start_objects()
        await run_worker(application, until_idle, serve_health(application))

    environment = Environment()
    configure_logs(load(environment))
    return work()
