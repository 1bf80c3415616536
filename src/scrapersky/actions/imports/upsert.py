"""Statements that store a batch of imported rows: new ones are created, known ones refreshed or filled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Table, case, func, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, Insert, insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.imports.dry_run import LIVE_TABLES, Tables
from scrapersky.actions.imports.row_parsers import ParsedRow
from scrapersky.actions.imports.targets import DOMAIN_TARGET, ImportTarget
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import REJECTED, Status
from scrapersky.extract.company_domain import CompanyDomain
from scrapersky.models import Contact, Domain, Page, Place, Search, SearchContact, SearchDomain, SearchPlace
from scrapersky.store.operations.queue_rows import one_of

# The table that links rows of a model to the searches that found them, and its column. Rows of other models belong to
# a search by their domain, and so do contacts that have one.
LINKS: dict[type[Any], tuple[type[Any], str]] = {
    Place: (SearchPlace, "place_id"),
    Domain: (SearchDomain, "domain_id"),
    Contact: (SearchContact, "contact_id"),
}

Values = dict[str, Any]


@dataclass(frozen=True)
class Counts:
    """How many rows of a batch were created, updated, left unchanged and queued."""

    created: int
    updated: int
    unchanged: int
    queued: int = 0


@dataclass(frozen=True)
class BatchWriter:
    """Writes batches of rows of one resource that belong to one search."""

    session: AsyncSession
    search: Search
    target: ImportTarget
    tables: Tables = LIVE_TABLES

    async def store(self, batch: Sequence[ParsedRow], auto_queue: bool = False) -> Counts:
        """Store each row once, in the order of the keys; a row that repeats another one of the batch only fills it."""
        sites = {row.site.name: row.site for row in batch if row.site}
        domains = await self._domains(sites) if sites else {}
        unique: dict[tuple[Any, ...], Values] = {}
        for row in batch:
            values = self._columns(row, domains)
            key = tuple(str(values[column]) for column in self.target.key)
            filled = {name: value for name, value in values.items() if value not in (None, [], {})}
            unique[key] = {**values, **unique.get(key, {}), **filled}
        created, updated, ids = await self._upsert(self.target, [unique[key] for key in sorted(unique)])
        variants = {tuple(one[column] for column in self.target.key): one for row in batch for one in row.variants}
        if variants:
            await self._upsert(self.target, [variants[key] for key in sorted(variants)])
        if self.tables.is_live:
            await self._link(ids, [domain_id for domain_id, _ in domains.values()])
        queued = await self._queue(ids) if auto_queue else 0
        return Counts(created, updated, len(batch) - created - updated, queued)

    def _columns(self, row: ParsedRow, domains: dict[str, tuple[UUID, str | None]]) -> Values:
        values = {**row.values, **{column: now() for column, now in self.target.stamped.items()}}
        if self.target.has_site:
            values["domain_id"], country = domains[row.site.name] if row.site else (None, None)
            if self.target.resource.model is Page:
                values["country"] = country
        return values

    async def _domains(self, sites: dict[str, CompanyDomain]) -> dict[str, tuple[UUID, str | None]]:
        """Return id and country of the domains that the rows belong to; create those that do not exist."""
        rows: list[Values] = [
            {"name": name, "unicode_name": sites[name].unicode_name, "start_url": None, "country": None}
            for name in sorted(sites)
        ]
        await self._upsert(DOMAIN_TARGET, rows)
        domain = self.tables.of(Domain).c
        found = await self.session.execute(
            select(domain.name, domain.id, domain.country).where(
                domain.tenant_id == self.search.tenant_id, domain.name.in_(sorted(sites))
            )
        )
        return {row.name: (row.id, row.country) for row in found}

    async def _upsert(self, target: ImportTarget, rows: Sequence[Values]) -> tuple[int, int, list[UUID]]:
        """Return how many rows were created and how many updated, and the ids of all."""
        await self.tables.load(self.session, self.search.tenant_id, target, rows)
        common: Values = {"tenant_id": self.search.tenant_id}
        if "search_id" in target.filled:
            common["search_id"] = self.search.id
        created, updated, ids = 0, 0, list[UUID]()
        for lacks_domain in (False, True):
            part = [row for row in rows if ("domain_id" in row and row["domain_id"] is None) == lacks_domain]
            if not part:
                continue
            # On the table, not the model: the statement is compiled once for all batches, whichever cells are empty.
            statement = _upsert_statement(target, self.tables.of(target.resource.model), lacks_domain)
            for row in await self.session.execute(statement, [{**row, **common, "id": new_id()} for row in part]):
                created += row.is_new
                updated += row.is_changed and not row.is_new
                ids.append(row.id)
        return created, updated, ids

    async def _link(self, ids: list[UUID], domain_ids: list[UUID]) -> None:
        """Link the rows to the search, also those that another search found before."""
        model = self.target.resource.model
        if model is Contact:
            ids = list(
                await self.session.scalars(
                    select(Contact.id).where(one_of(Contact.id, ids), Contact.domain_id.is_(None))
                )
            )
        for linked, linked_ids in {Domain: domain_ids, model: ids}.items():
            if linked in LINKS and linked_ids:
                link, column = LINKS[linked]
                common = {"search_id": self.search.id, "tenant_id": self.search.tenant_id}
                rows = [{column: row_id, **common} for row_id in sorted(linked_ids)]
                await self.session.execute(insert(link.__table__).on_conflict_do_nothing(), rows)

    async def _queue(self, ids: Sequence[UUID]) -> int:
        """Queue the next step of rows that never had it and that are not rejected; return how many."""
        table = self.tables.of(self.target.resource.model)
        status = table.c[f"{self.target.step}_status"]
        queued = await self.session.execute(
            update(table)
            .where(one_of(table.c.id, ids), status == Status.NEW, table.c.curation_status.not_in(REJECTED))
            .values({status: Status.QUEUED, "updated_at": func.now()})
            .returning(table.c.id)
        )
        return len(queued.all())


def _upsert_statement(target: ImportTarget, table: Table, lacks_domain: bool) -> Any:
    """Build the upsert: it returns every row, and only a change sets a new `updated_at`."""
    statement, stored = insert(table), table.c
    merged = {column: _refreshed(stored[column], statement, column) for column in target.refreshed}
    merged |= {column: func.coalesce(stored[column], statement.excluded[column]) for column in target.filled}
    is_changed = or_(*(stored[column].is_distinct_from(value) for column, value in merged.items()))
    stamps = {column: statement.excluded[column] for column in target.stamped}
    # The time of the statement, not of its transaction: a dry run has many batches in one transaction.
    now = func.statement_timestamp()
    return statement.on_conflict_do_update(
        index_elements=[
            "tenant_id",
            *(column for column in target.key if not (lacks_domain and column == "domain_id")),
        ],
        index_where=stored.domain_id.is_(None) if lacks_domain else None,
        set_={**merged, **stamps, "updated_at": case((is_changed, now), else_=stored.updated_at)},
    ).returning(
        stored.id,
        literal_column("(xmax = 0)").label("is_new"),
        (stored.updated_at == now).label("is_changed"),
    )


def _refreshed(stored: Any, statement: Insert, column: str) -> ColumnElement[Any]:
    """Build the value of the file or, if the file has none, the stored one."""
    new = statement.excluded[column]
    if isinstance(stored.type, ARRAY):
        return case((func.cardinality(new) > 0, new), else_=stored)
    if isinstance(stored.type, JSONB):
        return func.coalesce(stored, literal_column("'{}'::jsonb")).op("||")(new)
    return func.coalesce(new, stored)
