"""Named queries about contacts that people write, change, merge and delete by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock
from scrapersky.core.errors import Conflict, ScraperSkyError
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.models import Contact
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts import owner as contact_owners
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import CONTACTS
from scrapersky.store.operations.queue_rows import among
from scrapersky.store.privacy import suppressions

# What a person may write; the first that is there tells who the contact is.
FACTS = ("name", "title", "email", "phone", "fax", "address", "profiles")
IDENTITIES = {"email": "email", "name": "person", "phone": "phone", "fax": "fax", "address": "address"}
MEMBERS = 50  # contacts of one group of duplicates that are named

Same = Literal["email", "phone"]


class NobodyThere(ScraperSkyError):
    """A contact needs an email address, a name, a phone number or a postal address."""

    status_code = 422
    fields = ("email", "name", "phone", "address")


class AlreadyThere(Conflict):
    """This contact is there already."""

    def __init__(self, known: UUID, cure: str = "Change that one, or give another domain.") -> None:
        super().__init__(cure)
        self.members = {"id": str(known)}


class ChangedMeanwhile(Conflict):
    """Somebody has changed this contact meanwhile."""


class MergedAway(Conflict):
    """This contact was merged into another one."""

    def __init__(self, kept: UUID) -> None:
        super().__init__(f"Change {kept}, which stands for it.")
        self.members = {"id": str(kept)}


@dataclass(frozen=True)
class Group:
    """Contacts that share an address or a number."""

    value: str
    contacts: int
    domains: int
    ids: list[UUID]


async def create(session: AsyncSession, actor: Actor, written: Mapping[str, Any], auto_queue: bool = False) -> Contact:
    """A contact somebody wrote down, verified next if so wished; AlreadyThere if its domain has it.

    Its domain is that of its page or of its address, unless another one is named: a later run finds the same contact.
    """
    written = await contact_owners.owned(session, actor, written)
    await suppressions.refuse_erased(session, actor.tenant_id, suppressions.ways_of(written))
    identity = identity_of(written)
    made = await session.scalar(
        insert(Contact)
        .values(
            **written,
            id=new_id(),
            tenant_id=actor.tenant_id,
            identity=identity,
            found_by="written by hand",
            confidence=1.0,
            edited_at=func.now(),
            contact_verification_status=Status.QUEUED if auto_queue else Status.NEW,
        )
        .on_conflict_do_nothing()
        .returning(Contact.id)
    )
    if made is None:
        raise AlreadyThere(await _known(session, actor, written["domain_id"], identity))
    contact = await get(session, actor, made)
    await audit.record(session, actor, "create", f"contact {made}", None, shown(contact))
    return contact


async def change(
    session: AsyncSession, actor: Actor, contact_id: UUID, changes: Mapping[str, Any], seen: datetime | None
) -> Contact:
    """Write facts anew. Its identity stays: a later run finds the same row, and keeps what the person wrote."""
    await suppressions.alone(session, actor.tenant_id)
    contact = await get(session, actor, contact_id, lock=True)
    if contact.merged_into_id is not None:
        raise MergedAway(contact.merged_into_id)
    if seen is not None and contact.updated_at != seen:
        raise ChangedMeanwhile(f"It was changed at {contact.updated_at.isoformat()}. Read it again, then decide.")
    await suppressions.refuse_erased(session, actor.tenant_id, suppressions.ways_of(changes))
    before, was_suppressed = shown(contact), contact.suppressed_at is not None
    contact.seen_at = contact.edited_at = clock.now()
    if "email" in changes and changes["email"] != contact.email:
        await _refuse_twin(session, contact, changes["email"])
        _forget_verdict(contact)
        contact.email_kind = await contact_owners.email_kind(session, changes["email"], contact.domain_id)
    for fact, value in changes.items():
        setattr(contact, fact, value)
    if not any(getattr(contact, fact) for fact in (*IDENTITIES, "profiles")):
        raise NobodyThere("Delete it instead.")
    await flush(session, contact)
    if was_suppressed:
        await suppressions.follow(session, actor, contact, "new address of a suppressed contact")
    await audit.record(session, actor, "change", f"contact {contact_id}", *audit.changed(before, shown(contact)))
    return contact


async def remove(session: AsyncSession, actor: Actor, contact_id: UUID) -> None:
    """Delete a contact, and those that were merged into it: they are the same one. The audit keeps what it was."""
    contact = await get(session, actor, contact_id, lock=True)
    its = or_(Contact.id == contact_id, Contact.merged_into_id == contact_id)
    gone = [str(one) for one in await session.scalars(delete(Contact).where(its).returning(Contact.id))]
    merged = sorted(set(gone) - {str(contact_id)})
    before = {**shown(contact), **({"merged": merged} if merged else {})}
    await audit.record(session, actor, "delete", f"contact {contact_id}", before)


async def duplicates(
    session: AsyncSession, tenant_id: UUID, by: Same, *, after: str | None = None, limit: int = 50
) -> list[Group]:
    """Contacts with the same address or number, in the order of that; archived ones do not count."""
    column = Contact.email if by == "email" else Contact.phone
    wanted = (
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
        wanted = wanted.where(column > after)
    rows = await session.execute(wanted)
    return [Group(row.value, row.contacts, row.domains, sorted(row.ids)[:MEMBERS]) for row in rows]


async def by_ids(session: AsyncSession, tenant_id: UUID, ids: Sequence[UUID]) -> dict[UUID, Contact]:
    """The contacts of these ids in one query."""
    rows = await session.scalars(select(Contact).where(Contact.tenant_id == tenant_id, among(Contact.id, ids)))
    return {row.id: row for row in rows}


async def get(session: AsyncSession, actor: Actor, contact_id: UUID, lock: bool = False) -> Contact:
    """One contact of the tenant, or UnknownRow."""
    found: Contact = await lists.get(session, CONTACTS, actor.tenant_id, contact_id, lock)
    return found


def _forget_verdict(contact: Contact) -> None:
    """Another address: what was found out about the old one no longer holds, and a verified one is verified again."""
    contact.verdict, contact.verification = None, None
    if contact.contact_verification_status != Status.NEW:
        contact.contact_verification_status = Status.QUEUED


async def flush(session: AsyncSession, contact: Contact) -> None:
    """Write it, and read what the database made of it."""
    await session.flush()
    await session.refresh(contact)


async def _refuse_twin(session: AsyncSession, contact: Contact, email: str | None) -> None:
    """An address that the domain has already is another contact: the two would have to be merged."""
    twin = select(Contact.id).where(
        Contact.tenant_id == contact.tenant_id,
        Contact.domain_id.is_not_distinct_from(contact.domain_id),
        Contact.email == email,
        Contact.id != contact.id,
        Contact.merged_into_id.is_(None),
    )
    if email is not None and (known := (await session.scalars(twin.limit(1))).first()):
        raise AlreadyThere(known, "Merge the two, or give another address.")


async def _known(session: AsyncSession, actor: Actor, domain_id: UUID | None, identity: str) -> UUID:
    rows = await session.scalars(
        select(Contact.id).where(
            Contact.tenant_id == actor.tenant_id,
            Contact.domain_id.is_not_distinct_from(domain_id),
            Contact.identity == identity,
        )
    )
    return rows.one()


def identity_of(written: Mapping[str, Any]) -> str:
    """Who a contact is, by the first of its facts that tells; NobodyThere if none does."""
    for fact, sort in IDENTITIES.items():
        if value := written.get(fact):
            return f"{sort}:{value.casefold()[:300]}"
    raise NobodyThere("Give at least one of them.")


def shown(contact: Contact) -> dict[str, Any]:
    """A contact as the audit keeps it."""
    columns = (*FACTS, "identity", "domain_id", "page_id", "business_id", "curation_status", "merged_into_id")
    values = {column: getattr(contact, column) for column in columns}
    there = {name: value for name, value in values.items() if value is not None}
    return {name: str(value) if isinstance(value, UUID) else value for name, value in there.items()}
