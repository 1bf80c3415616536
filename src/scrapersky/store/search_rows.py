"""The rows of a search that was done before: they are its own again, whichever search has found them since."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession


async def take_up(session: AsyncSession, search_id: UUID) -> None:
    """Go on with what the search found, so that its file has every row again."""
    for statement in (_PLACES, _BUSINESSES, _DOMAINS):
        await session.execute(statement, {"search": search_id})


# A row knows only the search that went on with it last; search_place knows every search that found a place. Rows are
# locked in one order, so that two who ask for overlapping searches never wait in a ring.
_PLACES = text("""
UPDATE place SET search_id = :search WHERE id IN (
    SELECT p.id FROM place p JOIN search_place f ON f.place_id = p.id
    WHERE f.search_id = :search AND p.search_id IS DISTINCT FROM :search
    ORDER BY p.id FOR NO KEY UPDATE OF p)""")

_BUSINESSES = text("""
UPDATE local_business SET search_id = :search WHERE id IN (
    SELECT b.id FROM local_business b JOIN search_place f ON f.place_id = b.place_id
    WHERE f.search_id = :search AND b.search_id IS DISTINCT FROM :search
    ORDER BY b.id FOR NO KEY UPDATE OF b)""")

_DOMAINS = text("""
UPDATE domain SET search_id = :search WHERE id IN (
    SELECT d.id FROM domain d WHERE d.search_id IS DISTINCT FROM :search AND d.id IN (
        SELECT l.domain_id FROM business_domain l JOIN local_business b ON b.id = l.business_id
        JOIN search_place f ON f.place_id = b.place_id WHERE f.search_id = :search)
    ORDER BY d.id FOR NO KEY UPDATE)""")
