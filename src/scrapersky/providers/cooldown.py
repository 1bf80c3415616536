"""Cooldowns of providers: while one lasts, no worker sends requests. A provider that fails delays its own rows only."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.base import (
    Estimate,
    Meter,
    PlaceDetails,
    PlaceProvider,
    PlaceQuery,
    ProviderBusy,
    ProviderFailed,
    ProviderRefused,
)
from scrapersky.providers.call_budget import CallBudget


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


@dataclass(frozen=True)
class Permission:
    """The permission to call a provider: after failures that are remembered, and perhaps as the only call."""

    after_failures: bool = False
    is_probe: bool = False


class ProviderFailures(Protocol):
    """Counts the failures in a row of each provider, for all workers; after a few of them a cooldown begins."""

    async def permit(self, name: str) -> Permission | Cooldown:
        """Permit a call, or return the cooldown. After it one call at a time is permitted, until one succeeds."""

    async def record_failure(self, name: str, reason: str, permission: Permission) -> None:
        """Count a failure; a cooldown doubles with each further one."""

    async def record_success(self, name: str) -> None:
        """Forget the failures."""

    async def release(self, name: str) -> None:
        """Permit the next probe: this one did not show whether the provider works."""


class GuardedProvider:
    """A provider that is not called while it fails: its rows wait, without using up attempts, and no others."""

    def __init__(self, provider: PlaceProvider, label: str, cooldown_name: str, failures: ProviderFailures) -> None:
        self.name = provider.name
        self.unguarded = provider
        self._label = label
        self._cooldown_name = cooldown_name
        self._failures = failures

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """Estimate the cost, which needs no call."""
        return await self.unguarded.estimate(query)

    async def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """Yield the pages of the provider; raise ProviderBusy during its cooldown."""
        async with self._permitted() as permission:
            async for page in self.unguarded.search(query, meter):
                permission = await self._succeeded(permission)
                yield page
            await self._succeeded(permission)

    async def details(self, provider_id: str, budget: CallBudget) -> PlaceDetails:
        """Return the place; raise ProviderBusy during the cooldown of the provider."""
        async with self._permitted() as permission:
            place = await self.unguarded.details(provider_id, budget)
            await self._succeeded(permission)
            return place

    @asynccontextmanager
    async def _permitted(self) -> AsyncIterator[Permission]:
        permission = await self._failures.permit(self._cooldown_name)
        if isinstance(permission, Cooldown):
            raise ProviderBusy(permission.reason, permission.after)
        try:
            yield permission
        except (ProviderFailed, ProviderRefused) as error:
            if error.opens_breaker:
                reason = f"{self._label} failed several times in a row and gets no request for a while. {error}"
                await self._failures.record_failure(self._cooldown_name, reason, permission)
                error.opens_breaker = False  # rows of other providers do not wait
            elif permission.is_probe:
                await self._failures.release(self._cooldown_name)
            raise
        except ScraperSkyError:
            if permission.is_probe:
                await self._failures.release(self._cooldown_name)
            raise

    async def _succeeded(self, permission: Permission) -> Permission:
        if permission.after_failures:
            await self._failures.record_success(self._cooldown_name)
        return Permission()
