"""Queries about places and the searches that found them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import REJECTED, Status
from scrapersky.models import Place, Search, SearchPlace
from scrapersky.providers.base import MOVED_TO, PlaceDetails

# The columns that a search writes. Curation, priority and the queue of the deep scan are not among them.
FACTS = ("name", "address", "latitude", "longitude", "phone", "website", "categories", "rating", "rating_count")
STAMPS = ("business_status", "licence", "fetched_at", "expires_at")
ROWS_PER_STATEMENT = 500
DETAILS_VALIDITY = timedelta(days=1)  # how long details from a search are used without a call for them
# Not copied to `details`: they have columns of their own.
NOT_DETAILS = {"provider", "provider_id", "fetched_at", "expires_at"}


async def upsert(session: AsyncSession, search: Search, found: Sequence[PlaceDetails]) -> list[UUID]:
    """Insert or update the places and link them to the search; return the ids of those not rejected."""
    wanted: list[UUID] = []
    unique = {(place.provider, place.provider_id): place for place in found}
    places = [unique[key] for key in sorted(unique)]  # one lock order for all hosts prevents deadlocks
    for start in range(0, len(places), ROWS_PER_STATEMENT):
        wanted += await _upsert(session, search, places[start : start + ROWS_PER_STATEMENT])
    return wanted


async def _upsert(session: AsyncSession, search: Search, places: Sequence[PlaceDetails]) -> list[UUID]:
    statement = insert(Place).values([_values(search, place) for place in places])
    facts = {fact: func.coalesce(statement.excluded[fact], getattr(Place, fact)) for fact in FACTS}
    stamps = {stamp: statement.excluded[stamp] for stamp in STAMPS}
    rows = (
        await session.execute(
            statement.on_conflict_do_update(
                index_elements=["tenant_id", "provider", "provider_id"],
                set_={
                    **facts,
                    **stamps,
                    "details": statement.excluded.details,
                    "search_id": statement.excluded.search_id,
                    "updated_at": func.now(),
                },
            ).returning(Place.id, Place.curation_status)
        )
    ).all()
    await session.execute(
        insert(SearchPlace)
        .values([{"search_id": search.id, "place_id": row.id, "tenant_id": search.tenant_id} for row in rows])
        .on_conflict_do_update(index_elements=["search_id", "place_id"], set_={"seen_at": func.now()})
    )
    return [row.id for row in rows if row.curation_status not in REJECTED]


async def follow(session: AsyncSession, scanned: Sequence[tuple[Place, PlaceDetails]]) -> None:
    """Queue the new place of each business that moved, for the same search, unless the place is known already.

    The old place stays, closed, with the id of the new one in its details.
    """
    moved = {str(details.extra[MOVED_TO]): place for place, details in scanned if MOVED_TO in details.extra}
    wanted = {to: place for to, place in sorted(moved.items()) if place.curation_status not in REJECTED}
    if not wanted:
        return
    rows = await session.execute(
        insert(Place)
        .values([_moved_place(place, to) for to, place in wanted.items()])
        .on_conflict_do_nothing(index_elements=["tenant_id", "provider", "provider_id"])
        .returning(Place.id, Place.search_id, Place.tenant_id)
    )
    links = [{"search_id": row.search_id, "place_id": row.id, "tenant_id": row.tenant_id} for row in rows]
    if found := [link for link in links if link["search_id"] is not None]:
        await session.execute(insert(SearchPlace).values(found).on_conflict_do_nothing())


def _moved_place(place: Place, to: str) -> dict[str, Any]:
    same = {name: getattr(place, name) for name in ("tenant_id", "search_id", "provider", "name", "curation_status")}
    terms = {"licence": place.licence, "expires_at": place.expires_at}  # they apply to the name, too
    return {**same, **terms, "id": new_id(), "provider_id": to, "deep_scan_status": Status.QUEUED}


def refresh(scanned: Sequence[tuple[Place, PlaceDetails]]) -> None:
    """Write the facts and the expiry date of places whose details were fetched from the provider."""
    for place, details in scanned:
        if details.fetched_at is None:  # details of the search itself: the provider was not called
            continue
        for fact in FACTS:
            known = getattr(details, fact)
            if known is not None and known != ():
                setattr(place, fact, list(known) if fact == "categories" else known)
        for stamp in STAMPS:
            setattr(place, stamp, getattr(details, stamp))
        place.details = _details(details)


def _values(search: Search, place: PlaceDetails) -> dict[str, Any]:
    return {
        **{name: getattr(place, name) for name in (*FACTS, *STAMPS)},
        "categories": list(place.categories),
        "details": _details(place),
        "id": new_id(),
        "tenant_id": search.tenant_id,
        "search_id": search.id,
        "provider": place.provider,
        "provider_id": place.provider_id,
    }


def _details(place: PlaceDetails) -> dict[str, Any]:
    """Return all facts as JSON, so that the deep scan need not call the provider again."""
    known = {name: value for name, value in vars(place).items() if name not in NOT_DETAILS and value is not None}
    return {
        name: list(value) if isinstance(value, tuple) else dict(value) if name in ("hours", "extra") else value
        for name, value in known.items()
        if value not in ((), {})
    }
