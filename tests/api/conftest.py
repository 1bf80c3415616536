"""The application over a database of the tests, without its engine, and a client with the key of an admin."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from scrapersky.core.database import Database
from tests.factories.api_application import app_over, make_key, served
from tests.factories.http_server import Reply, ScriptedServer


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


@pytest.fixture
async def geocoder() -> AsyncIterator[ScriptedServer]:
    """Serve a geocoder that knows one town."""
    town = {"osm_type": "relation", "osm_id": 1, "name": "Turku", "boundingbox": ["60.4", "60.5", "22.2", "22.3"]}
    async with ScriptedServer() as server:
        server.replies["/search"] = [Reply([{**town, "category": "boundary", "addresstype": "city"}])]
        yield server


@pytest.fixture
def nominatim(geocoder: ScriptedServer) -> dict[str, str]:
    """Return the settings of an application that asks the geocoder of the tests."""
    return {
        "PROVIDER_NOMINATIM_URL": geocoder.url,
        "PROVIDER_NOMINATIM_DELAY_SECONDS": "0",
        "CRAWL_ALLOWED_PRIVATE_NETWORKS": f"127.0.0.1:{geocoder.port}",
    }
