"""Statements that create, change and delete contacts on behalf of people, and that find duplicates."""

from collections.abc import ItemsView, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock
from scrapersky.core.contact_fields import BY_HAND, FACTS, IDENTITY_PREFIXES, NAME_PARTS
from scrapersky.core.errors import Conflict, ScraperSkyError
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.models import Contact, Domain
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts import automatic_merges, owner
from scrapersky.store.contacts.rows import MAX_IDENTITY, person_identity
from scrapersky.store.contacts.value_sources import mark_by_hand
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import CONTACTS
from scrapersky.store.operations.queue_rows import one_of
from scrapersky.store.privacy import suppressions

MAX_GROUP_IDS = 50  # ids returned for one group of duplicates

DuplicateKey = Literal["email", "phone"]


class ContactWithoutIdentity(ScraperSkyError):
    """A contact needs an email address, a name, a phone number or a postal address."""

    status_code = 422
    fields = ("email", "name", "phone", "address")


class ContactExists(Conflict):
    """This contact exists already."""

    def __init__(self, existing: UUID, cure: str = "Change that one, or give another domain.") -> None:
        super().__init__(cure)
        self.members = {"id": str(existing)}


class ContactChanged(Conflict):
    """This contact has changed since it was read."""


class ContactMerged(Conflict):
    """This contact was merged into another one."""

    def __init__(self, kept: UUID) -> None:
        super().__init__(f"Change {kept}, which stands for it.")
        self.members = {"id": str(kept)}


@dataclass(frozen=True)
class DuplicateGroup:
    """Contacts that share an email address or a phone number."""

    value: str
    contacts: int
    domains: int
    ids: list[UUID]


async def create(session: AsyncSession, actor: Actor, values: Mapping[str, Any], auto_queue: bool = False) -> Contact:
    """Create a contact, and queue its verification if `auto_queue`; raise ContactExists if the domain has it.

    Its domain is the given one, else that of its page or of its email address, so that a later run finds the same row.
    """
    values = await owner.with_owner(session, actor, values)
    if not values.get("name") and (parts := [values[part] for part in NAME_PARTS if values.get(part)]):
        values["name"] = " ".join(parts)
    values = dict(await _with_name_parts(session, values, values["domain_id"]))
    await suppressions.refuse_erased(session, actor.tenant_id, suppressions.contact_points_of(values))
    identity = identity_of(values)
    created = await session.scalar(
        insert(Contact)
        .values(
            **values,
            id=new_id(),
            tenant_id=actor.tenant_id,
            identity=identity,
            found_by=BY_HAND,
            confidence=1.0,
            edited_at=func.now(),
            contact_verification_status=Status.QUEUED if auto_queue else Status.NEW,
        )
        .on_conflict_do_nothing()
        .returning(Contact.id)
    )
    if created is None:
        raise ContactExists(await _existing(session, actor, values["domain_id"], identity))
    contact = await get(session, actor, created)
    await audit.record(session, actor, "create", f"contact {created}", None, audited(contact))
    return contact


async def change(
    session: AsyncSession, actor: Actor, contact_id: UUID, changes: Mapping[str, Any], seen: datetime | None
) -> Contact:
    """Change fields of a contact; its identity stays, so that a later run finds the same row.

    Another name or address undoes automatic merges (automatic_merges.undo_by_edit).
    Raises ContactChanged if `seen` is not the contact's `updated_at`, ContactMerged if another contact stands for it.
    """
    await suppressions.lock_tenant(session, actor.tenant_id)
    contact = await get(session, actor, contact_id, lock=True)
    if contact.merged_into_id is not None:
        raise ContactMerged(contact.merged_into_id)
    if seen is not None and contact.updated_at != seen:
        raise ContactChanged(f"It was changed at {contact.updated_at.isoformat()}. Read it again, then decide.")
    await suppressions.refuse_erased(session, actor.tenant_id, suppressions.contact_points_of(changes))
    before, was_suppressed = audited(contact), contact.suppressed_at is not None
    contact.seen_at = contact.edited_at = clock.now()
    if "email" in changes and changes["email"] != contact.email:
        await _refuse_duplicate(session, contact, changes["email"])
        _clear_verdict(contact)
        contact.email_kind = await owner.email_kind(session, changes["email"], contact.domain_id)
    name, email = contact.name, contact.email
    mark_by_hand(contact, (field for field, value in changes.items() if value != getattr(contact, field)))
    for field, value in await _with_name_parts(session, changes, contact.domain_id):
        setattr(contact, field, value)
    if not any(getattr(contact, name) for name in (*IDENTITY_PREFIXES, "profiles")):
        raise ContactWithoutIdentity("Delete it instead.")
    released = await automatic_merges.undo_by_edit(session, contact, name, email)
    await flush(session, contact)
    if was_suppressed:
        await suppressions.suppress_moved(session, actor, contact, "new address of a suppressed contact")
    old, new = audit.changed(before, audited(contact))
    new = {**new, "released": [str(one) for one in released]} if released else new
    await audit.record(session, actor, "change", f"contact {contact_id}", old, new)
    return contact


