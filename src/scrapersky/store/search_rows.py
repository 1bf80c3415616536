"""The rows of a search that was done before: they are its own again, whichever search has found them since."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_FOUND = "SELECT place_id FROM search_place WHERE search_id = :search"
# Which rows belong to a search by the places that it found. A row knows only the search that went on with it last.
_ROWS = {
    "place": f"t.id IN ({_FOUND})",
    "local_business": f"t.place_id IN ({_FOUND})",
    "domain": f"""t.id IN (SELECT l.domain_id FROM business_domain l JOIN local_business b ON b.id = l.business_id
        WHERE b.place_id IN ({_FOUND}))""",  # noqa: S608 - our own names
}


async def take_up(session: AsyncSession, search_id: UUID) -> None:
    """Go on with what the search found, so that its file has every row again."""
    for statement in _TAKE_UP:
        await session.execute(statement, {"search": search_id})


def _take_up(table: str, mine: str) -> str:
    """Locked in one order, so that two who ask for overlapping searches never wait in a ring."""
    wanted = f"t.search_id IS DISTINCT FROM :search AND {mine}"
    rows = f"SELECT t.id FROM {table} t WHERE {wanted} ORDER BY t.id FOR NO KEY UPDATE"  # noqa: S608 - our own names
    return f"UPDATE {table} SET search_id = :search WHERE id IN ({rows})"  # noqa: S608 - our own names


_TAKE_UP = [text(_take_up(table, mine)) for table, mine in _ROWS.items()]
