"""The application over a database of the tests, without its engine, and a client with the key of an admin."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from scrapersky.core.database import Database
from tests.factories.api_application import app_over, make_key, served


@pytest.fixture
def app(database_url: str) -> FastAPI:
    """Create the application without its engine: rows are processed only by the test."""
    return app_over(database_url)


@pytest.fixture
def key_for(database: Database) -> Callable[..., Awaitable[str]]:
    """Create keys: `await key_for("viewer", tenant="other")` makes one of a user with that role."""

    async def make(role: str, tenant: str = "default", name: str | None = None, **more: Any) -> str:
        return await make_key(database, role, tenant, name or f"{role} of {tenant}", **more)

    return make


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with served(app) as client:
        yield client
