"""Queries about what a search has found: domains, contacts and their values."""

from typing import Any
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Domain, Search, SearchDomain
from scrapersky.store.steps import contacts_of_search, not_rejected
from scrapersky.store.withheld import is_withheld


async def shortcomings(session: AsyncSession, search_id: UUID) -> dict[str, Any]:
    """Return why the result may be incomplete: stopped by its budget, notes of the provider, cancelled by a person."""
    columns = select(Search.stopped_by_budget, Search.notes, Search.cancelled_by)
    return dict((await session.execute(columns.where(Search.id == search_id))).one()._mapping)


async def contact_counts(session: AsyncSession, search_id: UUID) -> dict[str, int]:
    """Count the contacts of the search, their emails, phones and people, each once per business, and their domains."""
    row = (await session.execute(_COUNTS, {"search": search_id})).one()
    return dict(row._mapping)


async def verdicts(session: AsyncSession, search_id: UUID) -> dict[str, str | None]:
    """Return the verdict on every email address of the search; None for those that were not verified."""
    rows = await session.execute(_VERDICTS, {"search": search_id})
    return {row.email: row.verdict for row in rows}


async def found_values(session: AsyncSession, search_id: UUID) -> list[tuple[str, str, str]]:
    """Return every value of the search: domain, field (email, phone, social, person, title as `name: title`), value."""
    rows = await session.execute(_VALUES, {"search": search_id})
    return [(row.domain, row.field, row.value) for row in rows]


async def hosts(session: AsyncSession, search_id: UUID) -> set[str]:
    """Return the domains of the search."""
    found = select(Domain.name).join(SearchDomain, SearchDomain.domain_id == Domain.id)
    return set(await session.scalars(found.where(SearchDomain.search_id == search_id)))


# As in the file: without contacts that people rejected or a suppression withholds.
_WANTED = f"NOT {is_withheld('c')} AND {not_rejected('c')}"
_COUNTS = text(f"""
SELECT count(*) AS contacts,
    count(DISTINCT (owner, c.email)) FILTER (WHERE c.email IS NOT NULL) AS emails,
    count(DISTINCT (owner, c.phone)) FILTER (WHERE c.phone IS NOT NULL) AS phones,
    count(DISTINCT (owner, c.name)) FILTER (WHERE c.name IS NOT NULL) AS people,
    count(DISTINCT c.domain_id) AS domains
FROM (SELECT c.*, coalesce(c.domain_id, c.business_id, c.id) AS owner
    FROM ({contacts_of_search("c.*")}) c WHERE {_WANTED}) c""")  # noqa: S608 - our own names

_VERDICTS = text(f"""
SELECT c.email, min(c.verdict) AS verdict FROM ({contacts_of_search("c.*")}) c
WHERE c.email IS NOT NULL AND {_WANTED} GROUP BY c.email""")  # noqa: S608 - our own names

_VALUES = text("""
WITH c AS (SELECT d.name AS domain, c.* FROM search_domain f JOIN domain d ON d.id = f.domain_id
    JOIN contact c ON c.domain_id = d.id WHERE f.search_id = :search)
SELECT domain, 'email' AS field, email AS value FROM c WHERE email IS NOT NULL
UNION SELECT domain, 'phone', phone FROM c WHERE phone IS NOT NULL
UNION SELECT domain, 'person', name FROM c WHERE name IS NOT NULL
UNION SELECT domain, 'title', name || ': ' || title FROM c WHERE name IS NOT NULL AND title IS NOT NULL
UNION SELECT domain, 'social', p.value FROM c, jsonb_each_text(c.profiles) p""")
