"""Settings for tests."""

from typing import Any

from scrapersky.core.settings import Settings
from scrapersky.sandbox.sandbox import Sandbox

# On a busy machine requests and statements take long; tests of these timeouts set their own.
PATIENT = {
    "SCRAPERSKY_RESPONSE_TIMEOUT_SECONDS": "300",
    "SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS": "120",
    "SCRAPERSKY_DATABASE_STATEMENT_TIMEOUT_SECONDS": "120",
}


def sandbox_settings(sandbox: Sandbox, **changes: Any) -> Settings:
    """Return the settings that make every client use the sandbox, with the given changes."""
    values: dict[str, Any] = {**sandbox.environment(), **changes}
    return Settings(**values)
