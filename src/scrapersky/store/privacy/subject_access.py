"""The response to a subject access request: what the tenant stores about a person, its sources and receivers."""

from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.contact_fields import CONTACT_FIELDS, EVIDENCE
from scrapersky.models import Contact, Delivery, Destination
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.operations.queue_rows import one_of
from scrapersky.store.privacy import scan_tables, suppressions
from scrapersky.store.privacy.identify import PersonQuery, identify

COLUMNS = (
    *(each.name for each in CONTACT_FIELDS),
    "verification",
    *EVIDENCE,
    "sources",
    "created_at",
    "seen_at",
    "curation_status",
    "suppressed_at",
)


async def subject_data(session: AsyncSession, actor: Actor, person: PersonQuery) -> dict[str, Any]:
    """Return contacts, copies in other tables, deliveries and suppressions; audit the request by hash."""
    subject = await identify(session, actor.tenant_id, person)
    held = {**subject.own, **subject.shared}
    copies = await scan_tables.mentions(session, actor.tenant_id, subject)
    known = await suppressions.known(session, actor.tenant_id, subject.points)
    hashes = sorted(point.digest for point in subject.given)
    await audit.record(session, actor, "look up", "subject", None, {"hashes": hashes, "contacts": len(held)})
    return {
        "contacts": [_shown(contact) for contact in held.values()],
        "copies": [
            {"table": one.table, "id": [str(part) for part in one.key], "columns": list(one.columns)}
            for one in copies
            if not (one.table == "contact" and one.key[0] in held)
        ],
        "deliveries": await _deliveries(session, list(held)),
        "suppressions": [
            {"kind": row.kind, "origin": row.origin, "reason": row.reason, "since": row.created_at}
            for row in {row.id: row for row in known.values()}.values()
        ],
    }


def _shown(contact: Contact) -> dict[str, Any]:
    values = {name: getattr(contact, name) for name in COLUMNS}
    return {"id": contact.id, **{name: value for name, value in values.items() if value is not None}}


async def _deliveries(session: AsyncSession, contact_ids: list[UUID]) -> list[dict[str, Any]]:
    rows = await session.execute(
        select(
            Delivery.contact_id,
            Destination.name.label("destination"),
            Destination.kind,
            Delivery.external_id,
            Delivery.delivered_at,
            Delivery.delivery_status.label("status"),
        )
        .join(Destination, Destination.id == Delivery.destination_id)
        .where(one_of(Delivery.contact_id, contact_ids))
        .order_by(Delivery.id)
    )
    return [dict(row._mapping) for row in rows]
