"""Scan of every text column for mentions of a person. The columns are taken from the models, so none is missed."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Column, ColumnElement, Row, Table, Text, and_, cast, delete, func, or_, select, true, update
from sqlalchemy import text as sql
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Base
from scrapersky.store.operations.queue_rows import one_of
from scrapersky.store.privacy.identify import DataSubject
from scrapersky.store.privacy.patterns import MARK, can_mention, without

# Users, their keys and settings; the audit, which only the engine may change; the suppressions themselves.
SKIPPED_TABLES = {
    "user",
    "api_key",
    "session",
    "invitation",
    "quota_usage",
    "spending",
    "unanswered_call",
    "destination",
    "suppression",
    "audit",
}
# The column without which a row is useless: a row with a mention there is deleted.
ESSENTIAL_COLUMNS = {"page": "url", "sitemap_file": "url", "idempotency_key": "response"}
# Columns of our own vocabularies, and ids of others.
SKIPPED_COLUMNS = {"kind", "provider", "provider_id", "curation_status", "verdict", "queue", "identity", "fingerprint"}
CHUNK_ROWS = 250_000  # of a table that one statement reads: the driver has a limit for the time of a statement
# For the rest of the transaction. Every row of the tenant is read, about a second for a million pages; the limit for
# requests is made for queries that read a few rows.
_NO_TIMEOUT = sql("SELECT set_config('statement_timeout', '0', true)")


@dataclass(frozen=True)
class Mention:
    """A row with a mention of the person, and the columns that have it."""

    table: str
    key: tuple[Any, ...]
    columns: tuple[str, ...]


def scanned_tables() -> Iterator[tuple[Table, list[Column[Any]]]]:
    """Yield every table of a tenant with its columns of free text."""
    for table in Base.metadata.sorted_tables:
        if "tenant_id" in table.c and table.name not in SKIPPED_TABLES and (columns := text_columns(table)):
            yield table, columns


def text_columns(table: Table) -> list[Column[Any]]:
    """Return the columns of free text: plain, in an array, or in JSON."""
    return [
        column
        for column in table.columns
        if isinstance(getattr(column.type, "item_type", column.type), Text | JSONB)
        and column.computed is None
        and not column.primary_key
        and column.name not in SKIPPED_COLUMNS
        and not column.name.endswith(("_status", "_hash", "_order"))
    ]


async def mentions(session: AsyncSession, tenant_id: UUID, subject: DataSubject) -> list[Mention]:
    """Return the mentions of the person in the tenant's rows."""
    await session.execute(_NO_TIMEOUT)
    return [
        Mention(table.name, _key(table, row), tuple(_changes(columns, row._mapping, subject.pattern)))
        for table, columns in scanned_tables()
        for row in await _rows(session, tenant_id, table, columns, subject)
    ]


async def scrub(session: AsyncSession, tenant_id: UUID, subject: DataSubject) -> dict[str, int]:
    """Remove the person from every row; return how many rows of each table."""
    scrubbed: dict[str, int] = {}
    await session.execute(_NO_TIMEOUT)
    for table, columns in scanned_tables():
        rows = await _rows(session, tenant_id, table, columns, subject, lock=True)
        for row in rows:
            same = [column == value for column, value in zip(table.primary_key.columns, _key(table, row), strict=True)]
            changed = _changes(columns, row._mapping, subject.pattern)
            if ESSENTIAL_COLUMNS.get(table.name) in changed:
                await session.execute(delete(table).where(*same))
            else:
                await session.execute(update(table).where(*same).values(changed))
        if rows:
            scrubbed[table.name] = len(rows)
    return scrubbed


async def _rows(
    session: AsyncSession,
    tenant_id: UUID,
    table: Table,
    columns: list[Column[Any]],
    subject: DataSubject,
    lock: bool = False,
) -> list[Row[Any]]:
    """Return the rows that mention an address or a number, and contacts of the person's sites that mention the name."""
    text = func.concat_ws(" ", *(cast(column, Text) for column in columns))
    conditions = [can_mention(text, subject.addresses)] if subject.addresses else []
    if subject.names and table.name == "contact":
        conditions.append(and_(one_of(table.c.domain_id, subject.domain_ids), can_mention(text, subject.names)))
    if not conditions:
        return []
    query: Any = select(*table.primary_key.columns, *columns).where(table.c.tenant_id == tenant_id, or_(*conditions))
    if lock:
        query = query.with_for_update(key_share=True)
    found = [
        row async for part in _parts(session, tenant_id, table) for row in await session.execute(query.where(part))
    ]
    return [row for row in found if _changes(columns, row._mapping, subject.pattern)]


async def _parts(session: AsyncSession, tenant_id: UUID, table: Table) -> AsyncIterator[ColumnElement[bool]]:
    """Yield conditions that divide the rows of a table by their id, which never changes; true for other tables."""
    if [column.name for column in table.primary_key.columns] != ["id"]:
        yield true()
        return
    part, key = true(), table.c.id
    while True:
        last = select(key).where(table.c.tenant_id == tenant_id, part).order_by(key).offset(CHUNK_ROWS - 1).limit(1)
        end = await session.scalar(last)
        if end is None:
            yield part
            return
        yield and_(part, key <= end)
        part = key > end


def _changes(columns: list[Column[Any]], row: Mapping[Any, Any], pattern: str) -> dict[str, Any]:
    changed = {}
    for column in columns:
        remaining = without(row[column.name], pattern)
        if remaining != row[column.name]:
            changed[column.name] = MARK if remaining is None and not column.nullable else remaining
    return changed


def _key(table: Table, row: Row[Any]) -> tuple[Any, ...]:
    return tuple(row._mapping[column.name] for column in table.primary_key.columns)
