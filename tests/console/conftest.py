"""The console over a database of the tests, and browsers that are logged in."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import httpx
import pytest
from fastapi import FastAPI

from scrapersky.core.database import Database
from scrapersky.pipeline import build_pipeline
from tests.factories.api_application import app_over
from tests.factories.console_browser import browser_of, create_person, log_in

Login = Callable[..., Awaitable[httpx.AsyncClient]]


@pytest.fixture
def app(database_url: str) -> FastAPI:
    """The application with the real line and without its engine."""
    return app_over(database_url, pipeline=build_pipeline({}))


@pytest.fixture
async def stranger(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A browser without a login."""
    async with app.router.lifespan_context(app), browser_of(app) as browser:
        yield browser


@pytest.fixture
async def login(app: FastAPI, stranger: httpx.AsyncClient, database: Database) -> AsyncIterator[Login]:
    """Log a person in: `await login("curator", tenant="other")` returns their browser."""
    async with AsyncExitStack() as browsers:

        async def log(role: str = "admin", tenant: str = "default") -> httpx.AsyncClient:
            browser = await browsers.enter_async_context(browser_of(app))
            name = f"{role} of {tenant}"
            await create_person(database, role, tenant, name)
            await log_in(browser, name, tenant)
            return browser

        yield log
