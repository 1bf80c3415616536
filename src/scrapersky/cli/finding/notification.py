"""The destination of `scrapersky find --notify`, which is notified of the end of the run."""

import asyncio
import time
from collections.abc import Iterable
from typing import Self
from uuid import UUID

from scrapersky.bootstrap import Application
from scrapersky.core.vocabularies import Status
from scrapersky.destinations.registry import KINDS
from scrapersky.models import Destination
from scrapersky.store.deliveries import deliveries
from scrapersky.store.deliveries.destinations import check_takes_events, named
from scrapersky.store.searches import runs
from scrapersky.store.steps import DELIVERY

MAX_SECONDS = 20.0  # for one attempt; further ones are made later
POLL_SECONDS = 0.1
LATER = "A `scrapersky worker` or `serve`, or the next `find`, tries again."


class Notification:
    """Notifies a destination of the end of one run; without a destination it does nothing."""

    def __init__(self, application: Application, tenant_id: UUID, to: Destination | None) -> None:
        self._application, self._tenant_id, self._to = application, tenant_id, to

    @classmethod
    async def find(cls, application: Application, tenant_id: UUID, given: str | None) -> Self:
        """Find the destination by its name, URL or id. Raises UnknownRow, or BadDestination if it takes no events."""
        if given is None:
            return cls(application, tenant_id, None)
        async with application.database.session(tenant_id) as session:
            found = await named(session, tenant_id, given)
        check_takes_events(KINDS[found.kind])
        return cls(application, tenant_id, found)

    async def request(self, search_id: UUID) -> Iterable[str]:
        """Let the open run notify the destination; return a sentence if there is no such run."""
        if (to := self._to) is None:
            return ()
        async with self._application.database.session(self._tenant_id) as session:
            if await runs.notify(session, search_id, to.id):
                return ()
        self._to = None
        return (f"{to.name} is not notified: the run is complete already. --refresh makes another run.",)

    async def sent(self, search_id: UUID) -> Iterable[str]:
        """Wait for the first attempt; return a sentence about it."""
        if self._to is None:
            return ()
        until = time.monotonic() + MAX_SECONDS
        self._application.runtime.wake(DELIVERY.workflow)
        while True:  # another process may make the attempt
            if (sentence := await self._outcome(search_id, self._to, time.monotonic() > until)) is not None:
                return (sentence,)
            await asyncio.sleep(POLL_SECONDS)

    async def _outcome(self, search_id: UUID, to: Destination, is_late: bool) -> str | None:
        """Return a sentence about the attempt; None while it is awaited."""
        async with self._application.database.session(self._tenant_id) as session:
            sent = await deliveries.of_latest_run(session, search_id, to.id)
        if sent is None:
            return f"{to.name} is notified when the run is complete: rows are left."
        if sent.delivery_status == Status.COMPLETED:
            return f"{to.name} was notified."
        if sent.delivery_status in (Status.SKIPPED, Status.ERROR):
            return f"{to.name} was not notified: {sent.delivery_error}"
        if sent.delivery_error or is_late:
            return f"{to.name} has not accepted the notification: {sent.delivery_error or 'no response yet.'} {LATER}"
        return None
