"""Named queries about local businesses."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import func, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import REJECTED, Curation, Status
from scrapersky.models import LocalBusiness, Place
from scrapersky.providers.base import PlaceDetails
from scrapersky.store.line.advance_rules import AdvanceRules
from scrapersky.store.operations.queue_rows import among

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
CLOSED = ("CLOSED_PERMANENTLY", "PERMANENTLY_CLOSED")  # as providers and people's files say it
WHY_SET_ASIDE = "permanently closed"


class Wanted(NamedTuple):
    """A business that nobody has turned down, nor the place it was."""

    id: UUID
    place_id: UUID
    search_id: UUID | None
    website: str | None
    is_closed: bool  # for good, and nobody has chosen it all the same

    def fits(self, rules: AdvanceRules) -> bool:
        """Whether it goes on by itself."""
        if self.is_closed and rules.permanently_closed == "off":
            return False
        return rules.domain_extraction == "all" or (rules.domain_extraction != "off" and bool(self.website))


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
            LocalBusiness.business_status,
        )
    )
    turned_down = {place.id for place, _ in scanned if place.curation_status in REJECTED}
    return [
        Wanted(row.id, row.place_id, row.search_id, row.website, _is_closed(row.business_status, row.curation_status))
        for row in rows
        if row.curation_status not in REJECTED and row.place_id not in turned_down
    ]


async def set_aside(session: AsyncSession, wanted: Sequence[Wanted], rules: Mapping[UUID | None, AdvanceRules]) -> None:
    """Businesses that are closed for good are through with the next step before it begins, with the reason; whoever
    selects one opens it again."""
    closed = [one.id for one in wanted if one.is_closed and _is_held(rules[one.search_id])]
    if not closed:
        return
    await session.execute(
        update(LocalBusiness)
        .where(among(LocalBusiness.id, closed), LocalBusiness.domain_extraction_status == Status.NEW)
        .values(domain_extraction_status=Status.SKIPPED, domain_extraction_error=WHY_SET_ASIDE)
    )


def _is_held(rules: AdvanceRules) -> bool:
    """Whether it is for being closed that a business does not go on."""
    return rules.permanently_closed == "off" and rules.domain_extraction != "off"


def _is_closed(business_status: str | None, curation_status: Curation) -> bool:
    said = (business_status or "").strip().upper().replace(" ", "_")
    return said in CLOSED and curation_status != Curation.SELECTED


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
