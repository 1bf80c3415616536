"""Imports: rows that people already have, stored batch by batch; what cannot be used is named by its line."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.imports import row_parsers
from scrapersky.actions.imports.columns import Fields, TwoColumns
from scrapersky.actions.imports.dry_run import HOUSE, DryRunTables, Tables
from scrapersky.actions.imports.row_parsers import KINDS, PROVIDER, Kind, Ready
from scrapersky.actions.imports.upsert import Counts, store
from scrapersky.core.database import Database, is_connection_error
from scrapersky.core.errors import BadRequest
from scrapersky.core.uuid7 import new_id
from scrapersky.extract.tabular.rows import TableRow, UnusableTable
from scrapersky.models import Search
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.line.advance_rules import read_rules
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import CONTACTS
from scrapersky.store.privacy import suppressions
from scrapersky.store.searches import request as searches
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import STOPPED, AdvanceRules

BATCH = 500  # rows of one transaction, and of one statement
ERRORS_KEPT = 1_000
MAX_COUNTED = 10_000_000

Numbered = tuple[int, Ready]  # with its line


class NoNextStep(BadRequest):
    """Rows of this noun have no next step that could be queued."""


@dataclass(frozen=True)
class RowError:
    """Why a row was not stored."""

    line: int
    message: str


@dataclass
class Report:
    """What became of the rows so far."""

    noun: str
    dry_run: bool
    search_id: UUID | None = None
    rows: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    queued: int = 0
    failed: int = 0
    errors: list[RowError] = field(default_factory=list)

    def fail(self, line: int, message: str) -> None:
        """Count a row that cannot be used; the first thousand are named."""
        self.failed += 1
        if len(self.errors) < ERRORS_KEPT:
            self.errors.append(RowError(line, message))

    def add(self, counts: Counts) -> None:
        """Count rows that were stored."""
        self.created += counts.created
        self.updated += counts.updated
        self.unchanged += counts.unchanged
        self.queued += counts.queued


@dataclass(frozen=True)
class ImportRequest:
    """What is to be imported, and how."""

    noun: str
    name: str  # of the file, or whatever it is called: the same name is the same search
    dry_run: bool = False
    auto_queue: bool = False
    mapping: Mapping[str, str] = field(default_factory=dict)
    is_table: bool = True  # one set of columns for all rows; objects of their own are judged one by one


async def run(
    database: Database,
    actor: Actor,
    wish: ImportRequest,
    rows: Iterable[TableRow],
    tell: Callable[[Report], None] = lambda _: None,
) -> Report:
    """Store every row that can be used, a batch in one transaction; a dry run says the same and keeps nothing."""
    fields, kind = Fields(wish.noun, wish.mapping), KINDS[wish.noun]
    if wish.auto_queue and kind.step is None:
        raise NoNextStep(f"Import {wish.noun} without queueing them.")
    report = Report(wish.noun, wish.dry_run)
    if not wish.dry_run:

        async def keep(ready: list[Numbered]) -> None:
            async with database.session(actor.tenant_id) as session:
                await _import(session, actor, wish, kind, ready, report)

        await _each(wish, kind, fields, rows, report, keep, tell)
        if report.search_id is not None:
            await _count(database, actor, kind, report.search_id)
        return report
    async with database.session(actor.tenant_id) as session:
        rehearsal, search = await DryRunTables.open(session, kind), Search(id=new_id(), tenant_id=actor.tenant_id)

        async def rehearse(ready: list[Numbered]) -> None:
            ready = await _without_erased(session, actor, kind, ready, report)
            await _store(session, search, kind, ready, wish.auto_queue, report, rehearsal)

        await _each(wish, kind, fields, rows, report, rehearse, tell)
        await session.rollback()
    return report


async def _each(
    wish: ImportRequest,
    kind: Kind,
    fields: Fields,
    rows: Iterable[TableRow],
    report: Report,
    keep: Callable[[list[Numbered]], Awaitable[None]],
    tell: Callable[[Report], None],
) -> None:
    """Read the rows batch by batch, and keep those that can be used."""
    is_checked = not wish.is_table
    for batch in _batches(rows):
        if not is_checked and any(row.values for row in batch):
            _check(fields, batch)
            is_checked = True
        ready = list(_ready(kind, fields, batch, report))
        if ready:
            await keep(ready)
        report.rows += len(batch)
        tell(report)
        await asyncio.sleep(0)  # a table of bad rows never asks the database: others want to be served, too
    if not report.rows:
        raise UnusableTable("It has no row below the names of its columns.")


def _check(fields: Fields, batch: list[TableRow]) -> None:
    """Refuse a file whose columns cannot be used; objects that are not all alike are judged one by one."""
    fields.check(column for row in batch for column in row.values)
    rows = [row for row in batch if row.values]
    if len({tuple(row.values) for row in rows}) == 1 and (trouble := fields.trouble(rows[0])):
        raise TwoColumns(f"{trouble[0].upper()}{trouble[1:]}.")


def _batches(rows: Iterable[TableRow]) -> Iterator[list[TableRow]]:
    every = iter(rows)
    while batch := list(islice(every, BATCH)):
        yield batch


def _ready(kind: Kind, fields: Fields, batch: list[TableRow], report: Report) -> Iterator[Numbered]:
    for row in batch:
        if trouble := row.trouble or fields.trouble(row):
            report.fail(row.line, trouble)
            continue
        try:
            yield row.line, row_parsers.read(kind, fields.of(row.values))
        except ValueError as error:
            report.fail(row.line, str(error))


async def _import(
    session: AsyncSession, actor: Actor, wish: ImportRequest, kind: Kind, ready: list[Numbered], report: Report
) -> None:
    search = Search(id=report.search_id, tenant_id=actor.tenant_id)
    if kind.has_search and search.id is None:
        search = await _search(session, actor, wish)
        report.search_id = search.id
    ready = await _without_erased(session, actor, kind, ready, report)
    before = (report.created, report.updated, report.queued)
    await _store(session, search, kind, ready, wish.auto_queue, report, HOUSE)
    after = dict(zip(("created", "updated", "queued"), (report.created, report.updated, report.queued), strict=True))
    if tuple(after.values()) != before:
        done = {name: count - earlier for (name, count), earlier in zip(after.items(), before, strict=True)}
        await audit.record(session, actor, "import", wish.noun, None, {"name": wish.name, **done})


async def _without_erased(
    session: AsyncSession, actor: Actor, kind: Kind, ready: list[Numbered], report: Report
) -> list[Numbered]:
    """The rows without people who had themselves erased: the file may still name them."""
    if kind.noun is not CONTACTS:
        return ready
    ways = {line: suppressions.contact_points_of(row.values) for line, row in ready}
    known = await suppressions.known(session, actor.tenant_id, chain(*ways.values()), suppressions.ERASURE)
    erased = {line for line, found in ways.items() if not known.keys().isdisjoint(found)}
    for line in sorted(erased):
        report.fail(line, "somebody had this erased; it is not stored again")
    return [(line, row) for line, row in ready if line not in erased]


async def _store(
    session: AsyncSession,
    search: Search,
    kind: Kind,
    ready: list[Numbered],
    auto_queue: bool,
    report: Report,
    tables: Tables,
) -> None:
    try:
        async with session.begin_nested():
            report.add(await store(session, search, kind, [row for _, row in ready], auto_queue, tables))
    except DBAPIError as error:
        if is_connection_error(error):
            raise
        await _one_by_one(session, search, kind, ready, auto_queue, report, tables)


async def _one_by_one(
    session: AsyncSession,
    search: Search,
    kind: Kind,
    ready: list[Numbered],
    auto_queue: bool,
    report: Report,
    tables: Tables,
) -> None:
    """The database refused the batch: find out which row it means."""
    for line, row in ready:
        try:
            async with session.begin_nested():
                report.add(await store(session, search, kind, [row], auto_queue, tables))
        except DBAPIError as error:
            if is_connection_error(error):
                raise
            report.fail(line, f"the database refuses it: {str(error.orig).splitlines()[0][:200]}")


async def _count(database: Database, actor: Actor, kind: Kind, search_id: UUID) -> None:
    """How much the search has now, of all that came under its name."""
    async with database.session(actor.tenant_id) as session:
        found = await lists.count(session, kind.noun, actor.tenant_id, {"search_id": search_id}, MAX_COUNTED)
        await session.execute(update(Search).where(Search.id == search_id).values(result_count=found.total))


async def _search(session: AsyncSession, actor: Actor, wish: ImportRequest) -> Search:
    """The search that stands for this import, so that its results and rules are like those of any other.

    It is asked for anew only when somebody cancelled it: asking takes rows over that go on for another search.
    """
    asked = SearchRequest(f"{wish.noun} of {wish.name}", None, PROVIDER, None, None, AdvanceRules())
    search = await searches.lock_and_find(session, actor.tenant_id, asked)
    if search is None or read_rules(search.rules) == STOPPED:
        search = await searches.save(session, actor.tenant_id, asked, search)
    return search
