"""A house that lives in the sandbox of its test."""

import pytest

from scrapersky.core.settings import Environment
from scrapersky.worker import open_house


@pytest.fixture
async def house(sandbox, database_url):
    variables = {**sandbox.environment(), "DATABASE_URL": database_url, "SCHEDULER_LINGER_SECONDS": "0"}
    opened = await open_house(Environment(variables, None))
    yield opened
    await opened.close()
