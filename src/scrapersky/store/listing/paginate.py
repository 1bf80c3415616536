"""Queries that are the same for every resource: a page of a list, a count, one row.

Each query names the tenant, although row level security limits the session to it as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import UnknownName
from scrapersky.store.listing.resources import Resource

COUNT_CAP = 10_000  # counts stop here

Filters = Mapping[str, Any]
Position = tuple[datetime | str | UUID, UUID]


class UnknownRow(UnknownName):
    """There is no row with this id."""


@dataclass(frozen=True)
class Sort:
    """The sort key of a list; the id breaks ties."""

    by: str = "updated_at"
    descending: bool = True


@dataclass(frozen=True)
class Count:
    """The number of matching rows; `more` if there are more than the cap."""

    total: int
    more: bool


async def page(
    session: AsyncSession,
    resource: Resource,
    tenant_id: UUID,
    columns: Sequence[str],
    filters: Filters,
    *,
    sort: Sort,
    after: Position | None = None,
    limit: int = 50,
) -> list[tuple[Row[Any], Position]]:
    """Return a page of rows, each with its position in the list."""
    key, row_id = getattr(resource.model, column_of(resource, sort)), resource.model.id
    chosen = select(*(getattr(resource.model, column) for column in columns), key.label("list_key"))
    wanted = matching(chosen, resource, tenant_id, filters)
    if after is not None:
        place = tuple_(key, row_id)
        wanted = wanted.where(place < after if sort.descending else place > after)
    order = (key.desc(), row_id.desc()) if sort.descending else (key, row_id)
    rows = await session.execute(wanted.order_by(*order).limit(limit))
    return [(row, (row.list_key, row.id)) for row in rows]


async def count(
    session: AsyncSession,
    resource: Resource,
    tenant_id: UUID,
    filters: Filters,
    cap: int = COUNT_CAP,
    *,
    unmerged: bool = False,
) -> Count:
    """Count the matching rows, up to the cap; with `unmerged`, without rows that were merged into another one."""
    rows = matching_unmerged if unmerged else matching
    capped = rows(select(resource.model.id), resource, tenant_id, filters).limit(cap + 1).subquery()
    found = int(await session.scalar(select(func.count()).select_from(capped)) or 0)
    return Count(min(found, cap), found > cap)


async def get(session: AsyncSession, resource: Resource, tenant_id: UUID, row_id: UUID, lock: bool = False) -> Any:
    """Return one row of the tenant. Raises UnknownRow."""
    wanted = select(resource.model).where(resource.model.id == row_id, resource.model.tenant_id == tenant_id)
    found = await session.scalar(wanted.with_for_update(key_share=True) if lock else wanted)
    if found is None:
        raise UnknownRow(f"You have no {resource.name} with the id {row_id}.")
    return found


def column_of(resource: Resource, sort: Sort) -> str:
    """Return the column of the sort key. Sorted by the id, which never changes, a list skips no row."""
    return "id" if sort.by == "id" else resource.sorts[sort.by]


def matching(wanted: Select[Any], resource: Resource, tenant_id: UUID, filters: Filters) -> Select[Any]:
    """Limit a query to the tenant's rows that match every filter. Raises KeyError for an unknown filter."""
    conditions = [resource.filters[name].condition(value) for name, value in filters.items()]
    return wanted.where(resource.model.tenant_id == tenant_id, *conditions)


def matching_unmerged(wanted: Select[Any], resource: Resource, tenant_id: UUID, filters: Filters) -> Select[Any]:
    """Limit a query like `matching`, and to rows that were not merged; only those are curated and exported."""
    return matching(wanted, resource, tenant_id, filters).where(*resource.unmerged)
