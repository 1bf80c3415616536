"""What each provider knows about a business."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import RowMapping, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import LocalBusiness, Place
from scrapersky.store.operations.queue_rows import one_of


async def sources(session: AsyncSession, ids: Sequence[UUID]) -> list[RowMapping]:
    """Return the records with these ids, each with its place, in the order of the ids."""
    columns = (
        LocalBusiness.id,
        LocalBusiness.same_as_id.is_(None).label("is_shown"),
        *(Place.provider, Place.provider_id, Place.licence, Place.expires_at),
        *(LocalBusiness.name, LocalBusiness.address, LocalBusiness.phone, LocalBusiness.website),
        *(LocalBusiness.same_reason, LocalBusiness.same_confidence, LocalBusiness.same_by),
    )
    wanted = select(*columns).outerjoin(Place, Place.id == LocalBusiness.place_id)
    rows = await session.execute(wanted.where(one_of(LocalBusiness.id, ids)))
    found = {row["id"]: row for row in rows.mappings()}
    return [found[each] for each in ids if each in found]
