"""Settings for tests that use a sandbox."""

from typing import Any

from scrapersky.core.settings import Settings
from scrapersky.sandbox.sandbox import Sandbox


def sandbox_settings(sandbox: Sandbox, **changes: Any) -> Settings:
    """Return the settings that make every client use the sandbox, with the given changes."""
    values: dict[str, Any] = {**sandbox.environment(), **changes}
    return Settings(**values)
