"""`scrapersky serve`: the console, the API and the engine in one process."""

import os
import socket
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from scrapersky.cli.shared.application import keep_start_objects
from scrapersky.cli.shared.service import (
    DEFAULT_WAIT_SECONDS,
    WaitSeconds,
    notify,
    print_connection_needs,
    run_service,
)
from scrapersky.core.errors import BadSetting

if TYPE_CHECKING:
    from fastapi import FastAPI

    from scrapersky.api.dependencies import WebApplication
    from scrapersky.core.settings import Settings

REQUEST_GRACE_SECONDS = 5  # how long running requests may take when the process stops


def serve(wait_seconds: WaitSeconds = DEFAULT_WAIT_SECONDS) -> None:
    """Serve the console and the API and process the queues until stopped.

    SIGTERM or Ctrl-C makes /health/ready fail, lets running work finish and then exits; a second one requeues the work
    at once. Development accepts local clients only. While no user can log in, a link for the first admin is printed.
    A PostgreSQL that is unavailable, starting or full is waited for at the start; later, for any time.

    Example: SCRAPERSKY_PORT=8080 scrapersky serve

    Exit codes: 0 stopped by a signal, 2 wrong usage or setting, or database error.
    """
    from scrapersky.asgi import check_listen, create_app
    from scrapersky.core.logging_setup import configure_logs
    from scrapersky.core.server_start import StartWait
    from scrapersky.core.settings import Environment, load

    environment = Environment()
    settings = load(environment)
    configure_logs(settings)
    check_listen(settings)
    with bound_socket(settings) as listener:

        def prepare() -> Coroutine[Any, Any, None]:
            app = create_app(environment, wait=StartWait(wait_seconds, notify))
            return serve_until_stopped(app, listener, _print_address)

        run_service(prepare)


async def serve_until_stopped(
    app: "FastAPI",
    listener: socket.socket,
    announce: "Callable[[WebApplication, str], Awaitable[None]]",
) -> None:
    """Serve the API and run the engine until a signal; `announce` prints where it listens."""
    import asyncio

    from scrapersky.api.http.uvicorn_protocol import Server, server_config
    from scrapersky.console.answers import compile_templates
    from scrapersky.worker import log_failure, stop_on_signals

    # The lifespan is entered here, not by the server, so that a failed start is one sentence and not a server log.
    async with app.router.lifespan_context(app):
        keep_start_objects()
        application = app.state.application
        server = Server(server_config(app, REQUEST_GRACE_SECONDS))
        serving = asyncio.create_task(server.serve([listener]), name="serving")
        compiling = asyncio.create_task(asyncio.to_thread(compile_templates), name="templates")
        stop = stop_on_signals(application.runtime)
        await announce(application, _url(listener))
        await asyncio.wait([serving, asyncio.create_task(stop.wait())], return_when=asyncio.FIRST_COMPLETED)
        await log_failure(application.runtime.stop())  # requests are still served meanwhile, and /health/ready fails
        server.should_exit = True
        await asyncio.gather(serving, compiling)


async def _print_address(application: "WebApplication", url: str) -> None:
    from scrapersky.api.accounts.users import invitation_link
    from scrapersky.api.http.browser_cookie import CONSOLE
    from scrapersky.store.accounts import invitations

    only = "; development accepts local clients only" if application.settings.environment == "development" else ""
    typer.echo(f"Listening on {url} (Ctrl-C stops it{only}). The console: {url}{CONSOLE}")
    token = await invitations.for_first_admin(application.database)
    if token:
        typer.echo(
            f"No user can log in yet. Link for the first admin, valid for 24 hours: {url}{invitation_link(token)}"
        )
        typer.echo("Or at the command line: scrapersky user create NAME --role admin")
    await print_connection_needs(application.database)


@contextmanager
def bound_socket(settings: "Settings") -> Iterator[socket.socket]:
    """Open the listening socket before anything else. Raises BadSetting if the address cannot be used."""
    host = settings.host.strip("[]")
    try:
        family = socket.getaddrinfo(host, settings.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, settings.port), family=family, backlog=2048)
    except OSError as error:
        # The strerror of create_server repeats the address.
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise BadSetting(
            f"SCRAPERSKY_HOST={settings.host} with SCRAPERSKY_PORT={settings.port} cannot be listened on "
            f"({reason}). Stop the process that uses it, or set another."
        ) from error
    with listener:
        yield listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
