"""Queries that are the same for every resource: a page of a list, a count, one row.

Each query names the tenant, although row level security limits the session to it as well.
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, func, literal_column, select, text, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from scrapersky.core.errors import UnknownName
from scrapersky.store.listing.resources import Resource
from scrapersky.store.steps import LISTED_OF_SEARCH

COUNT_CAP = 10_000  # counts stop here
LATEST_CHANGES = 500  # in which the latest rows of a search are looked for

Filters = Mapping[str, Any]
Position = tuple[datetime | str | UUID | None, UUID]  # the sort key and the id of a row


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
    before: Position | None = None,
    limit: int = 50,
    unmerged: bool = False,
) -> list[tuple[Row[Any], Position]]:
    """Return a page of rows, each with its position in the list: those after a position, or the last ones before it.

    With `unmerged`, without rows that were merged into another one.
    """
    key = getattr(resource.model, column_of(resource, sort))
    chosen = select(*(getattr(resource.model, column) for column in columns), key.label("list_key"))
    if unmerged:
        chosen = chosen.where(*resource.unmerged)
    wanted = matching(chosen, resource, tenant_id, filters)
    is_result = resource.model.__tablename__ in LISTED_OF_SEARCH  # other rows have `search_id` as a column
    if "search_id" in filters and is_result and sort == Sort() and not (after or before):
        latest = (await session.execute(latest_rows(resource, tenant_id, chosen, filters).limit(limit))).all()
        if len(latest) == limit:
            return [(row, (row.list_key, row.id)) for row in latest]
    is_backwards = before is not None
    is_descending = sort.descending != is_backwards
    parts = _parts(key, resource.model.id, is_descending, is_backwards, before or after)
    found: list[tuple[Row[Any], Position]] = []
    for conditions, order in parts:
        if len(found) < limit:
            rows = await session.execute(wanted.where(*conditions).order_by(*order).limit(limit - len(found)))
            found += [(row, (row.list_key, row.id)) for row in rows]
    return found[::-1] if is_backwards else found


def _parts(
    key: Any, row_id: Any, is_descending: bool, is_backwards: bool, position: Position | None
) -> list[tuple[list[Any], list[Any]]]:
    """Return the conditions and the order of the parts of a list: rows with a key, then those without one.

    Each part is one range of an index; the first part begins at the position.
    """
    by_id = row_id.desc() if is_descending else row_id
    rest: Any = operator.lt if is_descending else operator.gt
    with_key: tuple[list[Any], list[Any]] = ([], [key.desc() if is_descending else key, by_id])
    if not key.expression.nullable:
        return [([rest(tuple_(key, row_id), position)] if position else [], with_key[1])]
    with_key[0].append(key.is_not(None))
    without_key: tuple[list[Any], list[Any]] = ([key.is_(None)], [by_id])
    parts = [without_key, with_key] if is_backwards else [with_key, without_key]
    if position is None:
        return parts
    at_key, at_id = position
    if at_key is None:
        without_key[0].append(rest(row_id, at_id))
        return parts[parts.index(without_key) :]
    with_key[0].append(rest(tuple_(key, row_id), position))
    return parts[parts.index(with_key) :]


def latest_rows(resource: Resource, tenant_id: UUID, chosen: Select[Any], filters: Filters) -> Select[Any]:
    """Build the query for a search's rows among the tenant's latest changes: sorting would read all its rows."""
    model, table = resource.model, resource.model.__tablename__
    others = {name: value for name, value in filters.items() if name != "search_id"}
    is_found = text(LISTED_OF_SEARCH[table].is_found.format(row=table)).bindparams(
        search=UUID(str(filters["search_id"]))
    )
    recent = aliased(model)
    oldest = select(recent.updated_at).where(recent.tenant_id == tenant_id).order_by(recent.updated_at.desc())
    since = func.coalesce(oldest.offset(LATEST_CHANGES - 1).limit(1).scalar_subquery(), literal_column("'-infinity'"))
    rows = matching(chosen, resource, tenant_id, others).where(is_found, model.updated_at >= since)
    return rows.order_by(model.updated_at.desc(), model.id.desc())


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


async def with_ids(
    session: AsyncSession, resource: Resource, tenant_id: UUID, columns: Sequence[str], ids: Sequence[UUID]
) -> Sequence[Row[Any]]:
    """Return the tenant's rows with these ids."""
    model = resource.model
    wanted = select(*(getattr(model, column) for column in columns))
    return (await session.execute(wanted.where(model.id.in_(ids), model.tenant_id == tenant_id))).all()


async def get(session: AsyncSession, resource: Resource, tenant_id: UUID, row_id: UUID, lock: bool = False) -> Any:
    """Return one row of the tenant. Raises UnknownRow."""
    own = (resource.model.id == row_id, resource.model.tenant_id == tenant_id)
    wanted = select(resource.model).where(*own, *resource.only)
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
    return wanted.where(resource.model.tenant_id == tenant_id, *resource.only, *conditions)


def matching_unmerged(wanted: Select[Any], resource: Resource, tenant_id: UUID, filters: Filters) -> Select[Any]:
    """Limit a query like `matching`, and to rows that were not merged; only those are curated and exported."""
    return matching(wanted, resource, tenant_id, filters).where(*resource.unmerged)
