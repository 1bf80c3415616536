"""Fixtures of the destination tests: the sandbox with its receivers, and the guarded client that reaches it."""

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest
from pydantic import SecretStr

from scrapersky.crawl.crawler import client_of
from scrapersky.crawl.http.client import Client
from scrapersky.destinations.http_sender import HttpSender
from scrapersky.destinations.kind import Endpoint
from scrapersky.destinations.payload import ContactPayload, Message
from scrapersky.sandbox.sandbox import Sandbox
from tests.factories.settings import sandbox_settings


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(7, 10) as sandbox:
        yield sandbox


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[Client]:
    async with client_of(sandbox_settings(sandbox)) as client:
        yield client


@pytest.fixture
def http(client: Client) -> HttpSender:
    return sender_of(client)


def sender_of(client: Client, seconds: float = 60) -> HttpSender:
    async def source() -> Client:
        return client

    return HttpSender(source, seconds)


def endpoint(kind: str, url: str | None, *secrets: str, **options: object) -> Endpoint:
    secret, former = (*map(SecretStr, secrets), None, None)[:2]
    return Endpoint(uuid4(), kind, url, secret, former, options)


def message(email: str = "anna@molar.fi", delivery_id: UUID | None = None, **facts: object) -> Message:
    return Message(delivery_id or uuid4(), ContactPayload(uuid4(), email, facts))
