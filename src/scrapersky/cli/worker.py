"""`scrapersky worker`: the engine without the API, on any number of hosts."""

import gc
from typing import Annotated

import typer

from scrapersky.cli.shared.application import run_async


def worker(
    until_idle: Annotated[
        bool,
        typer.Option("--until-idle", help="Stop when no row is ready, running or due within a minute."),
    ] = False,
) -> None:
    """Process the queues until stopped.

    SIGTERM or Ctrl-C stops claiming and lets running work finish; a second one requeues it at once. Any number of
    workers may share one PostgreSQL. /metrics, /health/live and /health/ready are served on SCRAPERSKY_WORKER_PORT
    (9464, or the next free port). --until-idle does not wait for paused workflows.

    Example: DATABASE_URL=postgresql://line@db/line scrapersky worker

    Exit codes: 0 stopped by a signal or idle, 2 wrong usage or setting, or database error.
    """
    gc.disable()  # objects created at the start are kept: collecting them costs time and frees nothing
    run_async(_work(until_idle))


async def _work(until_idle: bool) -> None:
    from scrapersky.asgi import serve_health
    from scrapersky.bootstrap import open_application
    from scrapersky.core.logging_setup import configure_logs
    from scrapersky.core.settings import Environment, load
    from scrapersky.worker import run_worker

    environment = Environment()
    configure_logs(load(environment))
    application = await open_application(environment)
    gc.freeze()
    gc.enable()
    await run_worker(application, until_idle, serve_health(application))
