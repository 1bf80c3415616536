"""Merging two contacts into one."""

from uuid import UUID

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions import curation
from scrapersky.core import clock
from scrapersky.core.contact_fields import FACTS, NAME_PARTS
from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.vocabularies import Curation
from scrapersky.models import Contact
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts.edit import audited, flush, get
from scrapersky.store.listing.resources import CONTACTS
from scrapersky.store.privacy import suppressions


class NothingToMerge(ScraperSkyError):
    """A contact can be merged neither with itself nor with one that was merged before."""

    status_code = 422
    fields = ("keep", "merge")


async def merge(session: AsyncSession, actor: Actor, keep_id: UUID, other_id: UUID) -> Contact:
    """Fill the kept contact from the other one, which is archived and points to it; return the kept one.

    The curation of the kept contact stays; if it is New, that of the other one is taken with its effects. Waiting work
    of the other one is withdrawn, and contacts merged into it point to the kept one.
    """
    keep, other = await _locked(session, actor, keep_id, other_id)
    before = {"kept": audited(keep), "merged": audited(other)}
    was_suppressed = bool(keep.suppressed_at or other.suppressed_at)
    decision = _decision(keep, other)
    _fill(keep, other)
    await flush(session, keep)
    await _archive(session, actor, keep, other)
    if decision is not None:
        await curation.curate(session, CONTACTS, actor, [keep_id], decision, is_audited=False)
        await session.refresh(keep)
    if was_suppressed:
        await suppressions.suppress_moved(session, actor, keep, "merged with a suppressed contact")
    kept, merged = audit.changed(before["kept"], audited(keep)), audit.changed(before["merged"], audited(other))
    sides = ({"kept": one, "merged": {"id": str(other_id), **two}} for one, two in zip(kept, merged, strict=True))
    await audit.record(session, actor, "merge", f"contact {keep_id}", *sides)
    return keep


async def _locked(session: AsyncSession, actor: Actor, keep_id: UUID, other_id: UUID) -> tuple[Contact, Contact]:
    """Lock both contacts in the order of their ids, so that two merges never deadlock."""
    if keep_id == other_id:
        raise NothingToMerge("Give two different ids.")
    await suppressions.lock_tenant(session, actor.tenant_id)
    locked = {one: await get(session, actor, one, lock=True) for one in sorted((keep_id, other_id))}
    if any(contact.merged_into_id for contact in locked.values()):
        raise NothingToMerge("One of them was merged into another contact before.")
    return locked[keep_id], locked[other_id]


def _decision(keep: Contact, other: Contact) -> Curation | None:
    """Return the curation to apply to the kept contact; Selected is applied again for the fields it gets."""
    if keep.curation_status == Curation.NEW:
        return Curation(other.curation_status) if other.curation_status != Curation.NEW else None
    return Curation.SELECTED if keep.curation_status == Curation.SELECTED else None


def _fill(keep: Contact, other: Contact) -> None:
    """Fill empty fields; what follows from the email address is taken only if both have the same address."""
    profiles = {**(other.profiles or {}), **(keep.profiles or {})}
    has_same_name = keep.name is None or keep.name == other.name
    for name in FACTS:
        if getattr(keep, name) is None and (has_same_name or name not in NAME_PARTS):
            setattr(keep, name, getattr(other, name))
    keep.profiles = profiles or None
    if keep.email == other.email:
        keep.email_kind = keep.email_kind or other.email_kind
        if keep.verdict is None:
            keep.verdict, keep.verification = other.verdict, other.verification
    keep.edited_at = clock.now()


async def _archive(session: AsyncSession, actor: Actor, keep: Contact, other: Contact) -> None:
    """Archive the other contact with its waiting work, then point it to the kept one."""
    await curation.curate(session, CONTACTS, actor, [other.id], Curation.ARCHIVED, is_audited=False)
    await session.execute(update(Contact).where(Contact.merged_into_id == other.id).values(merged_into_id=keep.id))
    await session.refresh(other)
    other.merged_into_id = keep.id
    await flush(session, other)
