"""The rows that rows of a list refer to, by name: the domain and the business of a contact."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Domain, LocalBusiness
from scrapersky.store.listing.resources import Resource

# By resource: the name of the reference, its table, and the column with its id.
REFERENCES: Mapping[str, Mapping[str, tuple[Any, str]]] = {
    "sitemaps": {"domain": (Domain, "domain_id")},
    "pages": {"domain": (Domain, "domain_id")},
    "contacts": {"domain": (Domain, "domain_id"), "business": (LocalBusiness, "business_id")},
}


async def names(session: AsyncSession, rows: Sequence[Any], *, resource: Resource) -> dict[UUID, dict[str, str | None]]:
    """Return the names of the rows that these rows refer to, by the id of the row; one look-up per reference."""
    found: dict[UUID, dict[str, str | None]] = {row.id: {} for row in rows}
    for reference, (owner, column) in REFERENCES.get(resource.name, {}).items():
        wanted = {getattr(row, column) for row in rows} - {None}
        named = select(owner.id, owner.name).where(owner.id.in_(wanted))
        by_id = {row.id: row.name for row in await session.execute(named)} if wanted else {}
        for row in rows:
            found[row.id][reference] = by_id.get(getattr(row, column))
    return found
