"""The HTTP server of a worker: probes and metrics, without the modules of the API and the console."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

import structlog
from fastapi import APIRouter, FastAPI

from scrapersky import __version__
from scrapersky.api.dependencies import WebApplication, serve_application
from scrapersky.api.http.client_address import is_loopback_host
from scrapersky.api.http.error_handlers import add_error_handlers
from scrapersky.api.http.middleware import RequestGuard
from scrapersky.api.http.rate_limit import RefusedKeys
from scrapersky.api.http.route_dependencies import ROUTE_DEPENDENCIES, build_models
from scrapersky.api.http.uvicorn_protocol import Server, server_config
from scrapersky.api.operations import health
from scrapersky.bootstrap import Application
from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Settings

log = structlog.get_logger(__name__)

WORKER_PORTS = 10  # how many workers on one machine get a port
HEALTH_GRACE_SECONDS = 1  # how long a probe may take when the worker stops


@asynccontextmanager
async def serve_health(application: Application) -> AsyncIterator[None]:
    """Serve /metrics and /health of a worker while the block runs, unless SCRAPERSKY_WORKER_HTTP is false."""
    listener = _worker_socket(application.settings)
    if listener is None:
        yield
        return
    served = serve_application(application, runs_engine=True)
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
    routes = APIRouter(dependencies=ROUTE_DEPENDENCIES)
    routes.include_router(health.router)
    app = FastAPI(title="scrapersky worker", version=__version__, routes=routes.routes, openapi_url=None)
    build_models(app.routes)
    app.state.application, app.state.refused_keys = application, RefusedKeys()
    add_error_handlers(app)
    app.add_middleware(RequestGuard, settings=settings, local_only=settings.environment == "development")
    return app


def _worker_socket(settings: Settings) -> socket.socket | None:
    """Listen on the first free port; None if HTTP is turned off or no port is free: the work matters more."""
    if not settings.worker_http:
        return None
    if settings.environment == "development" and not is_loopback_host(settings.worker_host):
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
