"""A house that lives in the sandbox of its test."""

import pytest

from scrapersky.bootstrap import open_application
from scrapersky.core.settings import Environment
from tests.factories.login_role import admitted_url


@pytest.fixture
async def application(sandbox, database_url):
    # The application logs in as a role that owns nothing, as it should in production.
    url = await admitted_url(database_url)
    variables = {**sandbox.environment(), "DATABASE_URL": url, "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0"}
    opened = await open_application(Environment(variables, None))
    yield opened
    await opened.close()
