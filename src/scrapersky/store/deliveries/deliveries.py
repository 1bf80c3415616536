"""SQL about deliveries: queue them by rule or by request, and withdraw waiting ones."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from operator import add
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, CursorResult, Select, func, literal_column, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import Status
from scrapersky.models import Delivery, SearchRun
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.resources import DELIVERIES, DESTINATIONS
from scrapersky.store.listing.shown import Shown, matching_shown
from scrapersky.store.operations.queue_rows import one_of
from scrapersky.store.steps import DELIVERY, is_of_rejected
from scrapersky.store.withheld import is_withheld

ALL = Shown()  # all rows that match


@dataclass(frozen=True)
class DeliveryCounts:
    """The result of a request to deliver contacts."""

    found: int = 0  # contacts that were requested and exist
    queued: int = 0
    already: int = 0  # in the queue of this destination
    suppressed: int = 0
    unreachable: int = 0  # without an email address and without a phone number

    def __add__(self, other: "DeliveryCounts") -> "DeliveryCounts":
        return DeliveryCounts(*map(add, astuple(self), astuple(other)))


async def queue_by_rule(session: AsyncSession, contact_ids: Sequence[UUID]) -> None:
    """Queue contacts for every destination whose rule matches; delivered contacts are queued again if they changed."""
    # Most tenants have no such rule, and planning the long statement on each connection takes milliseconds.
    if contact_ids and await session.scalar(_ANY_RULE):
        await session.execute(_QUEUE_BY_RULE, {"ids": list(contact_ids)})


async def send(
    session: AsyncSession, actor: Actor, destination_id: UUID, contact_ids: Sequence[UUID]
) -> DeliveryCounts:
    """Queue contacts for one destination on request, also those whose earlier delivery failed or was skipped."""
    await lists.get(session, DESTINATIONS, actor.tenant_id, destination_id)
    found = await preview(session, actor, contact_ids)
    values = {"ids": list(contact_ids), "tenant": actor.tenant_id, "destination": destination_id}
    queued = (await session.execute(_QUEUE_REQUESTED, values)).all()
    after = {"contacts": [str(row.contact_id) for row in queued]}
    await audit.record(session, actor, "deliver", f"destination {destination_id}", None, after)
    already = found.found - found.suppressed - found.unreachable - len(queued)
    return replace(found, queued=len(queued), already=already)


async def preview(session: AsyncSession, actor: Actor, contact_ids: Sequence[UUID]) -> DeliveryCounts:
    """Count the contacts that exist, and those among them that no delivery takes; queue nothing."""
    found = (await session.execute(_COUNT, {"ids": list(contact_ids), "tenant": actor.tenant_id})).one()
    return DeliveryCounts(found.contacts, suppressed=found.suppressed, unreachable=found.unreachable)


async def of_latest_run(session: AsyncSession, search_id: UUID, destination_id: UUID) -> Delivery | None:
    """Return the delivery of the end of the latest run of a search to a destination; None if it has not ended."""
    latest = select(SearchRun.id).where(SearchRun.search_id == search_id).order_by(SearchRun.number.desc()).limit(1)
    wanted = select(Delivery).where(
        Delivery.run_id == latest.scalar_subquery(), Delivery.destination_id == destination_id
    )
    return await session.scalar(wanted)


async def withdraw(session: AsyncSession, contact_ids: Sequence[UUID]) -> None:
    """Withdraw the waiting deliveries of these contacts; deliveries in flight are finished."""
    if contact_ids:
        await session.execute(
            update(Delivery)
            .where(one_of(Delivery.contact_id, contact_ids), Delivery.delivery_status == Status.QUEUED)
            .values(**_WITHDRAWN)
        )


async def cancel(
    session: AsyncSession, actor: Actor, selection: Filters | Sequence[UUID], as_shown: Shown = ALL
) -> int:
    """Withdraw waiting deliveries by ids, or by filter as they were shown; return how many. Raises CountChanged."""
    chosen = _waiting(actor, selection, as_shown).with_for_update(key_share=True)
    is_chosen: ColumnElement[bool] = Delivery.id.in_(chosen)
    if as_shown.expected is not None:
        # Those that match only since they were shown have changed last.
        found = list(await session.scalars(chosen.order_by(None).order_by(Delivery.updated_at, Delivery.id)))
        as_shown.check(len(found))
        is_chosen = one_of(Delivery.id, found[: as_shown.expected])
    done = await session.execute(update(Delivery).where(is_chosen).values(**_WITHDRAWN))
    withdrawn = done.rowcount if isinstance(done, CursorResult) else 0
    before = (
        {"ids": [str(each) for each in selection]} if isinstance(selection, Sequence) else {"filter": dict(selection)}
    )
    await audit.record(session, actor, "cancel", "deliveries", before, {"withdrawn": withdrawn})
    return withdrawn


async def count_waiting(session: AsyncSession, actor: Actor, filters: Filters, as_shown: Shown = ALL) -> int:
    """Count the deliveries that `cancel` with this filter would withdraw."""
    waiting = _waiting(actor, filters, as_shown).subquery()
    return int(await session.scalar(select(func.count()).select_from(waiting)) or 0)


def _waiting(actor: Actor, selection: Filters | Sequence[UUID], as_shown: Shown) -> Select[Any]:
    chosen = select(Delivery.id).where(Delivery.delivery_status == Status.QUEUED).order_by(Delivery.id)
    if isinstance(selection, Sequence):
        return chosen.where(Delivery.tenant_id == actor.tenant_id, one_of(Delivery.id, selection))
    return matching_shown(chosen, DELIVERIES, actor.tenant_id, selection, as_shown)


_WITHDRAWN: dict[str, Any] = {
    "delivery_status": literal_column(DELIVERY.status_when_withdrawn("delivery")),
    "delivery_error": None,
    "delivery_due_at": None,
    "updated_at": func.now(),
}

_HAS_RULE = "d.disabled_at IS NULL AND d.rule @> '{\"auto\": true}'"
_ANY_RULE = text(f"SELECT EXISTS (SELECT FROM destination d WHERE {_HAS_RULE})")  # noqa: S608 - own names

# A delivery in Error is tried again only on request.
_QUEUE_BY_RULE = text(f"""
INSERT INTO delivery AS v (tenant_id, destination_id, contact_id, priority, delivery_status)
SELECT c.tenant_id, d.id, c.id, c.priority, 'Queued'
FROM contact c JOIN destination d ON d.tenant_id = c.tenant_id
WHERE c.id = ANY(:ids) AND {_HAS_RULE}
    AND NOT {is_withheld("c")} AND c.merged_into_id IS NULL
    AND NOT {is_of_rejected("c.business_id", "c.domain_id")}
    AND (CASE WHEN c.email IS NOT NULL THEN d.rule -> 'verdicts' @> to_jsonb(c.verdict)
        ELSE c.phone IS NOT NULL AND d.rule @> '{{"phone_only": true}}' END)
    AND d.rule -> 'curation' @> to_jsonb(c.curation_status)
    AND coalesce(c.confidence, 1) >= (d.rule ->> 'min_confidence')::float8
