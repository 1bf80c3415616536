"""What the providers' tests share: the guarded client, and the little servers it may reach."""

from collections.abc import AsyncIterator

import pytest

from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from scrapersky.providers.http_api import Api, ClientSource
from tests.factories.http_server import LittleServer


@pytest.fixture
async def server() -> AsyncIterator[LittleServer]:
    """A server that answers as the test scripts it."""
    async with LittleServer() as server:
        yield server


@pytest.fixture
async def client(server: LittleServer) -> AsyncIterator[ClientSource]:
    """The guarded client, allowed to reach the little server and nothing else on this machine."""
    guard = SsrfGuard(allowance=Allowance([f"127.0.0.1:{server.port}"]))
    async with Client(guard, user_agent="scrapersky/test (+https://scrapersky.example/about)") as client:

        async def source() -> Client:
            return client

        yield source


def api_at(client: ClientSource, url: str, service: str = "The service", seconds: float = 5) -> Api:
    return Api(client, url, service=service, setting=f"PROVIDER_{service.upper()}_URL", seconds=seconds)
