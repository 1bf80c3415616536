"""Named queries about deliveries: open them by rule or by hand, and take waiting ones back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import CursorResult, Select, func, literal_column, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import Status
from scrapersky.models import Delivery
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.paginate import Filters, matching
from scrapersky.store.listing.resources import DELIVERIES, DESTINATIONS
from scrapersky.store.operations.queue_rows import among
from scrapersky.store.operations.revert_status import status_at_rest


@dataclass(frozen=True)
class Sent:
    """What became of contacts that somebody wants delivered."""

    found: int = 0  # contacts that were meant and are there
    queued: int = 0
    already: int = 0  # on their way to this destination
    suppressed: int = 0  # never to be written to
    without_email: int = 0

    def __add__(self, other: "Sent") -> "Sent":
        return Sent(
            self.found + other.found,
            self.queued + other.queued,
            self.already + other.already,
            self.suppressed + other.suppressed,
            self.without_email + other.without_email,
        )


async def open_for(session: AsyncSession, contact_ids: Sequence[UUID]) -> None:
    """Queue contacts for every destination whose rule wants them; those it has are queued again once they changed."""
    if contact_ids:
        await session.execute(_OPEN_BY_RULE, {"ids": list(contact_ids)})


async def send(session: AsyncSession, actor: Actor, destination_id: UUID, contact_ids: Sequence[UUID]) -> Sent:
    """Queue contacts for one destination by hand; whatever came of earlier deliveries, they get new tries."""
    await lists.get(session, DESTINATIONS, actor.tenant_id, destination_id)
    wanted = {"ids": list(contact_ids), "tenant": actor.tenant_id}
    found = (await session.execute(_COUNT, wanted)).one()
    done = (await session.execute(_OPEN_BY_HAND, {**wanted, "destination": destination_id})).all()
    if done:
        after = {"contacts": [str(row.contact_id) for row in done]}
        await audit.record(session, actor, "deliver", f"destination {destination_id}", None, after)
    fit = found.contacts - found.suppressed - found.without_email
    return Sent(found.contacts, len(done), fit - len(done), found.suppressed, found.without_email)


async def take_back(session: AsyncSession, contact_ids: Sequence[UUID]) -> None:
    """Waiting deliveries of these contacts are not made; those in hand are finished."""
    if contact_ids:
        await session.execute(
            update(Delivery)
            .where(among(Delivery.contact_id, contact_ids), Delivery.delivery_status == Status.QUEUED)
            .values(**_TAKEN_BACK)
        )


async def cancel(session: AsyncSession, actor: Actor, wanted: Filters | Sequence[UUID]) -> int:
    """Take back what waits, by ids or by filter; how many those were."""
    chosen = _waiting(actor, wanted).with_for_update(key_share=True)
    done = await session.execute(update(Delivery).where(Delivery.id.in_(chosen)).values(**_TAKEN_BACK))
    taken = done.rowcount if isinstance(done, CursorResult) else 0
    if taken:
        named = {"ids": [str(each) for each in wanted]} if isinstance(wanted, Sequence) else {"filter": dict(wanted)}
        await audit.record(session, actor, "cancel", "deliveries", named, {"taken_back": taken})
    return taken


async def count_waiting(session: AsyncSession, actor: Actor, filters: Filters) -> int:
    """How many a cancel with this filter would take back."""
    return int(await session.scalar(select(func.count()).select_from(_waiting(actor, filters).subquery())) or 0)


def _waiting(actor: Actor, wanted: Filters | Sequence[UUID]) -> Select[Any]:
    chosen = select(Delivery.id).where(Delivery.delivery_status == Status.QUEUED).order_by(Delivery.id)
    if isinstance(wanted, Sequence):
        return chosen.where(Delivery.tenant_id == actor.tenant_id, among(Delivery.id, wanted))
    return matching(chosen, DELIVERIES, actor.tenant_id, wanted)


_TAKEN_BACK: dict[str, Any] = {
    "delivery_status": literal_column(status_at_rest("delivery", "delivery")),
    "delivery_error": None,
    "delivery_due_at": None,
    "updated_at": func.now(),
}

# A contact in Error was given up; only a person tries it again.
_OPEN_BY_RULE = text("""
INSERT INTO delivery AS v (tenant_id, destination_id, contact_id, priority, delivery_status)
SELECT c.tenant_id, d.id, c.id, c.priority, 'Queued'
FROM contact c JOIN destination d ON d.tenant_id = c.tenant_id
WHERE c.id = ANY(:ids) AND d.disabled_at IS NULL AND d.rule @> '{"auto": true}'
    AND c.email IS NOT NULL AND c.suppressed_at IS NULL AND c.merged_into_id IS NULL
    AND d.rule -> 'verdicts' @> to_jsonb(c.verdict) AND d.rule -> 'curation' @> to_jsonb(c.curation_status)
    AND coalesce(c.confidence, 1) >= (d.rule ->> 'min_confidence')::float8
ORDER BY d.id, c.id
ON CONFLICT (destination_id, contact_id) DO UPDATE SET delivery_status = 'Queued', updated_at = now()
WHERE v.delivery_status IN ('New', 'Completed', 'Skipped')
    AND (v.delivered_at IS NULL OR EXISTS (
        SELECT FROM contact c WHERE c.id = v.contact_id AND c.updated_at > v.delivered_at))""")

_COUNT = text("""
SELECT count(*) AS contacts, count(*) FILTER (WHERE suppressed_at IS NOT NULL) AS suppressed,
    count(*) FILTER (WHERE suppressed_at IS NULL AND email IS NULL) AS without_email
FROM contact WHERE id = ANY(:ids) AND tenant_id = :tenant AND merged_into_id IS NULL""")

_OPEN_BY_HAND = text("""
INSERT INTO delivery AS v (tenant_id, destination_id, contact_id, priority, delivery_status)
SELECT c.tenant_id, :destination, c.id, c.priority, 'Queued' FROM contact c
WHERE c.id = ANY(:ids) AND c.tenant_id = :tenant AND c.suppressed_at IS NULL AND c.email IS NOT NULL
    AND c.merged_into_id IS NULL
ORDER BY c.id
ON CONFLICT (destination_id, contact_id) DO UPDATE SET delivery_status = 'Queued', updated_at = now()
WHERE v.delivery_status NOT IN ('Queued', 'Processing')
RETURNING v.contact_id""")