ORDER BY d.id, c.id
ON CONFLICT (destination_id, contact_id) DO UPDATE SET delivery_status = 'Queued', updated_at = now()
WHERE v.delivery_status IN ('New', 'Completed', 'Skipped')
    AND (v.delivered_at IS NULL OR EXISTS (
        SELECT FROM contact c WHERE c.id = v.contact_id AND c.updated_at > v.delivered_at))""")  # noqa: S608 - own names

_COUNT = text(f"""
SELECT count(*) AS contacts, count(*) FILTER (WHERE is_withheld) AS suppressed,
    count(*) FILTER (WHERE NOT is_withheld AND email IS NULL AND phone IS NULL) AS unreachable
FROM (SELECT c.email, c.phone, {is_withheld("c")} AS is_withheld FROM contact c
    WHERE c.id = ANY(:ids) AND c.tenant_id = :tenant AND c.merged_into_id IS NULL) chosen""")  # noqa: S608 - own names

_QUEUE_REQUESTED = text(f"""
INSERT INTO delivery AS v (tenant_id, destination_id, contact_id, priority, delivery_status)
SELECT c.tenant_id, :destination, c.id, c.priority, 'Queued' FROM contact c
WHERE c.id = ANY(:ids) AND c.tenant_id = :tenant AND NOT {is_withheld("c")}
    AND coalesce(c.email, c.phone) IS NOT NULL
    AND c.merged_into_id IS NULL
ORDER BY c.id
ON CONFLICT (destination_id, contact_id) DO UPDATE SET delivery_status = 'Queued', updated_at = now()
WHERE v.delivery_status NOT IN ('Queued', 'Processing')
RETURNING v.contact_id""")  # noqa: S608 - own names
