"""The tables that an import writes to: the live ones or, for a dry run, temporary copies."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, MetaData, Table, or_, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.imports.targets import DOMAIN_TARGET, TARGETS, ImportTarget
from scrapersky.store.listing.resources import PAGES


class Tables:
    """The live tables."""

    is_live = True

    def of(self, model: type[Any]) -> Table:
        """Return the table to write rows of this model to."""
        table: Table = model.__table__
        return table

    async def load(
        self, session: AsyncSession, tenant_id: UUID, target: ImportTarget, rows: Sequence[dict[str, Any]]
    ) -> None:
        """Load the stored rows that these rows would change; the live tables have them."""


class DryRunTables(Tables):
    """Temporary copies, to which the stored rows that a batch names are copied as they are.

    A transaction on the live tables that is rolled back would lock every row of the file until the file is read.
    """

    is_live = False

    @classmethod
    async def open(cls, session: AsyncSession, target: ImportTarget) -> "DryRunTables":
        """Create empty copies of the tables that an import writes to; the end of the transaction drops them."""
        for each in (DOMAIN_TARGET, target) if target.has_site else (target,):
            for statement in _copy_statements(each):
                await session.execute(text(statement))
        return cls()

    def of(self, model: type[Any]) -> Table:
        """Return the copy of the table."""
        return _COPIES[model]

    async def load(
        self, session: AsyncSession, tenant_id: UUID, target: ImportTarget, rows: Sequence[dict[str, Any]]
    ) -> None:
        """Copy the stored rows with the keys of these rows; a row that an earlier batch has copied stays as it is."""
        model = target.resource.model
        names = [column.key for column in model.__table__.columns if column.computed is None]
        keys = [_one_of(getattr(model, column), (row[column] for row in rows)) for column in target.key]
        stored = select(*(getattr(model, name) for name in names)).where(model.tenant_id == tenant_id, *keys)
        await session.execute(insert(_COPIES[model]).from_select(names, stored).on_conflict_do_nothing())


def _copy_statements(target: ImportTarget) -> list[str]:
    model, unique = target.resource.model, ", ".join(("tenant_id", *target.key))
    copy = _COPIES[model].name
    like = f"LIKE {model.__tablename__} INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS"
    statements = [
        f"CREATE TEMPORARY TABLE {copy} ({like}) ON COMMIT DROP",
        f"CREATE UNIQUE INDEX ON {copy} ({unique})",
        f"CREATE UNIQUE INDEX ON {copy} (id)",
    ]
    if "domain_id" in target.key:
        without_domain = unique.replace("domain_id, ", "")
        statements.append(f"CREATE UNIQUE INDEX ON {copy} ({without_domain}) WHERE domain_id IS NULL")
    if target.resource is PAGES:  # a page whose URL names an erased person is left out
        trigger = "FOR EACH ROW EXECUTE FUNCTION skip_erased_page()"
        statements.append(f"CREATE TRIGGER skip_erased_page BEFORE INSERT ON {copy} {trigger}")
    return statements


def _one_of(column: Any, values: Iterable[Any]) -> ColumnElement[bool]:
    given = set(values)
    return or_(column.in_(given - {None}), column.is_(None)) if None in given else column.in_(given)


LIVE_TABLES = Tables()
_COPIES: dict[type[Any], Table] = {
    target.resource.model: target.resource.model.__table__.to_metadata(
        MetaData(), name=f"dry_run_{target.resource.model.__tablename__}"
    )
    for target in TARGETS.values()
}
