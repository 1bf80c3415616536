"""The rows of a search that was done before: they are its own again, whichever search has found them since."""

from uuid import UUID

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession


async def take_up(session: AsyncSession, search_id: UUID) -> None:
    """Go on with what the search found, so that its file has every row again."""
    for statement in _ITS_ROWS:
        await session.execute(statement, {"search": search_id})


# A row knows only the search that goes on with it now; the links know every search that found it. Rows are locked in
# one order, so that two who ask for overlapping searches never wait in a ring.
def _take(table: str, link: str, column: str) -> TextClause:
    return text(f"""
UPDATE {table} SET search_id = :search WHERE id IN (
    SELECT t.id FROM {table} t JOIN {link} f ON f.{column} = t.id
    WHERE f.search_id = :search AND t.search_id IS DISTINCT FROM :search
    ORDER BY t.id FOR NO KEY UPDATE OF t)""")  # noqa: S608 - our own names


_ITS_ROWS = (
    _take("place", "search_place", "place_id"),
    _take("local_business", "search_business", "business_id"),
    _take("domain", "search_domain", "domain_id"),
)
