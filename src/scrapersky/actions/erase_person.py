"""Erasure: a person is removed from everything the tenant stores; hashes prevent that they are stored again."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Text, delete, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.contact_fields import PERSON_FIELDS, PHONE_FIELDS
from scrapersky.core.database import ENGINE_ROLE
from scrapersky.models import Audit, Contact, Delivery, Destination
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.operations.queue_rows import one_of
from scrapersky.store.privacy import scan_tables, suppressions
from scrapersky.store.privacy.identify import DataSubject, PersonQuery, identify
from scrapersky.store.privacy.patterns import can_mention, without

_ERASED = {"erased": True}


@dataclass(frozen=True)
class ErasureReceiver:
    """A destination that has received the person and has to be asked to delete them."""

    destination: str
    kind: str
    external_id: str | None
    delivered_at: datetime | None


@dataclass(frozen=True)
class Erasure:
    """The number of rows that are or would be deleted or changed, and the destinations that have the person."""

    hashes: list[str]
    contacts: int = 0  # deleted
    stripped: int = 0  # contacts of a role address that lose the name
    deliveries: int = 0
    mentions: dict[str, int] = field(default_factory=dict)  # changed rows by table
    receivers: list[ErasureReceiver] = field(default_factory=list)


async def preview(session: AsyncSession, actor: Actor, person: PersonQuery) -> Erasure:
    """Return what an erasure would change; change nothing."""
    subject = await identify(session, actor.tenant_id, person)
    mentioned = await scan_tables.mentions(session, actor.tenant_id, subject)
    gone = {(contact_id,) for contact_id in (*subject.own, *subject.shared)}
    counts = Counter(one.table for one in mentioned if not (one.table == "contact" and one.key in gone))
    counts["audit"] = len(await _audit_mentions(session, actor.tenant_id, subject))
    return await _erasure(session, subject, dict(+counts))


async def erase(session: AsyncSession, actor: Actor, person: PersonQuery) -> Erasure:
    """Erase the person; the hashes are stored first, so that nothing is stored again meanwhile."""
    subject = await identify(session, actor.tenant_id, person)
    await suppressions.suppress_erased(session, actor, subject.points)
    subject = await identify(session, actor.tenant_id, person)  # rows that were written before the hashes
    planned = await _erasure(session, subject, {})
    await session.execute(delete(Contact).where(one_of(Contact.id, subject.own)))
    await _strip(session, subject)
    mentions = await scan_tables.scrub(session, actor.tenant_id, subject)
    if changed := await _scrub_audit(session, actor.tenant_id, subject):
        mentions["audit"] = changed
    done = Erasure(planned.hashes, planned.contacts, planned.stripped, planned.deliveries, mentions, planned.receivers)
    shown = {"hashes": done.hashes, "contacts": done.contacts, "stripped": done.stripped, "mentions": mentions}
    await audit.record(session, actor, "erase", "erasure", None, {**shown, "receivers": len(done.receivers)})
    return done


async def _erasure(session: AsyncSession, subject: DataSubject, mentions: dict[str, int]) -> Erasure:
    sent = (
        await session.execute(
            select(Destination.name, Destination.kind, Delivery.external_id, Delivery.delivered_at)
            .join(Destination, Destination.id == Delivery.destination_id)
            .where(one_of(Delivery.contact_id, [*subject.own, *subject.shared]))
            .order_by(Destination.name, Delivery.id)
        )
    ).all()
    receivers = [ErasureReceiver(*row) for row in sent if row.delivered_at or row.external_id]
    hashes = sorted(point.digest for point in subject.points)
    return Erasure(hashes, len(subject.own), len(subject.shared), len(sent), mentions, receivers)


async def _strip(session: AsyncSession, subject: DataSubject) -> None:
    """Remove name, title and number of the person from contacts of a role address, which stay."""
    numbers = {point.value for point in subject.points if point.kind == "phone"}
    for contact_id, contact in subject.shared.items():
        changes: dict[str, Any] = {**dict.fromkeys((*PERSON_FIELDS, "snippet")), "updated_at": func.now()}
        changes |= {column: None for column in PHONE_FIELDS if getattr(contact, column) in numbers}
        kept = {name: source for name, source in (contact.sources or {}).items() if name not in changes}
        changes["sources"] = {name: {**source, "snippet": None} for name, source in kept.items()} or None
        await session.execute(update(Contact).where(Contact.id == contact_id).values(changes))


async def _audit_mentions(session: AsyncSession, tenant_id: UUID, subject: DataSubject) -> list[Any]:
    """Return the audit entries that mention the person."""
    subjects = [f"contact {contact_id}" for contact_id in (*subject.own, *subject.shared)]
    text_of_entry = func.concat_ws(" ", Audit.before.cast(Text), Audit.after.cast(Text))
    mentions = Audit.subject.in_(subjects) | can_mention(text_of_entry, subject.addresses)
    rows = await session.execute(
        select(Audit.id, Audit.subject, Audit.before, Audit.after).where(Audit.tenant_id == tenant_id, mentions)
    )
    return [row for row in rows if _without_person(row, subjects, subject.pattern) != (row.before, row.after)]


async def _scrub_audit(session: AsyncSession, tenant_id: UUID, subject: DataSubject) -> int:
    """Remove the person from the audit as the engine, which alone may change `before` and `after`."""
    rows = await _audit_mentions(session, tenant_id, subject)
    subjects = [f"contact {contact_id}" for contact_id in (*subject.own, *subject.shared)]
    role = await session.scalar(text("SELECT current_setting('role')"))
    await session.execute(text("SELECT set_config('role', :role, true)"), {"role": ENGINE_ROLE})
    for row in rows:
        before, after = _without_person(row, subjects, subject.pattern)
        await session.execute(
            update(Audit).where(Audit.id == row.id, Audit.tenant_id == tenant_id).values(before=before, after=after)
        )
    await session.execute(text("SELECT set_config('role', :role, true)"), {"role": role})
    return len(rows)


def _without_person(row: Any, subjects: list[str], pattern: str) -> tuple[Any, Any]:
    """Return `before` and `after` without the person: empty for an entry about the contact, else without mentions."""
    if row.subject in subjects:
        return (row.before and _ERASED, row.after and _ERASED)
    return without(row.before, pattern), without(row.after, pattern)
