"""Statements that undo what reading pages has merged into a contact by rule, when a person decides otherwise."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import exists, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.contact_fields import BY_HAND
from scrapersky.core.vocabularies import Curation
from scrapersky.extract.matching.person_names import fit, read_name
from scrapersky.models import Contact
from scrapersky.store.contacts.rows import mailbox_identity


async def undo_by_edit(session: AsyncSession, contact: Contact, name: str | None, email: str | None) -> Sequence[UUID]:
    """Undo automatic merges after a person changed the name or the address, which were `name` and `email`.

    Another name is another person: contacts merged into this one are contacts of their own again, and their ids are
    returned. With another address the contact is known by that one, so that a page that gives the former address
    creates a contact of it. An edit of a contact that is from one page only changes nothing else.
    """
    if name and contact.name != name and not (contact.name and fit(read_name(contact.name), read_name(name))):
        return await release(session, contact)
    is_moved = email and contact.email != email and contact.identity == mailbox_identity(email)
    if is_moved and await _is_merged(session, contact):
        wanted = mailbox_identity(contact.email) if contact.email else ""
        contact.identity = await free_identity(session, contact, wanted)
    return ()


async def release(session: AsyncSession, contact: Contact, *, is_separate: bool = False) -> Sequence[UUID]:
    """Make the contacts that were merged into this one by rule contacts of their own again; return their ids."""
    released = await session.scalars(
        update(Contact)
        .where(Contact.merged_into_id == contact.id, Contact.is_merged_by_rule)
        .values(merged_into_id=None, is_merged_by_rule=False, is_separate=is_separate, curation_status=Curation.NEW)
        .returning(Contact.id)
    )
    return sorted(released)


async def _is_merged(session: AsyncSession, contact: Contact) -> bool:
    """Return whether the contact has values of several pages, or contacts that were merged into it by rule."""
    if any(source.get("found_by") != BY_HAND for source in (contact.sources or {}).values()):
        return True
    merged = exists().where(Contact.merged_into_id == contact.id, Contact.is_merged_by_rule)
    return bool(await session.scalar(select(merged)))


async def free_identity(session: AsyncSession, contact: Contact, identity: str) -> str:
    """Return the identity, or one by the id of the contact if it is empty or another contact of the domain has it."""
    taken = exists().where(
        Contact.tenant_id == contact.tenant_id,
        Contact.domain_id.is_not_distinct_from(contact.domain_id),
        Contact.identity == identity,
    )
    is_free = identity and not await session.scalar(select(taken))
    return identity if is_free else f"contact:{contact.id}"
