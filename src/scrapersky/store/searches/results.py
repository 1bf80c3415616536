"""Queries about what a search has found: domains, contacts and their values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from scrapersky.models import CampaignSearch, Domain, Search, SearchDomain
from scrapersky.store.steps import contacts_of_search, not_rejected
from scrapersky.store.withheld import is_withheld


async def shortcomings(session: AsyncSession, search_id: UUID) -> dict[str, Any]:
    """Return why the result may be incomplete: stopped by its budget, notes of the provider, cancelled by a person.

    A campaign was stopped by its budget if one of its searches was.
    """
    members = select(CampaignSearch.search_id).where(CampaignSearch.campaign_id == search_id)
    one = aliased(Search)
    by_budget = select(one.id).where(one.id.in_(members), one.stopped_by_budget)
    stopped = or_(Search.stopped_by_budget, by_budget.exists()).label("stopped_by_budget")
    columns = select(stopped, Search.notes, Search.cancelled_by).where(Search.id == search_id)
    return dict((await session.execute(columns)).one()._mapping)


@dataclass(frozen=True)
class FoundContacts:
    """What a search has found: counts, the contacts that its files leave out, and when the first one was found."""

    found: dict[str, int]  # contacts, emails, phones, people, domains
    left_out: dict[str, int]  # contacts: rejected by people, withheld by a suppression, merged into others
    first_at: datetime | None  # of those found since the search was created


async def contact_counts(session: AsyncSession, search_id: UUID) -> dict[str, int]:
    """Count the contacts of the search, their emails, phones and people, each once per business, and their domains."""
    return (await found_contacts(session, search_id)).found


async def found_contacts(session: AsyncSession, search_id: UUID) -> FoundContacts:
    """Count the contacts of the search as in `contact_counts`, and those that its files leave out."""
    row = dict((await session.execute(_COUNTS, {"search": search_id})).one()._mapping)
    first_at = row.pop("first_at")
    left_out = {name: row.pop(name) for name in ("rejected", "suppressed", "merged")}
    return FoundContacts(row, {name: count for name, count in left_out.items() if count}, first_at)


async def verdicts(session: AsyncSession, search_id: UUID) -> dict[str, str | None]:
    """Return the verdict on every email address of the search; None for those that were not verified."""
    rows = await session.execute(_VERDICTS, {"search": search_id})
    return {row.email: row.verdict for row in rows}


async def found_sites(session: AsyncSession, search_id: UUID) -> dict[str, str | None]:
    """Return the web site of each business for which one was looked for, or None, by the id at its provider."""
    rows = await session.execute(_SITES, {"search": search_id})
    return {row.provider_id: row.website for row in rows}


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
# OFFSET 0 keeps the planner from repeating the condition in every count: it is planned once and evaluated once a row.
_COUNTS = text(f"""
SELECT count(*) FILTER (WHERE wanted) AS contacts,
    count(DISTINCT (owner, c.email)) FILTER (WHERE wanted AND c.email IS NOT NULL) AS emails,
    count(DISTINCT (owner, c.phone)) FILTER (WHERE wanted AND c.phone IS NOT NULL) AS phones,
    count(DISTINCT (owner, c.name)) FILTER (WHERE wanted AND c.name IS NOT NULL) AS people,
    count(DISTINCT c.domain_id) FILTER (WHERE wanted) AS domains,
    count(*) FILTER (WHERE NOT wanted AND NOT withheld AND c.merged_into_id IS NULL) AS rejected,
    count(*) FILTER (WHERE withheld) AS suppressed,
    count(*) FILTER (WHERE NOT wanted AND NOT withheld AND c.merged_into_id IS NOT NULL) AS merged,
    min(c.created_at) FILTER (WHERE c.created_at >= s.created_at) AS first_at
FROM search s LEFT JOIN (
    SELECT c.*, NOT withheld AND {not_rejected("c")} AS wanted, coalesce(c.domain_id, c.business_id, c.id) AS owner
    FROM (SELECT c.*, {is_withheld("c")} AS withheld
        FROM ({contacts_of_search("c.*")} OFFSET 0) c OFFSET 0) c) c ON true
WHERE s.id = :search""")  # noqa: S608 - our own names

_VERDICTS = text(f"""
SELECT c.email, min(c.verdict) AS verdict FROM ({contacts_of_search("c.*")}) c
WHERE c.email IS NOT NULL AND {_WANTED} GROUP BY c.email""")  # noqa: S608 - our own names

_SITES = text("""
SELECT p.provider_id, b.website FROM search_business f JOIN local_business b ON b.id = f.business_id
JOIN place p ON p.id = b.place_id WHERE f.search_id = :search AND b.site_search_status <> 'New'""")

_VALUES = text("""
WITH c AS (SELECT d.name AS domain, c.* FROM search_domain f JOIN domain d ON d.id = f.domain_id
    JOIN contact c ON c.domain_id = d.id WHERE f.search_id = :search)
SELECT domain, 'email' AS field, email AS value FROM c WHERE email IS NOT NULL
UNION SELECT domain, 'phone', phone FROM c WHERE phone IS NOT NULL
UNION SELECT domain, 'person', name FROM c WHERE name IS NOT NULL
UNION SELECT domain, 'title', name || ': ' || title FROM c WHERE name IS NOT NULL AND title IS NOT NULL
UNION SELECT domain, 'social', p.value FROM c, jsonb_each_text(c.profiles) p""")
