"""The rows of a search that was done before: they are its own again, whichever search has found them since."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession


async def take_up(session: AsyncSession, search_id: UUID) -> None:
    """Go on with what the search found, so that its file has every row again."""
    for statement in (_PLACES, _BUSINESSES, _DOMAINS):
        await session.execute(statement, {"search": search_id})


# A row knows only the search that goes on with it now; the links know every search that found it. Rows are locked in
# one order, so that two who ask for overlapping searches never wait in a ring.
_PLACES = text("""
UPDATE place SET search_id = :search WHERE id IN (
    SELECT t.id FROM place t JOIN search_place f ON f.place_id = t.id
    WHERE f.search_id = :search AND t.search_id IS DISTINCT FROM :search
    ORDER BY t.id FOR NO KEY UPDATE OF t)""")

_BUSINESSES = text("""
UPDATE local_business SET search_id = :search WHERE id IN (
    SELECT t.id FROM local_business t JOIN search_business f ON f.business_id = t.id
    WHERE f.search_id = :search AND t.search_id IS DISTINCT FROM :search
    ORDER BY t.id FOR NO KEY UPDATE OF t)""")

_DOMAINS = text("""
UPDATE domain SET search_id = :search WHERE id IN (
    SELECT t.id FROM domain t JOIN search_domain f ON f.domain_id = t.id
    WHERE f.search_id = :search AND t.search_id IS DISTINCT FROM :search
    ORDER BY t.id FOR NO KEY UPDATE OF t)""")
