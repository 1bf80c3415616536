"""Cooldowns of providers: while one lasts, no worker sends requests."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol


@dataclass(frozen=True)
class Cooldown:
    """How long no request is sent to a provider, and why."""

    after: timedelta
    reason: str


class Cooldowns(Protocol):
    """Holds cooldowns, in this process or in the database that all workers share."""

    async def remaining(self, name: str) -> Cooldown | None:
        """Return the remaining cooldown, or None."""

    async def start(self, name: str, cooldown: Cooldown) -> None:
        """Start a cooldown; a longer one that is running stays."""


class InMemoryCooldowns:
    """The cooldowns of one process."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._cooldowns: dict[str, tuple[float, str]] = {}

    async def remaining(self, name: str) -> Cooldown | None:
        """Return the remaining cooldown, or None."""
        until, reason = self._cooldowns.get(name, (0.0, ""))
        seconds = until - self._now()
        return Cooldown(timedelta(seconds=seconds), reason) if reason and seconds > 0 else None

    async def start(self, name: str, cooldown: Cooldown) -> None:
        """Start a cooldown; a longer one that is running stays."""
        until = self._now() + cooldown.after.total_seconds()
        self._cooldowns[name] = max(self._cooldowns.get(name, (until, "")), (until, cooldown.reason))
