"""Queries about sites that show nothing to a plain reader, by the reason."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import HiddenReason

COUNT_CAP = 100_000  # counts over all tenants stop here

# SQL expression: why the domain `d` gave no contact, by its home page, else by most of its pages. NULL if a page of the
# site gave a contact, or if nothing is hidden.
HIDDEN_REASON = """CASE WHEN NOT EXISTS (
        SELECT FROM contact t WHERE t.domain_id = d.id AND t.found_by IS DISTINCT FROM 'provider')
    THEN coalesce(d.hidden_reason, (
        SELECT p.hidden_reason FROM page p WHERE p.domain_id = d.id AND p.hidden_reason IS NOT NULL
        GROUP BY p.hidden_reason ORDER BY count(*) DESC, 1 LIMIT 1)) END"""


async def of_search(session: AsyncSession, search_id: UUID) -> dict[str, int]:
    """Count the sites of a search that gave no contact because they are hidden, by reason, the most frequent first."""
    rows = await session.execute(_OF_SEARCH, {"search": search_id})
    return {row.reason: row.sites for row in rows}


async def of_all_tenants(session: AsyncSession) -> dict[str, int]:
    """Count the domains whose home page is hidden, by reason; zero where there is none. For a session of the engine."""
    rows = await session.execute(_OF_ALL, {"cap": COUNT_CAP})
    counted = {row.reason: row.sites for row in rows}
    return {reason.value: counted.get(reason.value, 0) for reason in HiddenReason}


_OF_SEARCH = text(f"""
SELECT reason, count(*) AS sites FROM (
    SELECT {HIDDEN_REASON} AS reason FROM search_domain f JOIN domain d ON d.id = f.domain_id
    WHERE f.search_id = :search) site
WHERE reason IS NOT NULL GROUP BY reason ORDER BY 2 DESC, 1""")  # noqa: S608 - our own names

_OF_ALL = text("""
SELECT reason, count(*) AS sites FROM (
    SELECT hidden_reason AS reason FROM domain WHERE hidden_reason IS NOT NULL LIMIT :cap) site GROUP BY reason""")
