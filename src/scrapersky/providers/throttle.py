"""Our turn at a service that everybody shares: as few questions as its operators want, all workers together."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit

from scrapersky.crawl.politeness.host_limits import HostLimits, HostPolicy, InProcessHostLimits, NotYet, Permit
from scrapersky.providers.base import ProviderBusy

# Makes the limits that keep these manners: in this process, or for all workers.
LimitsSource = Callable[[HostPolicy], HostLimits]
PATIENCE = timedelta(seconds=30)  # in which a worker waits itself; then the search waits without one
LATER = timedelta(seconds=20)


class Throttle:
    """One question at a time, and a pause after each, whatever the settings of the crawler say."""

    def __init__(
        self,
        service: str,
        base_url: str,
        *,
        pause: timedelta = timedelta(0),
        lease: timedelta = timedelta(seconds=30),
        limits: LimitsSource | None = None,
        patience: timedelta = PATIENCE,
    ) -> None:
        self._service = service
        # Not the host alone: the crawler may visit a page of the same host, by limits of its own.
        self._name = f"{service} at {urlsplit(base_url).netloc}"
        self._pause = pause
        self._patience = patience
        self._limits = (limits or in_process)(HostPolicy(slots=1, delay=pause, lease=lease))

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Our turn; ProviderBusy when others of us take too long."""
        permit = await self._permit()
        try:
            yield
        finally:
            # From its end, not from its beginning: a slow question is not followed by a hasty one.
            await self._limits.release(permit, self._pause)

    async def _permit(self) -> Permit:
        until = time.monotonic() + self._patience.total_seconds()
        while isinstance(answer := await self._limits.acquire(self._name), NotYet):
            if time.monotonic() >= until:
                raise ProviderBusy(f"{self._service} is busy with other questions of ours.", LATER)
            await asyncio.sleep(max(answer.after.total_seconds(), 0.01))
        return answer


def in_process(manners: HostPolicy) -> HostLimits:
    """Limits that only this process knows."""
    return InProcessHostLimits(manners)
