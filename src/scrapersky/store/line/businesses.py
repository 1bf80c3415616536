"""Queries about local businesses."""

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
from scrapersky.store.operations.queue_rows import one_of
from scrapersky.store.steps import AdvanceRules, step_after

# The columns that a deep scan writes. Curation, priority, profiles and the queues of later steps are not among them.
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
CLOSED = ("CLOSED_PERMANENTLY", "PERMANENTLY_CLOSED")  # as providers and imported files spell it
CLOSED_REASON = "permanently closed"
NEXT = step_after("deep_scan")


class ScannedBusiness(NamedTuple):
    """A business that was scanned; neither it nor its place was rejected by a person."""

    id: UUID
    place_id: UUID
    search_id: UUID | None
    is_closed: bool  # permanently, and no person has selected it

    def may_go_on(self, rules: AdvanceRules) -> bool:
        """Return whether no rule about closed businesses holds it back."""
        return not self.is_closed or rules.permanently_closed == "all"


async def upsert(session: AsyncSession, scanned: Sequence[tuple[Place, PlaceDetails]]) -> list[ScannedBusiness]:
    """Insert or update the business of each place; a fact that the provider no longer has is kept.

    Return those that were not rejected.
    """
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
            LocalBusiness.business_status,
        )
    )
    rejected = {place.id for place, _ in scanned if place.curation_status in REJECTED}
    return [
        ScannedBusiness(row.id, row.place_id, row.search_id, _is_closed(row.business_status, row.curation_status))
        for row in rows
        if row.curation_status not in REJECTED and row.place_id not in rejected
    ]


async def skip_closed(
    session: AsyncSession, scanned: Sequence[ScannedBusiness], rules: Mapping[UUID | None, AdvanceRules]
) -> None:
    """Set the next step of closed businesses that the rules hold back to Skipped; selecting one opens it again."""
    closed = [
        one.id
        for one in scanned
        if not one.may_go_on(rules[one.search_id]) and rules[one.search_id].value_of(NEXT) != "off"
    ]
    if closed:
        status = getattr(LocalBusiness, f"{NEXT.queue}_status")
        await session.execute(
            update(LocalBusiness)
            .where(one_of(LocalBusiness.id, closed), status == Status.NEW)
            .values({status: Status.SKIPPED, f"{NEXT.queue}_error": CLOSED_REASON})
        )


def _is_closed(business_status: str | None, curation_status: Curation) -> bool:
    word = (business_status or "").strip().upper().replace(" ", "_")
    return word in CLOSED and curation_status != Curation.SELECTED


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