async def remove(session: AsyncSession, actor: Actor, contact_id: UUID) -> None:
    """Delete a contact and those merged into it; the audit keeps its fields."""
    contact = await get(session, actor, contact_id, lock=True)
    group = or_(Contact.id == contact_id, Contact.merged_into_id == contact_id)
    deleted = [str(one) for one in await session.scalars(delete(Contact).where(group).returning(Contact.id))]
    merged = sorted(set(deleted) - {str(contact_id)})
    before = {**audited(contact), **({"merged": merged} if merged else {})}
    await audit.record(session, actor, "delete", f"contact {contact_id}", before)


async def duplicates(
    session: AsyncSession, tenant_id: UUID, by: DuplicateKey, *, after: str | None = None, limit: int = 50
) -> list[DuplicateGroup]:
    """Return groups of contacts with the same email address or phone number, in its order, without archived ones."""
    column = Contact.email if by == "email" else Contact.phone
    groups = (
        select(
            column.label("value"),
            func.count().label("contacts"),
            func.count(Contact.domain_id.distinct()).label("domains"),
            func.array_agg(Contact.id).label("ids"),
        )
        .where(Contact.tenant_id == tenant_id, column.is_not(None), Contact.curation_status != Curation.ARCHIVED)
        .group_by(column)
        .having(func.count() > 1)
        .order_by(column)
        .limit(limit)
    )
    if after is not None:
        groups = groups.where(column > after)
    rows = await session.execute(groups)
    return [DuplicateGroup(row.value, row.contacts, row.domains, sorted(row.ids)[:MAX_GROUP_IDS]) for row in rows]


async def by_ids(session: AsyncSession, tenant_id: UUID, ids: Sequence[UUID]) -> dict[UUID, Contact]:
    """Return the contacts with these ids, by id."""
    rows = await session.scalars(select(Contact).where(Contact.tenant_id == tenant_id, one_of(Contact.id, ids)))
    return {row.id: row for row in rows}


async def get(session: AsyncSession, actor: Actor, contact_id: UUID, lock: bool = False) -> Contact:
    """Return a contact of the tenant; raise UnknownRow if there is none with this id."""
    found: Contact = await lists.get(session, CONTACTS, actor.tenant_id, contact_id, lock)
    return found


async def flush(session: AsyncSession, contact: Contact) -> None:
    """Write the contact, and read the columns that the database computes."""
    await session.flush()
    await session.refresh(contact)


def identity_of(values: Mapping[str, Any]) -> str:
    """Return the identity by the first identifying field that has a value; raise ContactWithoutIdentity if none has."""
    for name, prefix in IDENTITY_PREFIXES.items():
        if value := values.get(name):
            return person_identity(value) if name == "name" else f"{prefix}:{value.casefold()[:MAX_IDENTITY]}"
    raise ContactWithoutIdentity("Give at least one of them.")


def audited(contact: Contact) -> dict[str, Any]:
    """Return the columns of a contact that the audit keeps, as JSON holds them."""
    columns = (*FACTS, "identity", "domain_id", "page_id", "business_id", "curation_status", "merged_into_id")
    values = {column: getattr(contact, column) for column in columns}
    return {
        name: str(value) if isinstance(value, UUID) else value for name, value in values.items() if value is not None
    }


async def _with_name_parts(
    session: AsyncSession, values: Mapping[str, Any], domain_id: UUID | None
) -> ItemsView[str, Any]:
    """Return the fields with the parts of a written name; parts that a person gives are taken as given."""
    if "name" not in values or all(part in values for part in NAME_PARTS):
        return values.items()
    from scrapersky.extract.people.name_parts import split_written_name  # the lists of names take 12 MB

    country = await session.scalar(select(Domain.country).where(Domain.id == domain_id)) if domain_id else None
    parts = split_written_name(values["name"] or "", country or "")
    return {**{name: part or None for name, part in parts._asdict().items()}, **values}.items()


def _clear_verdict(contact: Contact) -> None:
    """Clear the verdict of the former address, and queue the verification again if there was one."""
    contact.verdict, contact.verification = None, None
    if contact.contact_verification_status != Status.NEW:
        contact.contact_verification_status = Status.QUEUED


async def _refuse_duplicate(session: AsyncSession, contact: Contact, email: str | None) -> None:
    """Raise ContactExists if another contact of the domain has this email address."""
    same = select(Contact.id).where(
        Contact.tenant_id == contact.tenant_id,
        Contact.domain_id.is_not_distinct_from(contact.domain_id),
        Contact.email == email,
        Contact.id != contact.id,
        Contact.merged_into_id.is_(None),
    )
    if email is not None and (existing := (await session.scalars(same.limit(1))).first()):
        raise ContactExists(existing, "Merge the two, or give another address.")


async def _existing(session: AsyncSession, actor: Actor, domain_id: UUID | None, identity: str) -> UUID:
    rows = await session.scalars(
        select(Contact.id).where(
            Contact.tenant_id == actor.tenant_id,
            Contact.domain_id.is_not_distinct_from(domain_id),
            Contact.identity == identity,
        )
    )
    return rows.one()
