"""The table, queue and workflows that the engine is measured with."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from os import getpid
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, Identity, SmallInteger, Text, Uuid, func, insert
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.pool import NullPool

from benchmarks.engine_meter import CREATE_RECEIPT
from scrapersky.core.database import Database
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import Status
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.models import queue

# Ids as the house makes them (time first, then chance), from a row number: rows made together lie together.
ID_OF_N = """(lpad(to_hex(1700000000000 + n), 12, '0') || '7' || substr(md5(n::text), 1, 3)
    || '8' || substr(md5(n::text), 4, 15))::uuid"""


class ChoreBase(DeclarativeBase):
    """A registry of its own: these tables are no part of the line."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        UUID: Uuid(),
        str: Text(),
        Status: Text(),
    }


class Chore(ChoreBase):
    """Something to do."""

    __tablename__ = "chore"
    __table_args__ = queue.items("chore", "doing")

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id, server_default=func.gen_random_uuid())
    tenant_id: Mapped[UUID]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    priority: Mapped[int] = mapped_column(SmallInteger(), default=0, server_default="0")
    number: Mapped[int] = mapped_column(BigInteger())

    doing_status: Mapped[Status] = queue.status()
    doing_error: Mapped[str | None] = queue.error()
    doing_attempts: Mapped[int] = queue.attempts()
    doing_allowance: Mapped[int] = queue.allowance()
    doing_due_at: Mapped[datetime | None] = queue.due_at()
    doing_order: Mapped[int] = queue.order()
    doing_flow: Mapped[UUID] = queue.flow()
    doing_waits_for: Mapped[str | None] = queue.waits_for()
    doing_revert_to: Mapped[Status | None] = queue.revert_to()


class Receipt(ChoreBase):
    """What a chore that writes leaves behind. Nothing but the engine keeps it from being left twice."""

    __tablename__ = "receipt"

    id: Mapped[int] = mapped_column(BigInteger(), Identity(always=True), primary_key=True)
    tenant_id: Mapped[UUID]
    number: Mapped[int] = mapped_column(BigInteger())
    pid: Mapped[int]


class Doing(Workflow[Chore, int, int]):
    """A chore is done, without leaving anything."""

    number = 99
    name = "doing"
    model = Chore
    reads = ("number",)

    def read(self, row: Claimed) -> int:
        """Read the number of the row."""
        number: int = row.number
        return number

    async def work(self, number: int) -> int:
        """Do nothing."""
        return number


class DoingInBatches(Doing):
    """A chore leaves a receipt, written with those of its batch."""

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Chore, int]]) -> Iterable[UUID]:
        """Insert all receipts at once."""
        pid = getpid()
        await session.execute(
            insert(Receipt),
            [{"tenant_id": chore.tenant_id, "number": number, "pid": pid} for chore, number in found],
        )
        return ()


class DoingOneByOne(Doing):
    """A chore leaves a receipt, in the plainest words a workflow can say it."""

    async def write(self, session: AsyncSession, row: Chore, found: int) -> Iterable[UUID]:
        """Insert one receipt."""
        session.add(Receipt(tenant_id=row.tenant_id, number=found, pid=getpid()))
        return ()


async def create_chore_tables(database: Database) -> None:
    """Make the tables and the queue, as the owner of the database."""
    engine = create_async_engine(database.url, poolclass=NullPool)
    async with engine.begin() as connection:
        await connection.exec_driver_sql(CREATE_RECEIPT)
        await connection.run_sync(Chore.__table__.create)
        await connection.exec_driver_sql("SELECT protect_tenant('chore'), protect_tenant('receipt')")
        await connection.exec_driver_sql("SELECT add_queue_triggers('chore', 'doing')")
    await engine.dispose()
