"""The rows that rows of a list refer to, by name: the domain of a contact, the contact of a delivery."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Contact, Destination, Domain, LocalBusiness
from scrapersky.store.listing.resources import Resource

# By resource: the name of the reference, its table, and the column with its id.
REFERENCES: Mapping[str, Mapping[str, tuple[Any, str]]] = {
    "sitemaps": {"domain": (Domain, "domain_id")},
    "pages": {"domain": (Domain, "domain_id")},
    "contacts": {"domain": (Domain, "domain_id"), "business": (LocalBusiness, "business_id")},
    "deliveries": {"destination": (Destination, "destination_id"), "contact": (Contact, "contact_id")},
}
# What people recognize a contact by; other rows have a name.
_CONTACT = func.coalesce(Contact.name, Contact.email, Contact.phone, Contact.identity)


async def names(session: AsyncSession, rows: Sequence[Any], *, resource: Resource) -> dict[UUID, dict[str, str | None]]:
    """Return the names of the rows that these rows refer to, by the id of the row, with one statement."""
    references = REFERENCES.get(resource.name, {})
    found: dict[UUID, dict[str, str | None]] = {row.id: dict.fromkeys(references) for row in rows}
    lookups = []
    for owner, column in references.values():
        if wanted := {getattr(row, column) for row in rows} - {None}:
            name = _CONTACT if owner is Contact else owner.name
            lookups.append(select(owner.id, name.label("name")).where(owner.id.in_(wanted)))
    by_id = {row.id: row.name for row in await session.execute(union_all(*lookups))} if lookups else {}
    for row in rows:
        for reference, (_, column) in references.items():
            found[row.id][reference] = by_id.get(getattr(row, column))
    return found
