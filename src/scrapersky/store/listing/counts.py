"""Counts of a resource's rows by the values of a field."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import EnumType
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from sqlalchemy import CompoundSelect, func, literal, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.listing.paginate import COUNT_CAP, Filters, matching, matching_unmerged
from scrapersky.store.listing.resources import Resource


@dataclass(frozen=True)
class ValueCount:
    """The rows with one value, counted up to the cap; `more` if there are more."""

    value: str | bool
    rows: int
    more: bool


def countable(resource: Resource) -> dict[str, Sequence[Any]]:
    """Return the filters with a vocabulary, and its values: rows are counted by these."""
    found = {name: _values(declared.type) for name, declared in resource.filters.items()}
    return {name: values for name, values in found.items() if values}


def _values(kind: Any) -> Sequence[Any]:
    if kind is bool:
        return (True, False)
    if get_origin(kind) is Literal:
        return get_args(kind)
    words: Any = kind if isinstance(kind, EnumType) else ()
    return [word.value for word in words]


async def by_value(
    session: AsyncSession, resource: Resource, tenant_id: UUID, by: str, filters: Filters, *, unmerged: bool = False
) -> list[ValueCount]:
    """Count the matching rows for each value of the filter `by`, which itself is ignored among the filters.

    With `unmerged`, without rows that were merged into another one.
    """
    counted = await session.execute(statement(resource, tenant_id, by, filters, unmerged=unmerged))
    found = {row.number: row.rows for row in counted}
    return [
        ValueCount(value, min(found[number], COUNT_CAP), found[number] > COUNT_CAP)
        for number, value in enumerate(countable(resource)[by])
    ]


def statement(
    resource: Resource, tenant_id: UUID, by: str, filters: Filters, *, unmerged: bool = False
) -> CompoundSelect[Any]:
    """Build the query: a capped count for each value."""
    counted_rows = matching_unmerged if unmerged else matching
    others = {name: value for name, value in filters.items() if name != by}
    parts = []
    for number, value in enumerate(countable(resource)[by]):
        rows = counted_rows(select(resource.model.id), resource, tenant_id, {**others, by: value})
        counted = select(func.count()).select_from(rows.limit(COUNT_CAP + 1).subquery()).scalar_subquery()
        parts.append(select(literal(number).label("number"), counted.label("rows")))
    return union_all(*parts)
