"""A batch of imported rows in one statement: new ones made, known ones refreshed or filled up, the next step queued."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Table, case, func, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, Insert, insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.imports.dry_run import HOUSE, Tables
from scrapersky.actions.imports.row_parsers import DOMAIN_KIND, Kind, Ready
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import REJECTED, Status
from scrapersky.extract.company_domain import CompanyDomain
from scrapersky.models import Contact, Domain, Page, Place, Search, SearchContact, SearchDomain, SearchPlace
from scrapersky.store.operations.queue_rows import one_of

# How a search keeps a row: by itself, or by its domain where it has one.
LINKS: dict[type[Any], tuple[type[Any], str]] = {
    Place: (SearchPlace, "place_id"),
    Domain: (SearchDomain, "domain_id"),
    Contact: (SearchContact, "contact_id"),
}

Values = dict[str, Any]


@dataclass(frozen=True)
class Counts:
    """What became of a batch."""

    created: int
    updated: int
    unchanged: int
    queued: int = 0


async def store(
    session: AsyncSession,
    search: Search,
    kind: Kind,
    batch: Sequence[Ready],
    auto_queue: bool = False,
    tables: Tables = HOUSE,
) -> Counts:
    """Each row once, in one order for all; a row that repeats another one of the batch only fills it up."""
    sites = {row.site.name: row.site for row in batch if row.site}
    domains = await _domains(session, search, sites, tables) if sites else {}
    unique: dict[tuple[Any, ...], Values] = {}
    for row in batch:
        values = {**row.values, **{column: now() for column, now in kind.stamped.items()}}
        if kind.has_site:
            domain_id, country = domains[row.site.name] if row.site else (None, None)
            values |= {"domain_id": domain_id, **({"country": country} if kind.noun.model is Page else {})}
        key = tuple(str(values[column]) for column in kind.key)
        told = {name: value for name, value in values.items() if value not in (None, [], {})}
        unique[key] = {**values, **unique.get(key, {}), **told}
    made, changed, ids = await _upsert(session, search, kind, [unique[key] for key in sorted(unique)], tables)
    if others := {tuple(values[column] for column in kind.key): values for row in batch for values in row.also}:
        await _upsert(session, search, kind, [others[key] for key in sorted(others)], tables)
    if tables.is_real:
        await _found(session, search, kind, ids, [domain_id for domain_id, _ in domains.values()])
    queued = await _queue(session, kind, ids, tables) if auto_queue else 0
    return Counts(made, changed, len(batch) - made - changed, queued)


async def _found(session: AsyncSession, search: Search, kind: Kind, ids: list[UUID], domains: list[UUID]) -> None:
    """The search keeps what its file names, also what another one found before."""
    links: dict[type[Any], tuple[str, list[UUID]]] = {SearchDomain: ("domain_id", domains)}
    if kind.noun.model is Contact:
        lone = select(Contact.id).where(one_of(Contact.id, ids), Contact.domain_id.is_(None))
        ids = list(await session.scalars(lone))
    if kind.noun.model in LINKS:
        link, column = LINKS[kind.noun.model]
        links[link] = (column, ids)
    for link, (column, found) in links.items():
        rows = [{"search_id": search.id, column: row_id, "tenant_id": search.tenant_id} for row_id in sorted(found)]
        if rows:
            await session.execute(insert(link.__table__).on_conflict_do_nothing(), rows)


async def _domains(
    session: AsyncSession, search: Search, sites: dict[str, CompanyDomain], tables: Tables
) -> dict[str, tuple[UUID, str | None]]:
    """The domains that the rows belong to, made where there is none."""
    rows: list[Values] = [
        {"name": name, "unicode_name": sites[name].unicode_name, "start_url": f"https://{name}/", "country": None}
        for name in sorted(sites)
    ]
    await _upsert(session, search, DOMAIN_KIND, rows, tables)
    known = tables.of(Domain).c
    found = await session.execute(
        select(known.name, known.id, known.country).where(
            known.tenant_id == search.tenant_id, known.name.in_(sorted(sites))
        )
    )
    return {row.name: (row.id, row.country) for row in found}


async def _upsert(
    session: AsyncSession, search: Search, kind: Kind, rows: Sequence[Values], tables: Tables
) -> tuple[int, int, list[UUID]]:
    """How many were made and how many changed; and the ids of all."""
    await tables.know(session, search.tenant_id, kind, rows)
    common: Values = {"tenant_id": search.tenant_id}
    if "search_id" in kind.filled:
        common["search_id"] = search.id
    alone = [row for row in rows if "domain_id" in kind.key and row["domain_id"] is None]
    owned = [row for row in rows if not ("domain_id" in kind.key and row["domain_id"] is None)]
    made, changed, ids = 0, 0, list[UUID]()
    for part, is_alone in ((owned, False), (alone, True)):
        if not part:
            continue
        # The table, not the model: its statement is compiled once for all batches, whatever cells are empty.
        statement = _on_conflict(kind, tables.of(kind.noun.model), is_alone)
        for row in await session.execute(statement, [{**row, **common, "id": new_id()} for row in part]):
            made += row.created
            changed += row.touched and not row.created
            ids.append(row.id)
    return made, changed, ids


def _on_conflict(kind: Kind, table: Table, is_alone: bool) -> Any:
    """Every row is told of, the unchanged ones too; only a change gives a row a new time."""
    statement, known = insert(table), table.c
    merged = {column: _refreshed(known[column], statement, column) for column in kind.refreshed}
    merged |= {column: func.coalesce(known[column], statement.excluded[column]) for column in kind.filled}
    is_changed = or_(*(known[column].is_distinct_from(value) for column, value in merged.items()))
    stamps = {column: statement.excluded[column] for column in kind.stamped}
    elements = ["tenant_id", *(column for column in kind.key if not (is_alone and column == "domain_id"))]
    # The time of the statement, not of its transaction: a dry run has many batches in one.
    now = func.statement_timestamp()
    return statement.on_conflict_do_update(
        index_elements=elements,
        index_where=known.domain_id.is_(None) if is_alone else None,
        set_={**merged, **stamps, "updated_at": case((is_changed, now), else_=known.updated_at)},
    ).returning(
        known.id,
        literal_column("(xmax = 0)").label("created"),
        (known.updated_at == now).label("touched"),
    )


def _refreshed(known: Any, statement: Insert, column: str) -> ColumnElement[Any]:
    """What the file says; where it says nothing, what was there."""
    new = statement.excluded[column]
    if isinstance(known.type, ARRAY):
        return case((func.cardinality(new) > 0, new), else_=known)
    if isinstance(known.type, JSONB):
        return func.coalesce(known, literal_column("'{}'::jsonb")).op("||")(new)
    return func.coalesce(new, known)


async def _queue(session: AsyncSession, kind: Kind, ids: Iterable[UUID], tables: Tables) -> int:
    """Open the next step of rows that never had it and that nobody turned down."""
    table = tables.of(kind.noun.model)
    status = table.c[f"{kind.step}_status"]
    queued = await session.execute(
        update(table)
        .where(one_of(table.c.id, ids), status == Status.NEW, table.c.curation_status.not_in(REJECTED))
        .values({status: Status.QUEUED, "updated_at": func.now()})
        .returning(table.c.id)
    )
    return len(queued.all())
