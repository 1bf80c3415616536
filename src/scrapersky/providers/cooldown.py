"""When a provider wants to be left alone: what one worker is told, all of them keep."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol


@dataclass(frozen=True)
class Cooldown:
    """How long a provider is not asked, and why."""

    after: timedelta
    reason: str


class Cooldowns(Protocol):
    """Where rests are kept: in this process, or in the database that all workers share."""

    async def left(self, name: str) -> Cooldown | None:
        """What is left of a rest; none if one may ask."""

    async def begin(self, name: str, rest: Cooldown) -> None:
        """Let nobody ask for so long; a longer rest that is there stays."""


class InMemoryCooldowns:
    """Rests that only this process knows."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._rests: dict[str, tuple[float, str]] = {}

    async def left(self, name: str) -> Cooldown | None:
        """The rest, unless it is over."""
        until, reason = self._rests.get(name, (0.0, ""))
        seconds = until - self._now()
        return Cooldown(timedelta(seconds=seconds), reason) if reason and seconds > 0 else None

    async def begin(self, name: str, rest: Cooldown) -> None:
        """Remember it, unless a longer one is known."""
        until = self._now() + rest.after.total_seconds()
        self._rests[name] = max(self._rests.get(name, (until, "")), (until, rest.reason))
