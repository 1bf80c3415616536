"""Named queries that make one contact of two."""

from uuid import UUID

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions import curation
from scrapersky.core import clock
from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.vocabularies import Curation
from scrapersky.models import Contact
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts.edit import FACTS, flush, get, shown
from scrapersky.store.listing.resources import CONTACTS
from scrapersky.store.privacy import suppressions


class NothingToMerge(ScraperSkyError):
    """A contact cannot be merged with itself, nor one that was merged before."""

    status_code = 422
    fields = ("keep", "merge")


async def merge(session: AsyncSession, actor: Actor, keep_id: UUID, other_id: UUID) -> Contact:
    """The kept one is filled up from the other, which is archived and points to it: a later run revives nobody.

    The kept one's curation stands; only if nobody has decided about it, the other's is taken, with what follows from
    it. Work that waits for the other one is taken back, and who was merged into it belongs to the kept one now.
    """
    keep, other = await _both(session, actor, keep_id, other_id)
    before = {"kept": shown(keep), "merged": shown(other)}
    was_suppressed = bool(keep.suppressed_at or other.suppressed_at)
    decision = _decision(keep, other)
    _fill_up(keep, other)
    await flush(session, keep)
    await _put_away(session, actor, keep, other)
    if decision is not None:
        await curation.curate(session, CONTACTS, actor, [keep_id], decision, is_told=False)
        await session.refresh(keep)
    if was_suppressed:
        await suppressions.follow(session, actor, keep, "merged with a suppressed contact")
    kept, merged = audit.changed(before["kept"], shown(keep)), audit.changed(before["merged"], shown(other))
    told = ({"kept": one, "merged": {"id": str(other_id), **two}} for one, two in zip(kept, merged, strict=True))
    await audit.record(session, actor, "merge", f"contact {keep_id}", *told)
    return keep


async def _both(session: AsyncSession, actor: Actor, keep_id: UUID, other_id: UUID) -> tuple[Contact, Contact]:
    """The two as they stand, locked in one order for all, so that two merges never wait in a ring."""
    if keep_id == other_id:
        raise NothingToMerge("Give two different ids.")
    await suppressions.alone(session, actor.tenant_id)
    locked = {one: await get(session, actor, one, lock=True) for one in sorted((keep_id, other_id))}
    if any(contact.merged_into_id for contact in locked.values()):
        raise NothingToMerge("One of them was merged into another contact before.")
    return locked[keep_id], locked[other_id]


def _decision(keep: Contact, other: Contact) -> Curation | None:
    """What is decided about the kept one by the merge, or holds for what it gets by it; nothing is None."""
    if keep.curation_status == Curation.NEW:
        return Curation(other.curation_status) if other.curation_status != Curation.NEW else None
    return Curation.SELECTED if keep.curation_status == Curation.SELECTED else None


def _fill_up(keep: Contact, other: Contact) -> None:
    for fact in FACTS:
        if fact != "profiles" and getattr(keep, fact) is None:
            setattr(keep, fact, getattr(other, fact))
    keep.profiles = {**(other.profiles or {}), **(keep.profiles or {})} or None
    if keep.email == other.email:
        keep.email_kind = keep.email_kind or other.email_kind
        if keep.verdict is None:
            keep.verdict, keep.verification = other.verdict, other.verification
    keep.edited_at = clock.now()


async def _put_away(session: AsyncSession, actor: Actor, keep: Contact, other: Contact) -> None:
    """Archive the other with all that waits for it, while it stands for itself; then it points to the kept one."""
    await curation.curate(session, CONTACTS, actor, [other.id], Curation.ARCHIVED, is_told=False)
    await session.execute(update(Contact).where(Contact.merged_into_id == other.id).values(merged_into_id=keep.id))
    await session.refresh(other)
    other.merged_into_id = keep.id
    await flush(session, other)
