"""A database without a schema, for tests that follow a page of docs/."""

from collections.abc import AsyncIterator

import pytest

from tests.conftest import Server, numbers


@pytest.fixture
async def empty_url(server: Server) -> AsyncIterator[str]:
    name = f"walkthrough_{next(numbers)}"
    await server.execute(f"CREATE DATABASE {name}")
    yield server.url(name)
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")
