"""Named queries about local businesses."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.ids import new_id
from scrapersky.core.status import UNWANTED
from scrapersky.models import LocalBusiness, Place
from scrapersky.providers.place import PlaceDetails

# What a scan knows. Curation, priority, profiles and the state of later steps are other people's columns.
FACTS = (
    "name",
    "address",
    "street",
    "city",
    "region",
    "postcode",
    "country",
    "latitude",
    "longitude",
    "timezone",
    "phone",
    "website",
    "categories",
    "rating",
    "rating_count",
    "price_level",
    "hours",
    "business_status",
)


class Wanted(NamedTuple):
    """A business that nobody has turned down, nor the place it was."""

    id: UUID
    search_id: UUID | None
    website: str | None


async def upsert(session: AsyncSession, scanned: Sequence[tuple[Place, PlaceDetails]]) -> list[Wanted]:
    """One business per place: facts refreshed, a fact the provider no longer knows kept. Returns those still wanted."""
    statement = insert(LocalBusiness).values([_values(place, details) for place, details in scanned])
    refreshed = {fact: func.coalesce(statement.excluded[fact], getattr(LocalBusiness, fact)) for fact in FACTS}
    rows = await session.execute(
        statement.on_conflict_do_update(
            index_elements=["tenant_id", "place_id"],
            set_={
                **refreshed,
                "search_id": statement.excluded.search_id,
                "details": statement.excluded.details,
                "updated_at": func.now(),
            },
        ).returning(
            LocalBusiness.id,
            LocalBusiness.place_id,
            LocalBusiness.curation_status,
            LocalBusiness.search_id,
            LocalBusiness.website,
        )
    )
    turned_down = {place.id for place, _ in scanned if place.curation_status in UNWANTED}
    return [
        Wanted(row.id, row.search_id, row.website)
        for row in rows
        if row.curation_status not in UNWANTED and row.place_id not in turned_down
    ]


def _values(place: Place, details: PlaceDetails) -> dict[str, Any]:
    facts = {fact: getattr(details, fact) for fact in FACTS}
    return {
        **facts,
        "categories": list(details.categories),
        "hours": dict(details.hours) if details.hours is not None else None,
        "details": dict(details.extra) or None,
        "id": new_id(),
        "tenant_id": place.tenant_id,
        "place_id": place.id,
        "search_id": place.search_id,
    }
