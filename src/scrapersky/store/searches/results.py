"""Queries about what a search has found: domains, contacts and their values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from scrapersky.models import CampaignSearch, Domain, Search, SearchDomain
from scrapersky.store.leads.merged_business import records_of, shown_id_of
from scrapersky.store.steps import LISTED_OF_SEARCH, contacts_of_search, is_of_rejected, not_rejected
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


# Lists of a search whose rows are counted: those in the middle have the contacts with such a value.
LISTED = ("contacts", "with_email", "with_phone", "with_name", "with_name_or_email", "businesses", "domains")


@dataclass(frozen=True)
class FoundContacts:
    """What a search has found: counts, the contacts that its files leave out, and when the first one was found."""

    found: dict[str, int]  # contacts, emails, phones, people, domains
    listed: dict[str, int]  # the rows of its lists: LISTED
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
    listed = {name: row.pop(f"listed_{name}") for name in LISTED}
    return FoundContacts(row, listed, {name: count for name, count in left_out.items() if count}, first_at)


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


# As in the file: without contacts that people rejected, alone or with their business, or a suppression withholds.
_NOT_REJECTED = f"{not_rejected('c')} AND NOT {is_of_rejected('c.business_id', 'c.domain_id')}"
_WANTED = f"NOT {is_withheld('c')} AND {_NOT_REJECTED}"
_IS_LISTED = {"contacts": "", **{f"with_{name}": f" AND c.{name} IS NOT NULL" for name in ("email", "phone", "name")}}
_IS_LISTED["with_name_or_email"] = " AND coalesce(c.name, c.email) IS NOT NULL"
_LISTED_CONTACTS = ", ".join(
    f"count(c.id) FILTER (WHERE c.is_listed AND c.merged_into_id IS NULL{condition}) AS listed_{name}"
    for name, condition in _IS_LISTED.items()
)
_BUSINESS_IS_LISTED = LISTED_OF_SEARCH["local_business"].found.format(row="b")
# The records that other searches have found of the businesses of the search: its rows in files have their values, too.
_OTHER_RECORDS = """
    SELECT m.id FROM search_business f JOIN local_business r ON r.id = f.business_id
    JOIN local_business m ON m.same_as_id = coalesce(r.same_as_id, r.id) WHERE f.search_id = :search
    UNION SELECT r.same_as_id FROM search_business f JOIN local_business r ON r.id = f.business_id
    WHERE f.search_id = :search AND r.same_as_id IS NOT NULL
    EXCEPT SELECT f.business_id FROM search_business f WHERE f.search_id = :search"""
_OF_OTHER_RECORDS = f"""
    SELECT c.*, false AS is_listed FROM ({_OTHER_RECORDS}) m JOIN contact c ON c.business_id = m.id
    WHERE c.domain_id IS NULL
    UNION ALL SELECT c.*, false FROM (SELECT l.domain_id FROM ({_OTHER_RECORDS}) m
        JOIN business_domain l ON l.business_id = m.id
        EXCEPT SELECT f.domain_id FROM search_domain f WHERE f.search_id = :search) l
    JOIN contact c ON c.domain_id = l.domain_id"""  # noqa: S608 - our own names
# Whose value it is: that of a web site, else of a business with all its records, by its web site if it has one.
_OWNER = f"""CASE WHEN c.domain_id IS NOT NULL OR c.business_id IS NULL THEN coalesce(c.domain_id, c.id) ELSE (
    SELECT coalesce((SELECT l.domain_id FROM business_domain l WHERE l.business_id = ANY ({records_of("shown.id")})
        ORDER BY l.domain_id LIMIT 1), shown.id)
    FROM (SELECT {shown_id_of("c.business_id")} AS id) shown) END"""  # noqa: S608 - our own names
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
    {_LISTED_CONTACTS},
    (SELECT count(*) FROM local_business b WHERE b.same_as_id IS NULL AND {_BUSINESS_IS_LISTED}) AS listed_businesses,
    (SELECT count(*) FROM search_domain WHERE search_id = :search) AS listed_domains,
    min(c.created_at) FILTER (WHERE c.is_listed AND c.created_at >= s.created_at) AS first_at
FROM search s LEFT JOIN (
    SELECT c.*, NOT withheld AND {_NOT_REJECTED} AS wanted, {_OWNER} AS owner
    FROM (SELECT c.*, {is_withheld("c")} AS withheld
        FROM ({contacts_of_search("c.*, true AS is_listed")} UNION ALL {_OF_OTHER_RECORDS} OFFSET 0) c OFFSET 0) c) c
    ON true
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
