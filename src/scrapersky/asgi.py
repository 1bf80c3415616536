"""The web process: opens the house, starts its engine, answers requests."""

import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

from fastapi import FastAPI
from sqlalchemy import text

from scrapersky import __version__
from scrapersky.api.dependencies import Office
from scrapersky.api.http.downloads import Downloads
from scrapersky.api.http.middleware import Guard
from scrapersky.api.http.problems import handle_errors
from scrapersky.api.http.rate_limit import Waits
from scrapersky.api.routes import GATES, all_routes
from scrapersky.core.errors import BadSetting
from scrapersky.core.passwords import Passwords
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.engine.pipeline import Pipeline
from scrapersky.providers.base import Providers
from scrapersky.worker import House, open_house


def create_app(
    environment: Environment | None = None,
    *,
    run_engine: bool = True,
    pipeline: Pipeline | None = None,
    providers: Providers | None = None,
) -> FastAPI:
    """The application; its lifespan opens the house and closes it. `run_engine=False` only answers."""
    environment = environment or Environment()
    settings = load(environment)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        house = await open_house(environment, providers, pipeline)
        try:
            app.state.office = office = await open_office(house, run_engine)
            with closing(office.passwords):
                if run_engine:
                    house.runtime.start()
                yield
        finally:
            await house.runtime.stop()
            await house.close()

    app = FastAPI(
        title="scrapersky",
        version=__version__,
        description="Finds local businesses and the people to write to, one durable step at a time.",
        lifespan=lifespan,
        dependencies=GATES,
        routes=all_routes(),
        redirect_slashes=False,
        openapi_url=None,  # served by a route of our own, through the same door as all others
    )
    app.state.waits = Waits()
    handle_errors(app)
    app.add_middleware(Guard, settings=settings, local_only=settings.environment == "development")
    return app


async def open_office(house: House, runs_engine: bool) -> Office:
    """What the routes need of the house."""
    async with house.database.engine_session() as session:
        revision = await session.scalar(text("SELECT version_num FROM alembic_version"))
    return Office(
        house.settings,
        house.database,
        house.pipeline,
        house.tunings,
        house.metrics,
        house.runtime,
        runs_engine,
        house.providers,
        Passwords(),
        house.vault.signing_key,
        str(revision),
        house.vault,
        house.couriers,
        Downloads(house.database, house.settings.database_pool_size),
    )


def check_listen(settings: Settings) -> None:
    """Development serves this machine only; production anybody who knows its name."""
    if settings.environment == "development" and not _is_loopback(settings.host):
        raise BadSetting(
            f"SCRAPERSKY_HOST={settings.host} lets other machines in, and development serves this one only. "
            "Use 127.0.0.1, or set SCRAPERSKY_ENVIRONMENT=production."
        )
    if settings.environment == "production" and not settings.allowed_hosts and not _is_loopback(settings.host):
        raise BadSetting(
            f"SCRAPERSKY_ALLOWED_HOSTS is not set, and SCRAPERSKY_HOST={settings.host} lets other machines in. "
            "Name what this service is called by, such as scrapersky.example.com."
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
