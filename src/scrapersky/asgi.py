"""The ASGI application: opens the application, starts its engine and serves requests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from scrapersky import __version__
from scrapersky.api.dependencies import serve_application
from scrapersky.api.http.client_address import TrustedProxies, is_loopback_host
from scrapersky.api.http.error_handlers import add_error_handlers
from scrapersky.api.http.middleware import RequestGuard
from scrapersky.api.http.rate_limit import RefusedKeys
from scrapersky.api.http.route_dependencies import ROUTE_DEPENDENCIES, build_models
from scrapersky.api.routes import all_routes, body_limits
from scrapersky.bootstrap import open_application
from scrapersky.console.answers import error_page
from scrapersky.console.routes import console_routes
from scrapersky.core.database import WEB_CONNECTIONS
from scrapersky.core.errors import BadSetting
from scrapersky.core.server_start import StartWait
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.engine.pipeline import Pipeline
from scrapersky.providers.base import Providers

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
            app.state.application = served = serve_application(application, run_engine)
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
    build_models(app.routes)
    app.state.refused_keys, app.state.error_page = RefusedKeys(), error_page
    app.state.openapi = None  # the task that builds the document
    add_error_handlers(app)
    app.add_middleware(GZipMiddleware, minimum_size=MIN_GZIP_BYTES)
    app.add_middleware(
        RequestGuard, settings=settings, local_only=settings.environment == "development", max_body_bytes=body_limits()
    )
    return app


def check_listen(settings: Settings) -> None:
    """Raise BadSetting if the host would serve other machines in development, or any host name in production.

    Or if a trusted proxy is no address: the guard of requests is built with the first request only.
    """
    TrustedProxies(settings.trusted_proxies)
    if settings.environment == "development" and not is_loopback_host(settings.host):
        raise BadSetting(
            f"SCRAPERSKY_HOST={settings.host} accepts other machines, but development serves this machine only. "
            "Use 127.0.0.1, or set SCRAPERSKY_ENVIRONMENT=production."
        )
    if settings.environment == "production" and not settings.allowed_hosts and not is_loopback_host(settings.host):
        raise BadSetting(
            f"SCRAPERSKY_ALLOWED_HOSTS is not set, and SCRAPERSKY_HOST={settings.host} accepts other machines. "
            "Set the host names of this service, such as scrapersky.example.com."
        )
