"""`scrapersky worker`: the engine without the web, on as many hosts as there is work for."""

import gc
from typing import Annotated

import typer


def worker(
    until_idle: Annotated[
        bool,
        typer.Option(
            "--until-idle", help="Stop when nothing is ready, running or due within a minute; paused queues are left."
        ),
    ] = False,
) -> None:
    """Work on the queues until told to stop.

    SIGTERM or Ctrl-C stops claiming and lets running work finish; a second one hands it back at once. Any number of
    workers may share one PostgreSQL.

    Example: DATABASE_URL=postgresql://line@db/line scrapersky worker

    Exit codes: 0 stopped as asked, 2 wrong usage, setting or database.
    """
    import uvloop

    gc.disable()  # whatever is made while starting stays: to look through it again and again only takes time
    uvloop.run(_work(until_idle))


async def _work(until_idle: bool) -> None:
    from scrapersky.bootstrap import open_application
    from scrapersky.core.logging_setup import configure_logs
    from scrapersky.core.settings import Environment, load
    from scrapersky.worker import run_worker

    environment = Environment()
    configure_logs(load(environment))
    application = await open_application(environment)
    gc.freeze()
    gc.enable()
    await run_worker(application, until_idle)
