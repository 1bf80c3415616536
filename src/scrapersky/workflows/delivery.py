"""WF9: a contact reaches its destination."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky import models
from scrapersky.core import clock
from scrapersky.destinations.concurrency import ConcurrencyLimits
from scrapersky.destinations.endpoint import Endpoint
from scrapersky.destinations.errors import DestinationClosed, Receipt, TryLater
from scrapersky.destinations.payload import Message
from scrapersky.destinations.registry import AT_ONCE, DestinationAdapters
from scrapersky.engine.outcomes import Later, Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.store.deliveries.outbox import Outbox, Waiting, recovered

DISABLED = "The destination is disabled"  # enabling it again queues what was skipped for this reason


@dataclass(frozen=True)
class Errand:
    """Which contact, to whom."""

    delivery_id: UUID
    tenant_id: UUID
    destination_id: UUID


@dataclass(frozen=True)
class Delivered:
    """What the destination accepted, and what it calls it."""

    external_id: str | None
    fingerprint: str
    at: datetime


class Delivery(Workflow[models.Delivery, Errand, Delivered]):
    """A contact is handed to a web hook or a CRM, with as many tries as that takes, and never twice the same."""

    number = 9
    name = "delivery"
    model = models.Delivery
    reads = ("destination_id",)
    tuning = Tuning(
        interval_minutes=1,
        batch_size=50,
        max_batch_size=500,
        max_instances=1,
        concurrency=400,  # they wait for batches to fill and for receivers, with nothing in their hands
        max_attempts=17,  # over about a day
        backoff_seconds=5,
        max_backoff_seconds=21_600,
        # A destination that fails is put to rest by itself: it must not stop the deliveries to all others.
        breaker_error_rate=1.0,
        breaker_min_rows=10_000,
    )

    def __init__(self, outbox: Outbox | None, adapters: DestinationAdapters | None) -> None:
        self._outbox = outbox
        self._couriers = adapters
        self._doors = ConcurrencyLimits()

    def read(self, row: Claimed) -> Errand:
        """Only ids: the contact is read at the last moment, for it may be suppressed meanwhile."""
        return Errand(row.id, row.tenant_id, row.destination_id)

    async def work(self, errand: Errand) -> Delivered:
        """Look once more whether it may go, then hand it over; no connection is held meanwhile."""
        if self._outbox is None or self._couriers is None:
            raise RuntimeError("the line was drawn without an outbox: only its declarations can be read")
        try:
            address, parcel = await self._look(self._outbox, errand)
            async with self._doors.through(errand.destination_id, AT_ONCE.get(address.kind)) as waited:
                if waited:
                    address, parcel = await self._look(self._outbox, errand)
                receipt = await self._hand_over(self._outbox, self._couriers, errand, address, parcel)
        except DestinationClosed as closed:
            await self._outbox.disable(errand.tenant_id, errand.destination_id, str(closed))
            raise Skip(f"{DISABLED}: {closed}") from closed
        return Delivered(receipt.external_id, parcel.fingerprint, clock.now())

    async def _look(self, outbox: Outbox, errand: Errand) -> tuple[Endpoint, Message]:
        waiting = await outbox.load(errand.tenant_id, errand.delivery_id)
        if waiting is None:
            raise Skip("the contact or its destination is gone")
        return waiting.address, wanted(waiting)

    async def _hand_over(
        self, outbox: Outbox, adapters: DestinationAdapters, errand: Errand, address: Endpoint, parcel: Message
    ) -> Receipt:
        try:
            return await adapters.deliver(address, parcel)
        except TryLater as trouble:
            if not trouble.is_counted:
                trouble.is_counted = True
                await outbox.let_rest(errand.tenant_id, errand.destination_id, trouble.after)
            raise

    async def write_batch(
        self, session: AsyncSession, found: Sequence[tuple[models.Delivery, Delivered]]
    ) -> Iterable[UUID]:
        """Keep what was accepted; a destination that takes something is well again."""
        for row, delivered in found:
            row.external_id = delivered.external_id or row.external_id  # an update may not name it again
            row.fingerprint, row.delivered_at = delivered.fingerprint, delivered.at
        await recovered(session, [row.destination_id for row, _ in found])
        return ()


def wanted(waiting: Waiting) -> Message:
    """What is to be handed over, or Skip or Later with the reason why nothing is."""
    if waiting.disabled_why is not None:
        raise Skip(f"{DISABLED}: {waiting.disabled_why}")
    if waiting.is_suppressed:
        raise Skip("suppressed")
    if waiting.is_set_aside:
        raise Skip("set aside by a person")
    if waiting.parcel is None:
        raise Skip("no email address")
    if waiting.parcel.fingerprint == waiting.accepted:
        raise Skip("unchanged since the last delivery")
    if waiting.rest is not None:
        raise Later(waiting.rest + timedelta(seconds=random.uniform(0, 2)), "The destination has failed and rests.")
    return waiting.parcel
