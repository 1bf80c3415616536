"""Every column in which somebody may be mentioned: found by walking the tables, so that none is left out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Column, ColumnElement, Row, Table, Text, and_, cast, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Base
from scrapersky.store.operations.queue_rows import among
from scrapersky.store.privacy.identify import Subject
from scrapersky.store.privacy.patterns import MARK, without

# Our own people, their keys and settings; the audit, which only the engine may change; the list of hashes itself.
NOT_WALKED = {
    "user",
    "api_key",
    "session",
    "invitation",
    "quota_usage",
    "spending",
    "destination",
    "suppression",
    "audit",
}
# What a row is nothing without: where somebody is mentioned there, the row goes as a whole.
CORES = {"page": "url", "sitemap_file": "url", "idempotency_key": "response"}
# Words of our own, and names by which others know a row.
NOT_TEXT = {"kind", "provider", "provider_id", "curation_status", "verdict", "queue", "identity", "fingerprint"}


@dataclass(frozen=True)
class Mention:
    """A row that speaks of somebody, and its columns that do."""

    table: str
    key: tuple[Any, ...]
    columns: tuple[str, ...]


def walked() -> Iterator[tuple[Table, list[Column[Any]]]]:
    """Every table of a tenant with its columns that hold free text."""
    for table in Base.metadata.sorted_tables:
        if "tenant_id" in table.c and table.name not in NOT_WALKED and (columns := text_columns(table)):
            yield table, columns


def text_columns(table: Table) -> list[Column[Any]]:
    """The columns that hold free text, alone, in a list or in JSON."""
    return [
        column
        for column in table.columns
        if isinstance(getattr(column.type, "item_type", column.type), Text | JSONB)
        and column.computed is None
        and not column.primary_key
        and column.name not in NOT_TEXT
        and not column.name.endswith(("_status", "_hash", "_order"))
    ]


async def mentions(session: AsyncSession, tenant_id: UUID, subject: Subject) -> list[Mention]:
    """Where the tenant's rows speak of somebody."""
    return [
        Mention(table.name, _key(table, row), tuple(_changes(columns, row._mapping, subject.pattern)))
        for table, columns in walked()
        for row in await _rows(session, tenant_id, table, columns, subject)
    ]


async def scrub(session: AsyncSession, tenant_id: UUID, subject: Subject) -> dict[str, int]:
    """Take somebody out of every row that speaks of them; how many rows of each table."""
    scrubbed: dict[str, int] = {}
    for table, columns in walked():
        rows = await _rows(session, tenant_id, table, columns, subject, lock=True)
        for row in rows:
            this = [column == value for column, value in zip(table.primary_key.columns, _key(table, row), strict=True)]
            changed = _changes(columns, row._mapping, subject.pattern)
            if CORES.get(table.name) in changed:
                await session.execute(delete(table).where(*this))
            else:
                await session.execute(update(table).where(*this).values(changed))
        if rows:
            scrubbed[table.name] = len(rows)
    return scrubbed


async def _rows(
    session: AsyncSession,
    tenant_id: UUID,
    table: Table,
    columns: list[Column[Any]],
    subject: Subject,
    lock: bool = False,
) -> list[Row[Any]]:
    """The rows that mention an address or a number; a name is only looked for among the contacts of its web site."""
    written = func.concat_ws(" ", *(cast(column, Text) for column in columns))
    speaks: list[ColumnElement[bool]] = [written.op("~*")(subject.sieve)] if subject.sieve else []
    if subject.name_sieve and table.name == "contact":
        speaks.append(and_(among(table.c.domain_id, subject.domain_ids), written.op("~*")(subject.name_sieve)))
    if not speaks:
        return []
    wanted: Any = select(*table.primary_key.columns, *columns).where(table.c.tenant_id == tenant_id, or_(*speaks))
    rows = await session.execute(wanted.with_for_update(key_share=True) if lock else wanted)
    return [row for row in rows if _changes(columns, row._mapping, subject.pattern)]


def _changes(columns: list[Column[Any]], row: Mapping[Any, Any], pattern: str) -> dict[str, Any]:
    changed = {}
    for column in columns:
        rest = without(row[column.name], pattern)
        if rest != row[column.name]:
            changed[column.name] = MARK if rest is None and not column.nullable else rest
    return changed


def _key(table: Table, row: Row[Any]) -> tuple[Any, ...]:
    return tuple(row._mapping[column.name] for column in table.primary_key.columns)
