"""`scrapersky serve`: the API and the engine in one process."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
import typer
import uvicorn
import uvloop

from scrapersky.api.accounts.users import invitation_link
from scrapersky.api.dependencies import WebApplication
from scrapersky.api.http.uvicorn_protocol import server_config
from scrapersky.asgi import check_listen, create_app
from scrapersky.core.errors import BadSetting
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.engine.runtime import Runtime
from scrapersky.store.accounts import invitations

log = structlog.get_logger(__name__)

REQUESTS_SECONDS = 5  # how long requests under way may take when the process stops


def serve() -> None:
    """Serve the API and work on the queues until told to stop.

    SIGTERM or Ctrl-C makes /health/ready say no, lets running work finish and then closes; a second one hands the work
    back at once. Development listens on this machine only. While nobody can log in yet, a link for the first admin is
    printed.

    Example: SCRAPERSKY_PORT=8080 scrapersky serve

    Exit codes: 0 stopped as asked, 2 wrong usage, setting or database.
    """
    environment = Environment()
    settings = load(environment)
    configure_logs(settings)
    check_listen(settings)
    with _bound(settings) as listener:
        uvloop.run(_serve(environment, listener))


async def _serve(environment: Environment, listener: socket.socket) -> None:
    app = create_app(environment)
    # The lifespan is ours, not the server's: what cannot work at start is a sentence and not a log of a failed server.
    async with app.router.lifespan_context(app):
        runtime: Runtime = app.state.application.runtime
        server = _Server(server_config(app, REQUESTS_SECONDS))
        serving = asyncio.create_task(server.serve([listener]), name="serving")
        stop = _stop_on_signals(runtime)
        await _greet(app.state.application, _address(listener))
        await asyncio.wait([serving, asyncio.create_task(stop.wait())], return_when=asyncio.FIRST_COMPLETED)
        await runtime.stop()  # requests are still answered meanwhile, and /health/ready says no
        server.should_exit = True
        await serving


async def _greet(application: WebApplication, address: str) -> None:
    only = "; development serves this machine only" if application.settings.environment == "development" else ""
    typer.echo(f"Listening on {address} (Ctrl-C stops it{only})")
    token = await invitations.for_first_admin(application.database)
    if token:
        typer.echo(
            "Nobody can log in yet. The first admin comes by this link, within 24 hours: "
            f"{address}{invitation_link(token)}"
        )
        typer.echo("Or at the command line: scrapersky user create NAME --role admin")


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are answered here, where the engine can be asked to stop first."""
        yield


def _stop_on_signals(runtime: Runtime) -> asyncio.Event:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def asked_to_stop() -> None:
        if stop.is_set():
            log.warning("immediate_shutdown_requested")
            runtime.stop_now()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked_to_stop)
    return stop


@contextmanager
def _bound(settings: Settings) -> Iterator[socket.socket]:
    """The socket, before anything else is begun."""
    host = settings.host.strip("[]")
    try:
        family = socket.getaddrinfo(host, settings.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, settings.port), family=family, backlog=2048)
    except OSError as error:
        # create_server adds the address to the reason, where it stands already.
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise BadSetting(
            f"SCRAPERSKY_HOST={settings.host} with SCRAPERSKY_PORT={settings.port} cannot be listened on "
            f"({reason}). Stop what uses it, or name another."
        ) from error
    with listener:
        yield listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
