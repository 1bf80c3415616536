"""What a row is called for people, whatever its table."""

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, bindparam, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.listing.lineage import TABLES


class RowLabel(NamedTuple):
    """The resource and the name of a row."""

    resource: str
    name: str | None


# By table: the resource, and the expression for the name of a row `t`.
_NAMES = {
    **{table: (resource, name) for resource, (table, name) in TABLES.items()},
    "delivery": (
        "deliveries",
        "coalesce((SELECT coalesce(c.name, c.email, c.phone, c.identity) FROM contact c WHERE c.id = t.contact_id), "
        "(SELECT s.text FROM search_run r JOIN search s ON s.id = r.search_id WHERE r.id = t.run_id))",
    ),
}
_STATEMENTS = {
    table: text(f"SELECT t.id, {name} AS name FROM {table} t WHERE t.id = ANY (:ids)").bindparams(  # noqa: S608
        bindparam("ids", type_=ARRAY(Uuid()))
    )
    for table, (_, name) in _NAMES.items()
}


async def labels(session: AsyncSession, table: str, ids: Collection[UUID]) -> dict[UUID, RowLabel]:
    """Return the labels of these rows of a table, by id; rows of a table that is not a resource have none."""
    if table not in _NAMES or not ids:
        return {}
    resource = _NAMES[table][0]
    rows = await session.execute(_STATEMENTS[table], {"ids": list(ids)})
    return {row.id: RowLabel(resource, row.name) for row in rows}
