"""Named queries that are the same for every noun: a page of a list, how many there are, one row.

The session is the tenant's; row level security and the explicit tenant are two walls, not one.
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

COUNT_CAP = 10_000  # nobody counts further than this

Filters = Mapping[str, Any]
Position = tuple[datetime | str | UUID, UUID]


class UnknownRow(UnknownName):
    """There is no row of this id."""


@dataclass(frozen=True)
class Sort:
    """What a list is sorted by; the id breaks ties."""

    by: str = "updated_at"
    descending: bool = True


@dataclass(frozen=True)
class Count:
    """How many match: exactly, or more than the cap."""

    total: int
    more: bool


async def page(
    session: AsyncSession,
    noun: Resource,
    tenant_id: UUID,
    columns: Sequence[str],
    filters: Filters,
    *,
    sort: Sort,
    after: Position | None = None,
    limit: int = 50,
) -> list[tuple[Row[Any], Position]]:
    """Rows in their order, each with its place in the list."""
    key, row_id = getattr(noun.model, column_of(noun, sort)), noun.model.id
    chosen = select(*(getattr(noun.model, column) for column in columns), key.label("list_key"))
    wanted = matching(chosen, noun, tenant_id, filters)
    if after is not None:
        place = tuple_(key, row_id)
        wanted = wanted.where(place < after if sort.descending else place > after)
    order = (key.desc(), row_id.desc()) if sort.descending else (key, row_id)
    rows = await session.execute(wanted.order_by(*order).limit(limit))
    return [(row, (row.list_key, row.id)) for row in rows]


async def count(
    session: AsyncSession,
    noun: Resource,
    tenant_id: UUID,
    filters: Filters,
    cap: int = COUNT_CAP,
    *,
    standing: bool = False,
) -> Count:
    """How many rows match, counted up to the cap; of those that stand for themselves, if so wished."""
    rows = matching_standing if standing else matching
    capped = rows(select(noun.model.id), noun, tenant_id, filters).limit(cap + 1).subquery()
    found = int(await session.scalar(select(func.count()).select_from(capped)) or 0)
    return Count(min(found, cap), found > cap)


async def get(session: AsyncSession, noun: Resource, tenant_id: UUID, row_id: UUID, lock: bool = False) -> Any:
    """One row of the tenant, or UnknownRow."""
    wanted = select(noun.model).where(noun.model.id == row_id, noun.model.tenant_id == tenant_id)
    found = await session.scalar(wanted.with_for_update(key_share=True) if lock else wanted)
    if found is None:
        raise UnknownRow(f"{row_id} is none of your {noun.name}.")
    return found


def column_of(noun: Resource, sort: Sort) -> str:
    """The column that a list is sorted by. The id never changes: whoever reads by it misses nothing that moves."""
    return "id" if sort.by == "id" else noun.sorts[sort.by]


def matching(wanted: Select[Any], noun: Resource, tenant_id: UUID, filters: Filters) -> Select[Any]:
    """The tenant's rows that pass every filter. A filter the noun does not know is a KeyError, never ignored."""
    conditions = [noun.filters[name].condition(value) for name, value in filters.items()]
    return wanted.where(noun.model.tenant_id == tenant_id, *conditions)


def matching_standing(wanted: Select[Any], noun: Resource, tenant_id: UUID, filters: Filters) -> Select[Any]:
    """The same, of rows that stand for themselves: those that are decided about, delivered and exported."""
    return matching(wanted, noun, tenant_id, filters).where(*noun.standing)
