"""An import: rows are parsed and stored batch by batch, and the report names each failed row by its line."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice
from uuid import UUID

from sqlalchemy import func, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.imports.column_mapping import ColumnMapping
from scrapersky.actions.imports.dry_run import LIVE_TABLES, DryRunTables, Tables
from scrapersky.actions.imports.row_parsers import PROVIDER, ParsedRow, RowValues
from scrapersky.actions.imports.targets import target_of
from scrapersky.actions.imports.upsert import BatchWriter, Counts
from scrapersky.core.database import Database, is_connection_error
from scrapersky.core.errors import BadRequest
from scrapersky.core.uuid7 import new_id
from scrapersky.extract.countries import country_code
from scrapersky.extract.tabular.lines import UnusableTable
from scrapersky.extract.tabular.rows import TableRow
from scrapersky.models import Job, Search
from scrapersky.providers.areas.where import Where
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.line.advance_rules import read_rules
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import CONTACTS
from scrapersky.store.privacy import suppressions
from scrapersky.store.searches import request as searches
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import STOPPED, AdvanceRules

BATCH_SIZE = 500  # rows of one transaction, and of one statement
MAX_ERRORS = 1_000  # errors that a report names
MAX_COUNTED = 10_000_000
IMPORT = "import"  # the kind of job that keeps a report

NumberedRow = tuple[int, ParsedRow]  # with its line


class UnknownCountry(BadRequest):
    """There is no such country."""


class NoNextStep(BadRequest):
    """Rows of this resource have no next step that could be queued."""


@dataclass(frozen=True)
class RowError:
    """A row that was not stored."""

    line: int
    message: str


@dataclass(frozen=True)
class CellError:
    """A cell that was left out of its row."""

    line: int
    column: str
    message: str


@dataclass
class Report:
    """The counts and errors of an import so far."""

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
    incomplete: int = 0  # rows that were stored without a cell
    cells: list[CellError] = field(default_factory=list)
    ignored_columns: list[str] = field(default_factory=list)
    job_id: UUID | None = None  # the job that keeps this report

    def leave_out(self, line: int, cells: Mapping[str, str]) -> None:
        """Count a row without some of its cells; keep what is wrong with them, by column, if there is room."""
        self.incomplete += bool(cells)
        for column, message in cells.items():
            if len(self.cells) < MAX_ERRORS:
                self.cells.append(CellError(line, column, message))

    def fail(self, line: int, message: str) -> None:
        """Count a row that was not stored; keep its error if there are fewer than MAX_ERRORS."""
        self.failed += 1
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(RowError(line, message))

    def add(self, counts: Counts) -> None:
        """Add the counts of a batch."""
        self.created += counts.created
        self.updated += counts.updated
        self.unchanged += counts.unchanged
        self.queued += counts.queued


@dataclass(frozen=True)
class ImportRequest:
    """What to import, and how."""

    noun: str
    name: str  # of the file or of the request: imports of one name belong to one search
    dry_run: bool = False
    auto_queue: bool = False
    mapping: Mapping[str, str] = field(default_factory=dict)
    country: str = ""  # of rows that name none
    is_table: bool = True  # all rows have the same columns, which are checked first; objects are checked one by one


async def run(
    database: Database,
    actor: Actor,
    request: ImportRequest,
    rows: Iterable[TableRow],
    on_progress: Callable[[Report], None] = lambda _: None,
) -> Report:
    """Store every usable row, each batch in one transaction; a dry run reports the same and stores nothing."""
    importer = _Importer(actor, request)
    report = importer.report
    if request.dry_run:
        async with database.session(actor.tenant_id) as session:
            importer.tables = await DryRunTables.open(session, importer.target)
            importer.search = Search(id=new_id(), tenant_id=actor.tenant_id)
            async for batch in importer.batches(rows, on_progress):
                await importer.store(session, batch)
            await session.rollback()
        return report
    async for batch in importer.batches(rows, on_progress):
        async with database.session(actor.tenant_id) as session:
            await importer.store_live(session, batch)
    if report.search_id is not None:
        await _count_results(database, actor, importer)
    if request.is_table:
        await _keep(database, actor, request, report)
    return report


class _Importer:
    """The state of one import."""

    def __init__(self, actor: Actor, request: ImportRequest) -> None:
        self.actor, self.request, self.target = actor, request, target_of(request.noun)
        self.report = Report(request.noun, request.dry_run)
        self.tables: Tables = LIVE_TABLES
        self.search = Search(id=None, tenant_id=actor.tenant_id)
        self._columns = ColumnMapping(request.noun, request.mapping)
        self._country = country_code(request.country) or ""
        if request.country and not self._country:
            raise UnknownCountry(f"{request.country[:60]!r} is unknown: write a name, or a code of two letters.")
        if request.auto_queue and self.target.step is None:
            raise NoNextStep(f"Import {request.noun} without queueing them.")

    async def batches(
        self, rows: Iterable[TableRow], on_progress: Callable[[Report], None]
    ) -> AsyncIterator[list[NumberedRow]]:
        """Yield the rows that can be used, batch by batch; raise an error if the columns of a table cannot be used."""
        is_checked, every = not self.request.is_table, iter(rows)
        while batch := list(islice(every, BATCH_SIZE)):
            if not is_checked and any(row.values for row in batch):
                self._columns.check(batch)
                is_checked = True
            if parsed := list(self._parsed(batch)):
                yield parsed
            self.report.rows += len(batch)
            self.report.ignored_columns = self._columns.ignored
            on_progress(self.report)
            await asyncio.sleep(0)  # a table of unusable rows awaits nothing else: other tasks get their turn
        if not self.report.rows:
            raise UnusableTable("It has no row below the names of its columns.")

    async def store_live(self, session: AsyncSession, rows: list[NumberedRow]) -> None:
        """Store a batch under the search of this import, and record it in the audit if it changed anything."""
        self.search = Search(id=self.report.search_id, tenant_id=self.actor.tenant_id)
        if self.target.has_search and self.search.id is None:
            self.search = await _search(session, self.actor, self.request)
            self.report.search_id = self.search.id
        before = replace(self.report)
        await self.store(session, rows)
        names = ("created", "updated", "queued")
        done = {name: getattr(self.report, name) - getattr(before, name) for name in names}
        if any(done.values()):
            values = {"name": self.request.name, **done}
            await audit.record(session, self.actor, "import", self.request.noun, None, values)

    async def store(self, session: AsyncSession, rows: list[NumberedRow]) -> None:
        """Store the rows of people who were not erased, and count them."""
        rows = await self._without_erased(session, rows)
        writer = BatchWriter(session, self.search, self.target, self.tables)
        if not await self._try(writer, rows):
            for row in rows:  # the database refused the batch: find out which row it refuses
                await self._try(writer, [row])

    async def _try(self, writer: BatchWriter, rows: list[NumberedRow]) -> bool:
        """Store the rows in a savepoint; return whether the database accepted them."""
        try:
            async with writer.session.begin_nested():
                self.report.add(await writer.store([row for _, row in rows], self.request.auto_queue))
        except DBAPIError as error:
            if is_connection_error(error):
                raise
            if len(rows) == 1:
                self.report.fail(rows[0][0], f"the database refuses it: {str(error.orig).splitlines()[0][:200]}")
            return len(rows) == 1
        return True

    def _parsed(self, batch: list[TableRow]) -> Iterator[NumberedRow]:
        for row in batch:
            if error := row.error or self._columns.error_of(row):
                self.report.fail(row.line, error)
                continue
            cells = self._columns.cells_of(row.values)
            values = RowValues({field: cell.text for field, cell in cells.items()}, self._country)
            try:
                parsed = self.target.parse(values)
            except ValueError as unusable:
                others = (f"{cells[field].column}: {problem}" for field, problem in values.problems.items())
                self.report.fail(row.line, "; ".join([str(unusable), *others]))
                continue
            self.report.leave_out(row.line, {cells[field].column: why for field, why in values.problems.items()})
            yield row.line, parsed

    async def _without_erased(self, session: AsyncSession, rows: list[NumberedRow]) -> list[NumberedRow]:
        """Return the rows without contacts of people who were erased."""
        if self.target.resource is not CONTACTS:
            return rows
        points = {line: suppressions.contact_points_of(row.values) for line, row in rows}
        known = await suppressions.known(session, self.actor.tenant_id, chain(*points.values()), suppressions.ERASURE)
        erased = {line for line, found in points.items() if not known.keys().isdisjoint(found)}
        for line in sorted(erased):
            self.report.fail(line, "this person was erased and is not stored again")
        return [(line, row) for line, row in rows if line not in erased]


async def _keep(database: Database, actor: Actor, request: ImportRequest, report: Report) -> None:
    """Keep the report as a job that is over, for as long as jobs are kept."""
    report.job_id = new_id()
    left_out = ("noun", "dry_run", "job_id")
    result = {name: value for name, value in asdict(report).items() if name not in left_out}
    options = {"auto_queue": request.auto_queue, "map": dict(request.mapping), "country": request.country}
    job = Job(
        id=report.job_id,
        tenant_id=actor.tenant_id,
        kind=IMPORT,
        state="completed",
        progress=1.0,
        parameters={
            "resource": request.noun,
            "name": request.name,
            **{name: value for name, value in options.items() if value},
            "actor": {"name": actor.name, "role": actor.role, "origin": actor.origin},
        },
        result={**result, "search_id": str(report.search_id) if report.search_id else None},
        subject_id=report.search_id,
        requested_by=actor.user_id,
        finished_at=func.now(),
    )
    async with database.session(actor.tenant_id) as session:
        session.add(job)


async def _search(session: AsyncSession, actor: Actor, request: ImportRequest) -> Search:
    """Find or create the search that the rows of imports of this name belong to.

    A known search is saved again only if it was cancelled: saving takes over rows that are being processed for others.
    """
    wanted = SearchRequest(f"{request.noun} of {request.name}", Where(), PROVIDER, None, None, AdvanceRules())
    search = await searches.lock_and_find(session, actor.tenant_id, wanted)
    if search is None or read_rules(search.rules) == STOPPED:
        search = await searches.save(session, actor.tenant_id, wanted, search)
    return search


async def _count_results(database: Database, actor: Actor, importer: _Importer) -> None:
    """Set the number of results of the search, of all imports of its name."""
    search_id = importer.report.search_id
    async with database.session(actor.tenant_id) as session:
        filters = {"search_id": search_id}
        found = await lists.count(session, importer.target.resource, actor.tenant_id, filters, MAX_COUNTED)
        await session.execute(update(Search).where(Search.id == search_id).values(result_count=found.total))
