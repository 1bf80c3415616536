"""WF9: a contact, or the end of a run, reaches its destination."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky import models
from scrapersky.core import clock
from scrapersky.destinations.concurrency import ConcurrencyLimits
from scrapersky.destinations.errors import DestinationClosed, Receipt, TryLater
from scrapersky.destinations.kind import Endpoint
from scrapersky.destinations.payload import Event, Message
from scrapersky.destinations.registry import KINDS, DestinationAdapters
from scrapersky.engine.outcomes import Later, Skip
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.store.deliveries.destinations import DISABLED
from scrapersky.store.deliveries.outbox import IN_COOLDOWN, Outbox, PendingDelivery, record_success


@dataclass(frozen=True)
class DeliveryTask:
    """The delivery to make: which contact, to which destination."""

    delivery_id: UUID
    tenant_id: UUID
    destination_id: UUID


@dataclass(frozen=True)
class AcceptedDelivery:
    """What the destination accepted, and its id there."""

    external_id: str | None
    fingerprint: str
    at: datetime


class ContactDelivery(Workflow[models.Delivery, DeliveryTask, AcceptedDelivery]):
    """A contact is sent to a webhook or a CRM, with retries, and never twice unchanged."""

    number = 9
    name = "delivery"
    model = models.Delivery
    reads = ("destination_id",)
    tuning = Tuning(
        interval_minutes=1,
        batch_size=50,
        max_batch_size=500,
        max_instances=1,
        concurrency=400,  # they only wait for full batches and for receivers
        max_attempts=17,  # over about a day
        backoff_seconds=5,
        max_backoff_seconds=21_600,
    )

    def __init__(self, outbox: Outbox | None, adapters: DestinationAdapters | None) -> None:
        self._outbox = outbox
        self._adapters = adapters
        self._limits = ConcurrencyLimits()

    def read(self, row: Claimed) -> DeliveryTask:
        """Read ids only: the contact is loaded at the last moment, because it may be suppressed meanwhile."""
        return DeliveryTask(row.id, row.tenant_id, row.destination_id)

    async def work(self, task: DeliveryTask) -> AcceptedDelivery:
        """Check again that the contact may be sent, then send it; no connection is held meanwhile."""
        if self._outbox is None or self._adapters is None:
            raise RuntimeError("This pipeline was built without an outbox: only its declarations can be used.")
        try:
            endpoint, message = await self._load(self._outbox, task)
            async with self._limits.slot(task.destination_id, KINDS[endpoint.kind].max_in_flight) as has_waited:
                if has_waited:
                    endpoint, message = await self._load(self._outbox, task)
                receipt = await self._send(self._outbox, self._adapters, task, endpoint, message)
        except DestinationClosed as closed:
            await self._outbox.disable(task.tenant_id, task.destination_id, str(closed))
            raise Skip(f"{DISABLED}: {closed}") from closed
        return AcceptedDelivery(receipt.external_id, message.fingerprint, clock.now())

    async def _load(self, outbox: Outbox, task: DeliveryTask) -> tuple[Endpoint, Message | Event]:
        pending = await outbox.load(task.tenant_id, task.delivery_id)
        if pending is None:
            raise Skip("the contact or its destination was deleted")
        return pending.endpoint, message_of(pending)

    async def _send(
        self,
        outbox: Outbox,
        adapters: DestinationAdapters,
        task: DeliveryTask,
        endpoint: Endpoint,
        message: Message | Event,
    ) -> Receipt:
        try:
            if isinstance(message, Event):
                await adapters.notify(endpoint, message.name, message.message_id, message.facts)
                return Receipt()
            return await adapters.deliver(endpoint, message)
        except TryLater as error:
            if not error.is_counted:
                error.is_counted = True
                await outbox.record_failure(task.tenant_id, task.destination_id, error.after)
            raise

    async def write_batch(
        self, session: AsyncSession, found: Sequence[tuple[models.Delivery, AcceptedDelivery]]
    ) -> Iterable[UUID]:
        """Store what was accepted; a success ends the destination's cooldown."""
        for row, delivered in found:
            row.external_id = delivered.external_id or row.external_id  # an update may not name it again
            row.fingerprint, row.delivered_at = delivered.fingerprint, delivered.at
        await record_success(session, [row.destination_id for row, _ in found])
        return ()


def message_of(pending: PendingDelivery) -> Message | Event:
    """Return the message to send; raise Skip or Later with the reason why none is sent now."""
    if pending.disabled_reason is not None:
        raise Skip(f"{DISABLED}: {pending.disabled_reason}")
    if pending.is_suppressed:
        raise Skip("suppressed")
    if pending.is_rejected:
        raise Skip("rejected by a person")
    if pending.is_repeated:
        raise Skip("another contact of the same business has its address")
    if pending.message is None:
        raise Skip("no email address and no phone number")
    if pending.message.fingerprint == pending.accepted:
        raise Skip("unchanged since the last delivery")
    if pending.cooldown is not None:
        wait = pending.cooldown + timedelta(seconds=random.uniform(0, 2))
        raise Later(wait, f"{pending.failure} {IN_COOLDOWN}".lstrip())
    return pending.message
