"""What each provider knows about a business."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, Select, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import LocalBusiness, Place
from scrapersky.store.operations.queue_rows import one_of


async def sources(session: AsyncSession, ids: Sequence[UUID]) -> list[RowMapping]:
    """Return the records with these ids, each with its place, in the order of the ids."""
    rows = await session.execute(_records().where(one_of(LocalBusiness.id, ids)))
    found = {row["id"]: row for row in rows.mappings()}
    return [found[each] for each in ids if each in found]


async def of_business(session: AsyncSession, business_id: UUID) -> list[RowMapping]:
    """Return all records of the business that this record is of, each with its place, the one that is shown first."""
    shown = select(func.coalesce(LocalBusiness.same_as_id, LocalBusiness.id)).where(LocalBusiness.id == business_id)
    shown_id = shown.scalar_subquery()
    of_group = or_(LocalBusiness.id == shown_id, LocalBusiness.same_as_id == shown_id)
    rows = await session.execute(_records().where(of_group).order_by(LocalBusiness.id))
    return list(rows.mappings())


def _records() -> Select[*tuple[Any, ...]]:
    columns = (
        LocalBusiness.id,
        LocalBusiness.same_as_id.is_(None).label("is_shown"),
        *(Place.provider, Place.provider_id, Place.licence, Place.expires_at),
        *(LocalBusiness.name, LocalBusiness.address, LocalBusiness.phone, LocalBusiness.website),
        *(LocalBusiness.same_reason, LocalBusiness.same_confidence, LocalBusiness.same_by),
    )
    return select(*columns).outerjoin(Place, Place.id == LocalBusiness.place_id)
