"""Fixtures of the provider tests: the guarded client, and the server it may reach."""

from collections.abc import AsyncIterator

import pytest

from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from scrapersky.providers.http_api import Api, ClientSource
from tests.factories.http_server import ScriptedServer


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    """Start a server whose replies the test sets."""
    async with ScriptedServer() as server:
        yield server


@pytest.fixture
async def client(server: ScriptedServer) -> AsyncIterator[ClientSource]:
    """Open the guarded client, which may reach the server and nothing else on this machine."""
    guard = SsrfGuard(allowance=Allowance([f"127.0.0.1:{server.port}"]))
    async with Client(guard, user_agent="scrapersky/test (+https://scrapersky.example/about)") as client:

        async def source() -> Client:
            return client

        yield source


def api_at(client: ClientSource, url: str, service: str = "The service", seconds: float = 60) -> Api:
    return Api(client, url, service=service, setting=f"PROVIDER_{service.upper()}_URL", seconds=seconds)
