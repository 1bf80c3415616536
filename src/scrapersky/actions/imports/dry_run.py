"""The tables an import writes into: those of the house, or for a dry run copies that only its transaction sees."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import ColumnElement, MetaData, Table, or_, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.imports.row_parsers import DOMAIN_KIND, KINDS, Kind
from scrapersky.store.listing.resources import PAGES


class Tables(Protocol):
    """Where rows are written."""

    is_real: bool

    def of(self, model: type[Any]) -> Table: ...
    async def know(
        self, session: AsyncSession, tenant_id: UUID, kind: Kind, rows: Sequence[dict[str, Any]]
    ) -> None: ...


class LiveTables:
    """The tables themselves."""

    is_real = True

    def of(self, model: type[Any]) -> Table:
        """The table of a model."""
        table: Table = model.__table__
        return table

    async def know(self, session: AsyncSession, tenant_id: UUID, kind: Kind, rows: Sequence[dict[str, Any]]) -> None:
        """Everything is there."""


class DryRunTables:
    """Copies to which the rows that a batch names come as they are: nobody's row is locked, however long the file is.

    They are tables of their own, and not the house's rolled back in the end: that would keep every row that the file
    names from workers and people for as long as the file is read. The server keeps them on its disk, and drops them.
    """

    is_real = False

    @classmethod
    async def open(cls, session: AsyncSession, kind: Kind) -> "DryRunTables":
        """Empty copies of the tables that the rows of a kind touch."""
        for each in (DOMAIN_KIND, kind) if kind.has_site else (kind,):
            for statement in _copying(each):
                await session.execute(text(statement))
        return cls()

    def of(self, model: type[Any]) -> Table:
        """The copy."""
        return _COPIES[model]

    async def know(self, session: AsyncSession, tenant_id: UUID, kind: Kind, rows: Sequence[dict[str, Any]]) -> None:
        """Bring along what the house knows of these rows; what an earlier batch made of it stays."""
        model = kind.noun.model
        names = [column.key for column in model.__table__.columns if column.computed is None]
        keys = [_one_of(getattr(model, column), (row[column] for row in rows)) for column in kind.key]
        known = select(*(getattr(model, name) for name in names)).where(model.tenant_id == tenant_id, *keys)
        await session.execute(insert(_COPIES[model]).from_select(names, known).on_conflict_do_nothing())


def _copying(kind: Kind) -> list[str]:
    copy, unique = _COPIES[kind.noun.model].name, ", ".join(("tenant_id", *kind.key))
    like = f"LIKE {kind.noun.model.__tablename__} INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS"
    statements = [
        f"CREATE TEMPORARY TABLE {copy} ({like}) ON COMMIT DROP",
        f"CREATE UNIQUE INDEX ON {copy} ({unique})",
        f"CREATE UNIQUE INDEX ON {copy} (id)",
    ]
    if "domain_id" in kind.key:
        alone = unique.replace("domain_id, ", "")
        statements.append(f"CREATE UNIQUE INDEX ON {copy} ({alone}) WHERE domain_id IS NULL")
    if kind.noun is PAGES:  # an address with somebody in it who was erased is left out
        guard = "FOR EACH ROW EXECUTE FUNCTION erased_page_left_out()"
        statements.append(f"CREATE TRIGGER page_erased BEFORE INSERT ON {copy} {guard}")
    return statements


def _one_of(column: Any, values: Iterable[Any]) -> ColumnElement[bool]:
    given = set(values)
    return or_(column.in_(given - {None}), column.is_(None)) if None in given else column.in_(given)


HOUSE = LiveTables()
_COPIES: dict[type[Any], Table] = {
    kind.noun.model: kind.noun.model.__table__.to_metadata(
        MetaData(), name=f"rehearsed_{kind.noun.model.__tablename__}"
    )
    for kind in KINDS.values()
}
