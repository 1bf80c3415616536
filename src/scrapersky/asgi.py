"""The ASGI application: opens the application, starts its engine and serves requests."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import fields

import structlog
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from scrapersky import __version__
from scrapersky.api.dependencies import WebApplication
from scrapersky.api.downloads import Downloads
from scrapersky.api.http.error_handlers import add_error_handlers
from scrapersky.api.http.middleware import RequestGuard
from scrapersky.api.http.rate_limit import RefusedKeys
from scrapersky.api.http.uvicorn_protocol import Server, server_config
from scrapersky.api.routes import ROUTE_DEPENDENCIES, all_routes, body_limits, health_routes
from scrapersky.api.schemas.cursors import Cursors
from scrapersky.bootstrap import Application, open_application
from scrapersky.console.answers import error_page
from scrapersky.console.routes import console_routes
from scrapersky.core.database import WEB_CONNECTIONS
from scrapersky.core.errors import BadSetting
from scrapersky.core.migrations import head_revision
from scrapersky.core.passwords import Passwords
from scrapersky.core.server_start import StartWait
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.engine.pipeline import Pipeline
from scrapersky.providers.base import Providers

log = structlog.get_logger(__name__)

WORKER_PORTS = 10  # how many workers on one machine get a port
HEALTH_GRACE_SECONDS = 1  # how long a probe may take when the worker stops

MIN_GZIP_BYTES = 1_000  # smaller responses are not compressed


def create_app(
    environment: Environment | None = None,
    *,
    run_engine: bool = True,
    pipeline: Pipeline | None = None,
    providers: Providers | None = None,
    wait: StartWait | None = None,
) -> FastAPI:
    """Build the web application. Its lifespan opens and closes the objects; `run_engine=False` serves requests only."""
    environment = environment or Environment()
    settings = load(environment)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        application = await open_application(environment, providers, pipeline, WEB_CONNECTIONS, wait)
        try:
            app.state.application = served = await serve_application(application, run_engine)
            with closing(served.passwords):
                if run_engine:
                    application.runtime.start()
                yield
        finally:
            await application.runtime.stop()
            await application.close()

    app = FastAPI(
        title="scrapersky",
        version=__version__,
        description="Finds local businesses and their contacts in durable steps.",
        lifespan=lifespan,
        dependencies=ROUTE_DEPENDENCIES,
        routes=[*all_routes(), *console_routes()],
        redirect_slashes=False,
        openapi_url=None,  # served by a route that requires authentication
    )
    app.state.refused_keys, app.state.error_page = RefusedKeys(), error_page
    add_error_handlers(app)
    app.add_middleware(GZipMiddleware, minimum_size=MIN_GZIP_BYTES)
    app.add_middleware(
        RequestGuard, settings=settings, local_only=settings.environment == "development", max_body_bytes=body_limits()
    )
    return app


async def serve_application(application: Application, runs_engine: bool) -> WebApplication:
    """Add the objects that only the web process needs."""
    return WebApplication(
        **{field.name: getattr(application, field.name) for field in fields(application)},
        runs_engine=runs_engine,
        passwords=Passwords(),
        signing_key=application.vault.signing_key,
        cursors=Cursors(application.vault.cursor_key),
        revision=head_revision(),
        downloads=Downloads(application.database),
    )


@asynccontextmanager
async def serve_health(application: Application) -> AsyncIterator[None]:
    """Serve /metrics and /health of a worker while the block runs, unless SCRAPERSKY_WORKER_HTTP is false."""
    listener = _worker_socket(application.settings)
    if listener is None:
        yield
        return
    served = await serve_application(application, runs_engine=True)
    with listener, closing(served.passwords):
        server = Server(server_config(create_health_app(served), HEALTH_GRACE_SECONDS))
        serving = asyncio.create_task(server.serve([listener]), name="serving")
        log.info("worker_http_started", host=application.settings.worker_host, port=listener.getsockname()[1])
        try:
            yield
        finally:
            server.should_exit = True
            await serving


def create_health_app(application: WebApplication) -> FastAPI:
    """Build the web application of a worker: probes and metrics, with the same checks as those of the API."""
    settings = application.settings
    app = FastAPI(title="scrapersky worker", version=__version__, routes=health_routes(), openapi_url=None)
    app.state.application, app.state.refused_keys = application, RefusedKeys()
    add_error_handlers(app)
    app.add_middleware(RequestGuard, settings=settings, local_only=settings.environment == "development")
    return app


def _worker_socket(settings: Settings) -> socket.socket | None:
    """Listen on the first free port; None if HTTP is turned off or no port is free: the work matters more."""
    if not settings.worker_http:
        return None
    if settings.environment == "development" and not _is_loopback(settings.worker_host):
        raise BadSetting(
            f"SCRAPERSKY_WORKER_HOST={settings.worker_host} accepts other machines, but development serves this "
            "machine only. Use 127.0.0.1, or set SCRAPERSKY_ENVIRONMENT=production."
        )
    host, first = settings.worker_host.strip("[]"), settings.worker_port
    reason = ""
    for port in range(first, min(first + WORKER_PORTS, 65_536)) if first else (0,):
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            return socket.create_server((host, port), family=family)
        except OSError as error:
            reason = f"{type(error).__name__}: {error}"
    log.warning("worker_http_unavailable", host=host, port=first, error=reason)
    return None


def check_listen(settings: Settings) -> None:
    """Raise BadSetting if the host would serve other machines in development, or any host name in production."""
    if settings.environment == "development" and not _is_loopback(settings.host):
        raise BadSetting(
            f"SCRAPERSKY_HOST={settings.host} accepts other machines, but development serves this machine only. "
            "Use 127.0.0.1, or set SCRAPERSKY_ENVIRONMENT=production."
        )
    if settings.environment == "production" and not settings.allowed_hosts and not _is_loopback(settings.host):
        raise BadSetting(
            f"SCRAPERSKY_ALLOWED_HOSTS is not set, and SCRAPERSKY_HOST={settings.host} accepts other machines. "
            "Set the host names of this service, such as scrapersky.example.com."
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
