"""Find rows of every resource by how their name begins."""

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, CompoundSelect, Uuid, bindparam, func, literal, select, text, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Search
from scrapersky.store.listing.lineage import TABLES
from scrapersky.store.listing.paginate import matching
from scrapersky.store.listing.resources import CONTACTS, DOMAINS, RESOURCES, SEARCHES, Resource

SHOWN = 5  # rows of each resource
FOUND_IN = tuple(resource for resource in RESOURCES.values() if "text" in resource.filters)


# What tells rows of one name apart, by resource; values of a row `t`.
_DETAILS = {
    "places": "t.address",
    "businesses": "t.city, t.website",
    "domains": "t.title",
    "pages": "t.title",
    "contacts": "CASE WHEN t.name IS NOT NULL THEN t.email END, t.title, "
    "(SELECT d.name FROM domain d WHERE d.id = t.domain_id)",
}
_NAMES = {
    resource: text(f"""
SELECT t.id, coalesce({name}, '') AS name, nullif(concat_ws(' · ', {_DETAILS.get(resource, "NULL")}), '') AS detail
FROM {table} t WHERE t.id = ANY (:ids)""").bindparams(bindparam("ids", type_=ARRAY(Uuid())))  # noqa: S608
    for resource, (table, name) in TABLES.items()
}


class NamedRow(NamedTuple):
    """A row: its name, and what tells it apart from others of this name."""

    id: UUID
    name: str
    detail: str | None


async def by_beginning(session: AsyncSession, tenant_id: UUID, value: str) -> dict[str, list[NamedRow]]:
    """Return a few rows of each resource, with their names; resources without a row are left out."""
    ids: dict[str, list[UUID]] = {}
    for row in await session.execute(statement(tenant_id, value)):
        known = ids.setdefault(row.resource, [])
        if row.id not in known:
            known.append(row.id)
    found: dict[str, list[NamedRow]] = {}
    for resource, chosen in ids.items():
        rows = await session.execute(_NAMES[resource], {"ids": chosen[:SHOWN]})
        named = {row.id: NamedRow(row.id, row.name, row.detail) for row in rows}
        found[resource] = [named[row_id] for row_id in chosen if row_id in named]
    return found


def statement(tenant_id: UUID, value: str) -> CompoundSelect[Any]:
    """Build the query: the first rows of each resource, by the index of its names."""
    searches = select(Search.id).where(
        Search.tenant_id == tenant_id, func.starts_with(func.lower(Search.text), value.lower())
    )
    parts = [_first(SEARCHES, searches.order_by(Search.updated_at.desc()))]
    for resource in FOUND_IN:
        beginning = value.lower() if resource is DOMAINS else value
        rows: Any = matching(select(resource.model.id), resource, tenant_id, {"text": beginning})
        parts.append(_first(resource, rows.order_by(getattr(resource.model, resource.sorts.get("name", "id")))))
    emails: Any = matching(select(CONTACTS.model.id), CONTACTS, tenant_id, {"email": value.lower()})
    return union_all(*parts, _first(CONTACTS, emails))


def _first(resource: Resource, rows: Any) -> Any:
    chosen = rows.limit(SHOWN).subquery()
    return select(literal(resource.name).label("resource"), chosen.c.id)
