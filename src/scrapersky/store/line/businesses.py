"""Queries about local businesses."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import any_, case, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import REJECTED, Curation, Status, WebsiteHow
from scrapersky.models import LocalBusiness, Place
from scrapersky.providers.base import PlaceDetails
from scrapersky.store.operations.queue_rows import one_of
from scrapersky.store.steps import AdvanceRules, LineStep, step_after, step_named

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
SITE_SEARCH = step_named("site_search")
WITH_WEBSITE = step_after("site_search")  # the step that a business with a web site enters


class ScannedBusiness(NamedTuple):
    """A business that was scanned; neither it nor its place was rejected by a person."""

    id: UUID
    place_id: UUID
    search_id: UUID | None
    is_closed: bool  # permanently, and no person has selected it
    has_website: bool

    def may_go_on(self, rules: AdvanceRules) -> bool:
        """Return whether no rule about closed businesses holds it back."""
        return not self.is_closed or rules.permanently_closed == "all"

    def next_step(self, rules: AdvanceRules) -> LineStep:
        """Return the step it enters: the search for a web site only if it has none and the rules allow the search."""
        return WITH_WEBSITE if self.has_website or rules.value_of(SITE_SEARCH) == "off" else SITE_SEARCH


async def upsert(session: AsyncSession, scanned: Sequence[tuple[Place, PlaceDetails]]) -> list[ScannedBusiness]:
    """Insert or update the business of each place; a fact that the provider no longer has is kept.

    Return those that were not rejected.
    """
    statement = insert(LocalBusiness).values([_values(place, details) for place, details in scanned])
    refreshed = {fact: func.coalesce(statement.excluded[fact], getattr(LocalBusiness, fact)) for fact in FACTS}
    # A site that a person has set stays, and one that a person has rejected does not return.
    given = statement.excluded.website
    is_rejected = given == any_(LocalBusiness.rejected_websites)
    is_kept = given.is_(None) | (LocalBusiness.website_how == WebsiteHow.PERSON) | is_rejected
    rows = await session.execute(
        statement.on_conflict_do_update(
            index_elements=["tenant_id", "place_id"],
            set_={
                **refreshed,
                "website": case((is_kept, LocalBusiness.website), else_=given),
                "website_how": case((is_kept, LocalBusiness.website_how), else_=None),
                "website_confidence": case((is_kept, LocalBusiness.website_confidence), else_=None),
                "website_proof": case((is_kept, LocalBusiness.website_proof), else_=None),
                "search_id": statement.excluded.search_id,
                "details": statement.excluded.details,
                "expired_at": None,
                "updated_at": func.now(),
            },
        ).returning(
            LocalBusiness.id,
            LocalBusiness.place_id,
            LocalBusiness.curation_status,
            LocalBusiness.search_id,
            LocalBusiness.business_status,
            LocalBusiness.website,
        )
    )
    rejected = {place.id for place, _ in scanned if place.curation_status in REJECTED}
    return [
        ScannedBusiness(
            row.id,
            row.place_id,
            row.search_id,
            _is_closed(row.business_status, row.curation_status),
            row.website is not None,
        )
        for row in rows
        if row.curation_status not in REJECTED and row.place_id not in rejected
    ]


async def still_wanted(session: AsyncSession, scanned: Sequence[ScannedBusiness]) -> list[ScannedBusiness]:
    """Return those that are not rejected, either, after they took the decision about the business they joined."""
    rejected = select(LocalBusiness.id).where(
        one_of(LocalBusiness.id, [one.id for one in scanned]), LocalBusiness.curation_status.in_(REJECTED)
    )
    left = set(await session.scalars(rejected))
    return [one for one in scanned if one.id not in left]


async def skip_closed(
    session: AsyncSession, scanned: Sequence[ScannedBusiness], rules: Mapping[UUID | None, AdvanceRules]
) -> None:
    """Set the next step of closed businesses that the rules hold back to Skipped; selecting one opens it again."""
    closed: dict[LineStep, list[UUID]] = {}
    for one in scanned:
        step = one.next_step(rules[one.search_id])
        if not one.may_go_on(rules[one.search_id]) and rules[one.search_id].value_of(step) != "off":
            closed.setdefault(step, []).append(one.id)
    for step, ids in closed.items():
        status = getattr(LocalBusiness, f"{step.queue}_status")
        await session.execute(
            update(LocalBusiness)
            .where(one_of(LocalBusiness.id, ids), status == Status.NEW)
            .values({status: Status.SKIPPED, f"{step.queue}_error": CLOSED_REASON})
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
