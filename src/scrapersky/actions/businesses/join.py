"""Joining records of one business by hand, and splitting a record off for good."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.vocabularies import JoinedBy
from scrapersky.extract.matching.groups import MAX_RECORDS
from scrapersky.models import LocalBusiness
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.line import same_business
from scrapersky.store.listing.paginate import UnknownRow


class NothingToJoin(ScraperSkyError):
    """These records are one business already, or would be one of too many records."""

    status_code = 422
    fields = ("business", "other")


class OneRecord(ScraperSkyError):
    """This business has one record only."""

    status_code = 422


async def join(session: AsyncSession, actor: Actor, business_id: UUID, other_id: UUID) -> list[LocalBusiness]:
    """Make two businesses one, with all their records; return the records, the one that is shown first.

    A former split of them is forgotten. Raises UnknownRow or NothingToJoin.
    """
    await same_business.lock(session, actor.tenant_id)
    groups = {one: await records_of(session, actor, one, lock=True) for one in sorted((business_id, other_id))}
    first, second = groups[business_id], groups[other_id]
    if first[0].id == second[0].id:
        raise NothingToJoin(f"{first[0].name!r} and {second[0].name!r} are one business already.")
    if len(first) + len(second) > MAX_RECORDS:
        raise NothingToJoin(f"A business has up to {MAX_RECORDS} records, these have {len(first) + len(second)}.")
    records = sorted((*first, *second), key=lambda one: one.id)
    ids = {one.id for one in records}
    before = [_audited(one) for one in records]
    shown, joined = records[0], max(first[0], second[0], key=lambda one: one.id)
    for one in records:
        one.separate_from = [each for each in one.separate_from if each not in ids]
        one.same_as_id = shown.id if one is not shown else None
        one.updated_at = func.now()
    joined.same_reason, joined.same_confidence, joined.same_by = f"joined by {actor.name}", 1.0, JoinedBy.PERSON
    await session.flush()
    await same_business.share_decision(session, actor.tenant_id, [shown.id])
    await _save(session, actor, "join", business_id, records, before)
    return records


async def split(session: AsyncSession, actor: Actor, business_id: UUID) -> list[LocalBusiness]:
    """Make a record a business of its own, which no rule joins with its former others; those stay together.

    Return the former records of the business, the one that was split off first. Raises UnknownRow or OneRecord.
    """
    await same_business.lock(session, actor.tenant_id)
    records = await records_of(session, actor, business_id, lock=True)
    if len(records) == 1:
        raise OneRecord(f"{records[0].name!r} has one record only: there is nothing to split.")
    before = [_audited(one) for one in records]
    off = next(one for one in records if one.id == business_id)
    others = [one for one in records if one is not off]
    off.separate_from = sorted({*off.separate_from, *(one.id for one in others)})
    off.same_as_id = off.same_reason = off.same_confidence = off.same_by = None
    shown = others[0]
    shown.same_as_id = shown.same_reason = shown.same_confidence = shown.same_by = None
    for one in others[1:]:
        one.same_as_id = shown.id
    for one in records:
        one.updated_at = func.now()
    await _save(session, actor, "split", business_id, records, before)
    return [off, *others]


async def records_of(
    session: AsyncSession, actor: Actor, business_id: UUID, *, lock: bool = False
) -> list[LocalBusiness]:
    """Return all records of the business that this record is of, the one that is shown first. Raises UnknownRow."""
    own = LocalBusiness.tenant_id == actor.tenant_id
    shown = select(func.coalesce(LocalBusiness.same_as_id, LocalBusiness.id)).where(
        LocalBusiness.id == business_id, own
    )
    shown_id = await session.scalar(shown)
    if shown_id is None:
        raise UnknownRow(f"You have no businesses with the id {business_id}.")
    of_group = or_(LocalBusiness.id == shown_id, LocalBusiness.same_as_id == shown_id)
    wanted = select(LocalBusiness).where(of_group, own).order_by(LocalBusiness.id)
    return list(await session.scalars(wanted.with_for_update(key_share=True) if lock else wanted))


async def _save(
    session: AsyncSession,
    actor: Actor,
    action: str,
    business_id: UUID,
    records: Sequence[LocalBusiness],
    before: Sequence[dict[str, Any]],
) -> None:
    await session.flush()
    for one in records:
        await session.refresh(one)
    sides = ({"records": each} for each in (before, [_audited(one) for one in records]))
    await audit.record(session, actor, action, f"business {business_id}", *sides)


def _audited(record: LocalBusiness) -> dict[str, Any]:
    return {
        "id": str(record.id),
        "same_as": str(record.same_as_id) if record.same_as_id else None,
        "reason": record.same_reason,
        "curation_status": record.curation_status,
        "separate_from": [str(each) for each in record.separate_from],
    }
