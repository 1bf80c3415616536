"""A house that lives in the sandbox of its test."""

import pytest

from scrapersky.bootstrap import open_application
from scrapersky.core.settings import Environment


@pytest.fixture
async def application(sandbox, database_url):
    variables = {**sandbox.environment(), "DATABASE_URL": database_url, "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0"}
    opened = await open_application(Environment(variables, None))
    yield opened
    await opened.close()
