"""Erasure: a person is taken out of everything the tenant holds; hashes are left, so that they do not come back."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Text, delete, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.contact_fields import PERSON_FIELDS, PHONE_FIELDS
from scrapersky.core.database import ENGINE_ROLE
from scrapersky.models import Audit, Contact, Delivery, Destination
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.operations.queue_rows import among
from scrapersky.store.privacy import identify as erasure_subject
from scrapersky.store.privacy import scan_tables, suppressions
from scrapersky.store.privacy.identify import Named, Subject
from scrapersky.store.privacy.patterns import without

_ERASED = {"erased": True}


@dataclass(frozen=True)
class Receiver:
    """A destination that has the person: ask it to delete them, too."""

    destination: str
    kind: str
    external_id: str | None
    delivered_at: datetime | None


@dataclass(frozen=True)
class Erasure:
    """What goes, or what went: rows of each noun, and who else has the person."""

    hashes: list[str]
    contacts: int = 0  # deleted
    stripped: int = 0  # contacts of an office that lose the name
    deliveries: int = 0
    mentions: dict[str, int] = field(default_factory=dict)  # rows that lose a mention, by table
    receivers: list[Receiver] = field(default_factory=list)


async def preview(session: AsyncSession, actor: Actor, named: Named) -> Erasure:
    """What an erasure would take away; nothing is changed."""
    subject = await erasure_subject.find(session, actor.tenant_id, named)
    mentioned = await scan_tables.mentions(session, actor.tenant_id, subject)
    gone = {(contact_id,) for contact_id in (*subject.own, *subject.shared)}
    counts = Counter(one.table for one in mentioned if not (one.table == "contact" and one.key in gone))
    counts["audit"] = len(await _audited(session, actor.tenant_id, subject))
    return await _erasure(session, subject, dict(+counts))


async def erase(session: AsyncSession, actor: Actor, named: Named) -> Erasure:
    """Do it, in one transaction: hashes first, so that nothing comes back meanwhile; the audit keeps only those."""
    subject = await erasure_subject.find(session, actor.tenant_id, named)
    await suppressions.forget(session, actor, subject.ways)
    subject = await erasure_subject.find(session, actor.tenant_id, named)  # whoever wrote meanwhile has finished
    planned = await _erasure(session, subject, {})
    await session.execute(delete(Contact).where(among(Contact.id, subject.own)))
    await _strip(session, subject)
    mentions = await scan_tables.scrub(session, actor.tenant_id, subject)
    if audited := await _scrub_audit(session, actor.tenant_id, subject):
        mentions["audit"] = audited
    done = Erasure(planned.hashes, planned.contacts, planned.stripped, planned.deliveries, mentions, planned.receivers)
    shown = {"hashes": done.hashes, "contacts": done.contacts, "stripped": done.stripped, "mentions": mentions}
    await audit.record(session, actor, "erase", "erasure", None, {**shown, "receivers": len(done.receivers)})
    return done


async def _erasure(session: AsyncSession, subject: Subject, mentions: dict[str, int]) -> Erasure:
    sent = (
        await session.execute(
            select(Destination.name, Destination.kind, Delivery.external_id, Delivery.delivered_at)
            .join(Destination, Destination.id == Delivery.destination_id)
            .where(among(Delivery.contact_id, [*subject.own, *subject.shared]))
            .order_by(Destination.name, Delivery.id)
        )
    ).all()
    receivers = [Receiver(*row) for row in sent if row.delivered_at or row.external_id]
    hashes = sorted(way.digest for way in subject.ways)
    return Erasure(hashes, len(subject.own), len(subject.shared), len(sent), mentions, receivers)


async def _strip(session: AsyncSession, subject: Subject) -> None:
    """An office keeps its address; the person's name, title and number go."""
    numbers = {way.value for way in subject.ways if way.kind == "phone"}
    for contact_id, contact in subject.shared.items():
        changes: dict[str, Any] = {**dict.fromkeys((*PERSON_FIELDS, "snippet")), "updated_at": func.now()}
        changes |= {column: None for column in PHONE_FIELDS if getattr(contact, column) in numbers}
        await session.execute(update(Contact).where(Contact.id == contact_id).values(changes))


async def _audited(session: AsyncSession, tenant_id: UUID, subject: Subject) -> list[Any]:
    """The lines of the audit that speak of the person."""
    subjects = [f"contact {contact_id}" for contact_id in (*subject.own, *subject.shared)]
    written = func.concat_ws(" ", Audit.before.cast(Text), Audit.after.cast(Text))
    speaks: ColumnElement[bool] = Audit.subject.in_(subjects)
    if subject.sieve:
        speaks = speaks | written.op("~*")(subject.sieve)
    rows = await session.execute(
        select(Audit.id, Audit.subject, Audit.before, Audit.after).where(Audit.tenant_id == tenant_id, speaks)
    )
    return [row for row in rows if _of_audit(row, subjects, subject.pattern) != (row.before, row.after)]


async def _scrub_audit(session: AsyncSession, tenant_id: UUID, subject: Subject) -> int:
    """Nobody but the engine changes what the audit holds, and it may change nothing else there."""
    rows = await _audited(session, tenant_id, subject)
    subjects = [f"contact {contact_id}" for contact_id in (*subject.own, *subject.shared)]
    role = await session.scalar(text("SELECT current_setting('role')"))
    await session.execute(text("SELECT set_config('role', :role, true)"), {"role": ENGINE_ROLE})
    for row in rows:
        before, after = _of_audit(row, subjects, subject.pattern)
        await session.execute(
            update(Audit).where(Audit.id == row.id, Audit.tenant_id == tenant_id).values(before=before, after=after)
        )
    await session.execute(text("SELECT set_config('role', :role, true)"), {"role": role})
    return len(rows)


def _of_audit(row: Any, subjects: list[str], pattern: str) -> tuple[Any, Any]:
    """A line about the contact itself keeps nothing, another one loses the mention."""
    if row.subject in subjects:
        return (row.before and _ERASED, row.after and _ERASED)
    return without(row.before, pattern), without(row.after, pattern)
